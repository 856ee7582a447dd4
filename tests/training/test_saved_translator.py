"""A folder with weights and tokens is a translator; one that lacks them is refused by name."""

import json
from pathlib import Path

import pytest

from tests.small_model import same, small_transformer, weights
from transformer_edu.data.tokenizer import train_tokenizer
from transformer_edu.data.vocabulary import Vocabulary
from transformer_edu.generation.translator import write_all
from transformer_edu.training.checkpoint import save_model
from transformer_edu.training.checkpoint_file import CheckpointError
from transformer_edu.training.saved_translator import load_translator

TOKENIZER = train_tokenizer(["a dog runs", "ein Hund rennt"] * 2, vocabulary_size=270)


@pytest.fixture
def folder(tmp_path) -> Path:
    """A finished run: its average, its best weights and its tokenizer."""
    for seed, name in enumerate(("model", "best")):
        save_model(tmp_path / f"{name}.safetensors", small_transformer(len(TOKENIZER), seed=seed))
    TOKENIZER.save(tmp_path / "tokenizer.json")
    return tmp_path


def test_the_average_of_a_run_translates_with_its_tokenizer(folder):
    translator = load_translator(folder)
    model = small_transformer(len(TOKENIZER), seed=0).eval()
    assert same(weights(translator.model), weights(model))
    written = write_all(model, [TOKENIZER.encode("a dog")])
    assert translator.translate("a dog", width=1) == TOKENIZER.decode(written[0])


def test_before_the_end_of_a_run_its_best_weights_are_used_and_that_is_said(folder, capsys):
    load_translator(folder)
    assert capsys.readouterr().err == ""
    (folder / "model.safetensors").unlink()
    best = small_transformer(len(TOKENIZER), seed=1)
    assert same(weights(load_translator(folder).model), weights(best))
    said = f"{folder} has no model.safetensors, so best.safetensors is read: its best weights so"
    assert capsys.readouterr().err.startswith(said)


def test_a_run_of_a_toy_task_has_its_words(folder):
    words = Vocabulary([f"w{number}" for number in range(len(TOKENIZER) - 4)])
    (folder / "words.json").write_text(json.dumps(words.tokens))
    tokens = load_translator(folder).tokenizer
    assert tokens.encode("w0 w2") == words.encode(["w0", "w2"])


def test_what_is_missing_damaged_or_of_another_model_is_refused(folder):
    with pytest.raises(FileNotFoundError, match=r"run must be a folder with model\.safetensors"):
        load_translator(folder / "nowhere")
    with pytest.raises(TypeError, match="path must be a path, got 7"):
        load_translator(7)
    words = folder / "words.json"
    words.write_text(json.dumps(Vocabulary(["one", "two"]).tokens))
    message = f"must have as many tokens as its tokenizer, got {len(TOKENIZER)} and 6"
    with pytest.raises(CheckpointError, match=message):
        load_translator(folder)
    for content in ("7", "[" * 200_000, '["a", "b", "c", "d", "e"]'):
        words.write_text(content)
        with pytest.raises(ValueError, match=r"words\.json must hold a run's words, got some"):
            load_translator(folder)
    words.unlink()
    (folder / "tokenizer.json").unlink()
    with pytest.raises(FileNotFoundError, match=r"must hold tokenizer\.json or words\.json, got "):
        load_translator(folder)
