"""The score of a run is BLEU over one of its parts; an everyday sentence is right or wrong."""

import json
import shutil

import pytest
from torch import nn

from experiments.publishing.everyday_scores import (
    as_sentences,
    is_broken,
    is_right,
    keeps_word,
    known_words,
    score_everyday,
)
from transformer_edu.runs.run_folder import RunFolder
from transformer_edu.runs.run_task import load_texts
from transformer_edu.runs.scoring import main, score_translator, settings_of_texts
from transformer_edu.training.bleu import corpus_bleu
from transformer_edu.training.saved_translator import load_translator

PAIRS = [("I sleep.", "Ich schlafe."), ("Good night!", "Gute Nacht!")]


def test_both_scores_are_bleu_of_what_is_written(text_run):
    translator = load_translator(text_run)
    texts = load_texts(RunFolder(text_run).read_settings())
    pairs = [(source, source.title()) for source, _ in texts.test[:4]]
    scores = score_translator(translator, pairs, width=2, alpha=0.0)
    written = [translator.translate(source, width=2, alpha=0.0) for source, _ in pairs]
    references = [target for _, target in pairs]
    assert scores["cased"] == corpus_bleu(written, references)
    assert scores["lower-cased"] == corpus_bleu(written, references, lowercase=True)


def test_the_command_prints_part_scores_and_signatures(text_run, capsys):
    assert main([str(text_run), "--part", "test", "--beam", "1"]) == 0
    first, *lines = capsys.readouterr().out.splitlines()
    count = len(load_texts(RunFolder(text_run).read_settings()).test)
    assert first.startswith(f"files, test, {count} sentences, beam 1")
    for line, case in zip(lines, ("mixed", "lc"), strict=True):
        assert line.startswith("BLEU ")
        assert f"case:{case}" in line


def test_the_score_of_a_run_that_has_not_ended_is_said_to_be_one(tmp_path, text_run, capsys):
    folder = tmp_path / "unfinished"
    shutil.copytree(text_run, folder)
    (folder / "model.safetensors").unlink()
    assert main([str(folder), "--beam", "1"]) == 0
    said = "has no model.safetensors, so best.safetensors is read: its best weights so far"
    assert capsys.readouterr().err == f"{folder} {said}\n"


def test_exported_weights_mean_multi30k_unless_a_task_is_named(tmp_path, text_run, text_files):
    exported = RunFolder(tmp_path)
    assert settings_of_texts(exported, None, None, None).task == "multi30k"
    source, target = map(str, text_files)
    assert settings_of_texts(exported, "files", source, target).source == source
    run = RunFolder(text_run)
    assert settings_of_texts(run, None, None, None) == run.read_settings()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["nowhere"], "error: run must be a folder with model.safetensors, got nowhere"),
        (["RUN", "--beam", "0"], "error: beam must be at least 1, got 0"),
        (["RUN", "--task", "files"], "error: source must be given for the task files, got None"),
        (["RUN", "--source", "a"], "error: target must be given for the task files, got None"),
    ],
    ids=["no run", "no beam", "no files", "one file"],
)
def test_errors_are_told_in_one_line(text_run, capsys, options, message):
    assert main([str(text_run) if option == "RUN" else option for option in options]) == 1
    assert capsys.readouterr().err.splitlines() == [message]


def test_a_run_from_before_the_split_by_hash_is_not_scored_by_what_it_learned(
    tmp_path, text_run, capsys
):
    folder = tmp_path / "older"
    shutil.copytree(text_run, folder)
    content = json.loads((folder / "settings.json").read_text())
    del content["versions"]
    (folder / "settings.json").write_text(json.dumps(content))
    assert main([str(folder)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(
        "error: run must be one that has not learned from sentences of its parts"
    )
    assert line.endswith(f"got {folder}; name --source and --target")


class Echo:
    """A translator that says what it is told to."""

    def __init__(self, *answers: str) -> None:
        self.answers = answers
        self.model = nn.Linear(1, 1)

    def translate_all(self, texts, *, width, alpha):
        assert (len(texts), width, alpha) == (len(self.answers), 3, 0.5)
        return list(self.answers)


@pytest.mark.parametrize(
    ("answers", "exact", "unbroken"),
    [
        (("ich schlafe", "Gute Nacht."), 1.0, 1.0),  # case and final mark aside
        (("Gute Nacht!", "Ich schlafe."), 0.0, 1.0),
        (("Ich schlafe.", "Gutenacht!"), 0.5, 0.5),
    ],
)
def test_shares_of_right_and_of_unbroken_translations(answers, exact, unbroken):
    score = score_everyday(
        Echo(*answers),
        as_sentences(PAIRS),
        known_words(PAIRS),
        width=3,
        alpha=0.5,
        judge=is_right,
    )
    assert (score.count, score.exact, score.unbroken) == (2, exact, unbroken)


def test_one_of_several_accepted_translations_is_right():
    sentences = [("Good night!", ("Gute Nacht!", "Schlaf gut!"))]
    asked = {"width": 3, "alpha": 0.5, "judge": is_right}
    assert score_everyday(Echo("Schlaf gut."), sentences, set(), **asked).exact == 1.0


@pytest.mark.parametrize(
    ("text", "keeps"),
    [
        ("Ich kenne Saoirse.", True),
        ("Das ist Saoirses Auto.", True),
        ("Ich kenne Saoirsel.", False),
        ("Ich kenne saoirse.", False),
    ],
)
def test_a_word_is_kept_when_it_comes_out_whole(text, keeps):
    assert keeps_word(text, ("Saoirse",)) == keeps


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ("Ich sehe Anna.", False),  # the source's own word
        ("Ich sehe Otto.", True),
        ("Ich sehe, sehe Anna.", False),  # twice may be meant
        ("Ich sehe sehe sehe Anna.", True),
        ("Ich sehe Anna, sehe Anna, sehe Anna.", True),
        (" ".join(["Anna sehe ich I"] * 3), True),
        (" ".join(["Anna sehe ich I see"] * 3), False),  # a refrain of five words
        ("Ich", False),
    ],
)
def test_broken_is_an_unknown_word_or_a_threefold_repetition(text, broken):
    assert is_broken(text, "I see Anna.", {"ich", "sehe"}) == broken
