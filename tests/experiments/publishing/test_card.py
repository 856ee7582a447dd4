"""A card tells what a run's records hold, and which of the trials is published."""

from pathlib import Path

import pytest

from experiments.publishing.card import TERMS, Trial, best_of, command_of, describe_run
from experiments.publishing.everyday_scores import EverydayScore
from transformer_edu.runs.options import build_parser, read_settings
from transformer_edu.runs.run_folder import RunFolder
from transformer_edu.runs.settings import TINY, RunSettings
from transformer_edu.training.bleu import Bleu


def made_run(path: Path, settings: RunSettings) -> RunFolder:
    """A run that was never run: every number that its card tells is another."""
    run = RunFolder(path)
    run.make()
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
    trials = [
        Trial(weights, alpha, {"cased": Bleu(score, "a|b"), "lower-cased": Bleu(1.0, "a|lc")})
        for weights, alpha, score in [
            ("the mean", 0.6, 30.04),
            ("the mean", 1.0, 31.96),
            ("the best", 0.6, 29.0),
            ("the best", 1.0, 31.94),
        ]
    ]
    card = describe_run(run, settings, trials, scores)
    for fact in (
        "# A Transformer for multi30k\n\n3 + 3 layers, d_model 36, 6 heads, d_ff 70;",
        f"\n```\n{command_of(settings)}\n```\n",
        "\n- seed 8, 4,321 steps, 76,543 target tokens; the mean, stored in float16\n",
        "\n- 17 CPU-minutes, 11 minutes on the clock, evaluations included, on a loom\n",
        "\n- made with torch 2.0, python 3.0\n",
        "\n- the mean: α 0.6 30.0, α 1 32.0\n- the best: α 0.6 29.0, α 1 31.9\n",
        "\nThe best BLEU of the 4 is published, with α 1. ",
        "\n- validation, beam 1, cased: **21.0** BLEU (`a|b`)\n",
        "\n- validation, beam 1, lower-cased: **22.0** BLEU (`a|lc`)\n",
        "\n- test, beam 5, cased: **24.0** BLEU (`c|d`)\n",
        f"\n## Data\n\n{TERMS['multi30k']}\n",
    ):
        assert fact in card
    named = describe_run(run, settings, trials, scores, machine="an abacus")
    assert named == card.replace("on a loom", "on an abacus")


def test_the_best_trial_is_the_first_of_the_best_cased():
    scores = [(30.0, 50.0), (31.0, 40.0), (31.0, 60.0)]
    trials = [
        Trial(f"the {place}th", place, {"cased": Bleu(one, ""), "lower-cased": Bleu(other, "")})
        for place, (one, other) in enumerate(scores)
    ]
    assert best_of(trials) is trials[1]


def test_everyday_sentences_bound_the_choice_by_bleu():
    """The best BLEU costs four sentences in a hundred, the next one at most."""
    trials = [
        Trial("one", alpha, {"cased": Bleu(score, "")}, exact)
        for alpha, score, exact in [(0.6, 42.0, 0.90), (1.0, 41.5, 0.935), (1.4, 40.0, 0.94)]
    ]
    assert best_of(trials) is trials[1]


def test_a_run_without_a_history_has_no_card(tmp_path):
    run = made_run(tmp_path / "run", TINY)
    run.history_file.unlink()
    with pytest.raises(ValueError, match="run must have a history, got none in .*evaluations"):
        describe_run(run, TINY, [], {})


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


def test_the_command_always_names_steps_and_seed():
    assert " --steps 8000 --seed 0 " in command_of(TINY)


def test_a_card_tells_how_many_everyday_sentences_are_right(tmp_path):
    run = made_run(tmp_path / "run", TINY)
    bleu = {"cased": Bleu(30.0, "a|b")}
    trials = [Trial("the mean", 0.6, bleu, 0.25), Trial("the best", 1.0, bleu, 0.5)]
    everyday = {("written by hand", 5): EverydayScore(count=155, exact=0.5, unbroken=0.975)}
    card = describe_run(run, TINY, trials, {}, everyday=everyday)
    assert "- the best: α 1 30.0 and 50.0%" in card
    assert "Of these 2, 1 are at most 1 percentage point below" in card
    assert "The best BLEU of them is published, with α 1." in card
    assert (
        "- written by hand, beam 5: **50.0%** of 155 exactly right, 97.5% without an unknown word"
        in card
    )


def test_a_card_names_the_terms_of_every_corpus(tmp_path):
    settings = TINY.changed(task="multi30k+everyday")
    run = made_run(tmp_path / "run", settings)
    card = describe_run(run, settings, [Trial("the mean", 0.6, {"cased": Bleu(1.0, "a")})], {})
    assert all(TERMS[corpus] in card for corpus in ("multi30k", "everyday"))


def test_a_card_tells_every_run_of_a_chain(tmp_path):
    letters = TINY.changed(steps=7)
    captions = TINY.changed(begin_with="runs/letters", steps=8)
    settings = TINY.changed(begin_with="runs/captions", steps=9)
    run = made_run(tmp_path / "run", settings)
    trials = [Trial("the mean", 0.6, {"cased": Bleu(1.0, "a")})]
    card = describe_run(run, settings, trials, {}, before=[letters, captions])
    first, second, third = (line for line in card.split("\n") if line.startswith("python -m"))
    assert "--steps 7" in first and first.endswith("--out runs/letters")
    assert "--steps 8" in second and "--begin-with runs/letters" in second
    assert second.endswith("--out runs/captions")
    assert "--steps 9" in third and "--begin-with runs/captions" in third
