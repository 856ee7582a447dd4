"""A run's task comes by its name, with the scorer that fits it."""

from dataclasses import replace

import pytest

from transformer_edu.data.everyday import everyday_pairs
from transformer_edu.data.tokenizer import train_tokenizer
from transformer_edu.runs import run_task
from transformer_edu.runs.run_folder import RunFolder
from transformer_edu.runs.run_task import load_run_task, load_texts
from transformer_edu.runs.settings import TINY, TOY, RunSettings
from transformer_edu.runs.watching import BleuScorer, ExactMatchScorer
from transformer_edu.training.saved_translator import load_tokens


@pytest.fixture
def folder(tmp_path) -> RunFolder:
    folder = RunFolder(tmp_path / "run")
    folder.path.mkdir(parents=True)
    return folder


@pytest.fixture
def files(text_files):
    source, target = map(str, text_files)
    return TINY.changed(
        task="files", source=source, target=target, vocabulary_size=290, evaluate_on=4
    )


@pytest.mark.parametrize(("name", "full"), [("numbers", "number words"), ("copy", "copy")])
def test_a_toy_task_is_judged_by_exact_match_and_leaves_its_words(folder, name, full):
    task, scorer = load_run_task(TOY.changed(task=name), folder)
    assert task.name == full
    assert isinstance(scorer, ExactMatchScorer)
    assert load_tokens(folder.path).vocabulary.tokens == task.vocabulary.tokens


def test_texts_are_judged_by_bleu_with_a_tokenizer_of_what_is_learned_from(folder, files):
    task, scorer = load_run_task(files, folder)
    texts = load_texts(files)
    lines = [text for pair in texts.train for text in pair]
    expected = train_tokenizer(lines, vocabulary_size=290)
    assert load_tokens(folder.path).merges == expected.merges
    assert len(task.vocabulary) == len(expected) <= 290
    assert isinstance(scorer, BleuScorer)
    assert scorer.references == [target for _, target in texts.validation[:4]]


def test_a_resumed_run_finds_its_tokenizer(folder, files):
    before, _ = load_run_task(files, folder)
    folder.checkpoint.touch()
    written = folder.tokenizer_file.read_bytes()
    after, _ = load_run_task(files.changed(vocabulary_size=400), folder)
    assert folder.tokenizer_file.read_bytes() == written
    assert after.train == before.train


@pytest.mark.parametrize("content", ["{}", '["a", "b", "c", "d", "e"]', "mine"])
@pytest.mark.parametrize("name", ["words.json", "tokenizer.json"])
def test_what_holds_no_tokens_is_refused_and_left(folder, files, name, content):
    (folder.path / name).write_text(content, encoding="utf-8")
    refusal = f"{name} must (be a saved tokenizer|hold (this run's tokens|a run's words)), got "
    for settings in (files, TOY) if name == "words.json" else (files,):
        with pytest.raises(ValueError, match=refusal):
            load_run_task(settings, folder)
    assert [file.read_text("utf-8") for file in folder.path.iterdir()] == [content]


def test_a_run_that_never_began_begins_again_with_the_same_tokens(folder, files):
    for settings, name in ((files, "tokenizer.json"), (TOY, "words.json")):
        load_run_task(settings, folder)
        written = (folder.path / name).read_bytes()
        load_run_task(settings, folder)
        assert [file.read_bytes() for file in folder.path.iterdir()] == [written]
        (folder.path / name).unlink()


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize(
    ("own", "run", "name"),
    [
        (TINY.changed(vocabulary_size=270), TINY, "tokenizer.json"),
        (TOY.changed(task="copy"), TINY, "words.json"),
        (TOY.changed(task="copy"), TOY, "words.json"),
    ],
    ids=["a tokenizer", "words for texts", "words"],
)
def test_tokens_that_are_not_the_runs_are_neither_replaced_nor_passed_over(
    folder, files, own, run, name, begun
):
    texts = {"task": "files", "source": files.source, "target": files.target}
    own, run = (each.changed(**texts) if each.is_text else each for each in (own, run))
    load_run_task(own, folder)
    before = (folder.path / name).read_bytes()
    if begun:
        folder.checkpoint.touch()
    if begun and own.is_text:  # the checkpoint knows it by the texts in its tokens
        load_run_task(run, folder)
    else:
        with pytest.raises(ValueError, match=f"{name} must hold this run's tokens, got others: m"):
            load_run_task(run, folder)
    assert (folder.path / name).read_bytes() == before
    assert begun or len([*folder.path.iterdir()]) == 1


def test_multi30k_is_read_from_the_folder_that_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("TRANSFORMER_EDU_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="must be a folder with train.en.gz"):
        load_texts(TINY)


def test_captions_come_before_everyday_english_and_are_copied(monkeypatch, folder, files):
    captions = load_texts(files)
    whole = everyday_pairs()
    everyday = replace(whole, train=whole.train[:300], validation=whole.validation[:9])
    monkeypatch.setattr(run_task, "load_multi30k", lambda: captions)
    monkeypatch.setattr(run_task, "everyday_pairs", lambda: everyday)
    monkeypatch.setattr(run_task, "phrases", lambda: {"Hello!": "Hallo!"})
    monkeypatch.setattr(run_task, "words", lambda: {"to glitter": "glitzern"})
    settings = TINY.changed(
        task="multi30k+everyday", vocabulary_size=300, copies=3, bpe_dropout=0.1, evaluate_on=4
    )
    task, scorer = load_run_task(settings, folder)
    assert scorer.references == [target for _, target in captions.validation[:4]]
    assert task.texts.validation == captions.validation + everyday.validation
    assert task.texts.test == captions.test + everyday.test
    targets = [target for _, target in task.texts.train]
    assert all(targets.count(german) >= 3 for _, german in captions.train[:20])
    assert targets.count("Hallo!") > 3  # what everybody says is read more often
    sources = [source for source, target in task.texts.train if target == "glitzern"]
    assert set(sources) == {"to glitter", "To glitter"}  # as people type a word alone
    assert len(sources) == 2 * run_task.EXTRA_READINGS
    assert set(targets) > {german for _, german in captions.train}


def test_everyday_english_is_a_task_of_its_own():
    assert load_texts(RunSettings(task="everyday")) == everyday_pairs()
