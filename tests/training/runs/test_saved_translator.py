"""What a run has come to can be loaded and used."""

import shutil

import pytest

from tests.small_model import same, weights
from transformer_edu.generation.translator import write_all
from transformer_edu.training.checkpoint import load_model
from transformer_edu.training.data.tokenizer import load_tokenizer
from transformer_edu.training.data.vocabulary import Vocabulary
from transformer_edu.training.machine.whole_file import CheckpointError
from transformer_edu.training.runs.run_folder import RunFolder
from transformer_edu.training.runs.saved_translator import Words, load_translator


def test_the_average_of_a_run_translates_with_its_tokenizer(text_run):
    translator, folder = load_translator(text_run), RunFolder(text_run)
    tokenizer = load_tokenizer(folder.tokenizer_file)
    written = write_all(load_model(folder.model), [tokenizer.encode("seven hundred two")])
    assert translator.translate("seven hundred two") == tokenizer.decode(written[0])


def test_before_the_end_of_a_run_its_best_weights_are_used(text_run, tmp_path):
    folder = RunFolder(shutil.copytree(text_run, tmp_path / "run"))
    folder.model.unlink()
    used, best = load_translator(folder.path).model, load_model(folder.best)
    assert same(weights(used), weights(best))


def test_words_stand_between_spaces():
    words = Words(Vocabulary(["one", "two"]))
    assert words.encode("  two one zwei ") == [5, 4, 3]
    assert words.decode([5, 4]) == "two one"
    assert len(words) == 6


def test_what_is_no_run_or_damaged_is_refused(text_run, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"run must be a folder with model\.safetensors"):
        load_translator(tmp_path)
    folder = RunFolder(shutil.copytree(text_run, tmp_path / "run"))
    folder.write_words(Vocabulary(["one", "two"]))
    with pytest.raises(CheckpointError, match="must have as many tokens as .*, got 300 and 6"):
        load_translator(folder.path)
    for content in ("7", "[" * 200_000):
        folder.words_file.write_text(content)
        with pytest.raises(ValueError, match=r"words\.json must hold a list of words, got some"):
            load_translator(folder.path)
    folder.words_file.unlink()
    folder.tokenizer_file.unlink()
    with pytest.raises(FileNotFoundError):
        load_translator(folder.path)
