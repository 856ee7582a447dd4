"""A card tells what a run's records hold, and which of the trials is published."""

from pathlib import Path

import pytest

from experiments.publishing.card import TERMS, Findings, checksum_of, command_of, describe_run
from experiments.publishing.choosing import Trial, best_of
from experiments.publishing.everyday_scores import EverydayScore
from transformer_edu.data.parallel_text import ParallelText
from transformer_edu.runs.options import build_parser, read_settings
from transformer_edu.runs.run_folder import RunFolder
from transformer_edu.runs.settings import TINY, RunSettings
from transformer_edu.training.bleu import Bleu


def made_run(path: Path, settings: RunSettings) -> RunFolder:
    """A run that was never run: every number that its card tells is another."""
    run = RunFolder(path)
    run.path.mkdir(parents=True)
    run.write_settings(settings, {"torch": "2.0", "machine": "a loom", "python": "3.0"})
    run.write_history(
        [
            {"step": 1, "tokens": 2, "seconds": 3.0, "cpu_seconds": 4.0, "bleu": 5.0},
            {"step": 4321, "tokens": 76543, "seconds": 660.0, "cpu_seconds": 1020.0, "bleu": None},
        ]
    )
    return run


def test_a_card_tells_just_what_the_records_hold(tmp_path):
    settings = TINY.changed(num_layers=3, d_model=36, num_heads=6, d_ff=70, seed=8, keep=9)
    scores = {
        ("validation", 1): {"cased": Bleu(21.04, "a|b"), "lower-cased": Bleu(22.0, "a|lc")},
        ("test", 5): {"cased": Bleu(23.96, "c|d")},
    }
    run = made_run(tmp_path / "run", settings)
    chosen = Trial("the mean", 1.0, 5, scores={"one text": 31.96, "joined": 20.0})
    trials = [Trial("the best", 0.6, 8, False, scores={"one text": 1.0, "joined": 2.0}), chosen]
    everyday = {("by hand", 5): EverydayScore(count=155, exact=0.5, unbroken=0.975)}
    found = Findings(
        trials=trials,
        chosen=chosen,
        scores=scores,
        sureness=["- test, and how sure"],
        everyday=everyday,
        checksums={"multi30k": "0f0e"},
    )
    card = describe_run(run, settings, found)
    for fact in (
        "# A Transformer for multi30k\n\n3 + 3 layers, d_model 36, 6 heads, d_ff 70;",
        f"\n```\n{command_of(settings)}\n```\n",
        "\n- seed 8, 4,321 steps, 76,543 target tokens; the mean, stored in float16\n",
        "\n- 17 CPU-minutes, 11 minutes on the clock, evaluations included, on a loom\n",
        "\n- made with torch 2.0, python 3.0\n",
        "\n| weights | beam | α | loops | one text | joined | mean |\n",
        "\n| the best | 8 | 0.6 | left | 1.0 | 2.0 | 1.5 |\n| the mean | 5 | 1 | ended | 32.0 |",
        "\nPublished are the mean, searched with a beam of 5 and α 1: ",
        "\n- validation, beam 1, cased: **21.0** BLEU (`a|b`)\n",
        "\n- validation, beam 1, lower-cased: **22.0** BLEU (`a|lc`)\n",
        "\n- test, beam 5, cased: **24.0** BLEU (`c|d`)\n- test, and how sure\n",
        "\n- by hand (everyday life), beam 5: **50.0%** of 155 exactly right, 97.5% without an ",
        "\n- read multi30k, SHA-256 `0f0e`\n",
        f"\n## Data\n\n{TERMS['multi30k']}\n",
    ):
        assert fact in card
    named = describe_run(run, settings, found, machine="an abacus")
    assert named == card.replace("on a loom", "on an abacus")


def trial(mean: float, alpha: float, *, end_loops: bool = True) -> Trial:
    return Trial("one", alpha, end_loops=end_loops, scores={"a": mean - 1, "b": mean + 1})


@pytest.mark.parametrize(
    ("trials", "best"),
    [
        ([trial(30, 1.8), trial(32, 1.4), trial(31, 0.6)], 1),  # the highest mean
        ([trial(30, 1.8), trial(32, 1.4), trial(31.9, 0.6)], 2),  # of two close ones, the paper's
        ([trial(32, 0.6, end_loops=False), trial(31.9, 0.6)], 1),  # loops are ended as ever
        ([trial(31.9, 0.6), trial(32, 0.6)], 0),  # the first
    ],
)
def test_the_best_trial_has_the_highest_mean_or_is_close_to_it_and_to_the_paper(trials, best):
    assert best_of(trials) is trials[best]


def test_a_run_without_a_history_has_no_card(tmp_path):
    run = made_run(tmp_path / "run", TINY)
    run.history_file.unlink()
    with pytest.raises(ValueError, match="run must have a history, got none in .*evaluations"):
        describe_run(run, TINY, Findings(trials=[], chosen=Trial("the mean")))


@pytest.mark.parametrize(
    "changes",
    [
        {"dropout": 0.1, "norm_first": True, "patience": 5, "precision": "bfloat16"},
        {"batch_tokens": None, "batch_size": 32},
        {"batch_tokens": None},
        {},
    ],
    ids=["many", "pairs", "as many pairs as ever", "none"],
)
def test_the_command_in_the_card_repeats_the_run(tmp_path, changes):
    settings = TINY.changed(seed=3, **changes)
    words = command_of(settings).split()[3:]
    chosen = build_parser().parse_args(words)
    assert read_settings(chosen, RunFolder(tmp_path / "new")) == settings


def test_the_command_of_joined_processes_starts_as_many():
    begins = "torchrun --nproc-per-node 2 -m transformer_edu.training --task"
    assert command_of(TINY, 2).startswith(begins)


def test_a_card_of_joined_processes_says_how_they_are_started(tmp_path):
    run = made_run(tmp_path / "run", TINY)
    run.write_settings(TINY, {"machine": "3 × a loom"})
    chosen = Trial("the mean", scores={"one text": 1.0})
    assert "nproc-per-node 3 " in describe_run(run, TINY, Findings(trials=[chosen], chosen=chosen))


def test_a_checksum_differs_if_a_single_text_does():
    texts = ParallelText([("a", "b")], [("c", "d")], [("e", "f")])
    assert checksum_of(texts) == checksum_of(ParallelText([("a", "b")], [("c", "d")], [("e", "f")]))
    for other in (texts.train, texts.validation, texts.test):
        changed = {part: list(getattr(texts, part)) for part in ("train", "validation", "test")}
        changed |= {n: [("a", "x")] for n in changed if getattr(texts, n) is other}
        assert checksum_of(ParallelText(**changed)) != checksum_of(texts)


def test_the_command_always_names_steps_and_seed():
    assert " --steps 8000 --seed 0 " in command_of(TINY)


def test_a_card_names_the_terms_of_every_corpus(tmp_path):
    settings = TINY.changed(task="multi30k+everyday")
    run = made_run(tmp_path / "run", settings)
    chosen = Trial("the mean", scores={"one text": 1.0})
    card = describe_run(run, settings, Findings(trials=[chosen], chosen=chosen))
    assert all(TERMS[corpus] in card for corpus in ("multi30k", "everyday"))


@pytest.mark.parametrize(
    ("task", "read"),
    [
        ("files", "BLEU of texts, alone and two joined, of at most"),
        ("multi30k", "BLEU of captions, alone and two joined, of at most"),
        ("everyday", "BLEU of texts, alone and two joined, and the share of everyday sentences"),
        ("multi30k+everyday", "BLEU of captions, alone and two joined, and the share of everyday"),
    ],
)
def test_a_card_says_by_which_texts_it_was_chosen(tmp_path, task, read):
    own = {"source": "a.en", "target": "a.de"} if task == "files" else {}
    settings = TINY.changed(task=task, **own)
    run = made_run(tmp_path / "run", settings)
    chosen = Trial("the mean", scores={"one text": 1.0})
    card = describe_run(run, settings, Findings(trials=[chosen], chosen=chosen))
    assert f"\nTried by validation: {read}" in card
