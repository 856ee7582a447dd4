"""A run's folder gives back what was put in, and refuses what is damaged."""

import json
from dataclasses import replace

import pytest
import torch

from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.training.checkpoint import load_model
from transformer_edu.training.presets import TINY
from transformer_edu.training.run_folder import RunFolder
from transformer_edu.training.vocabulary import Vocabulary


@pytest.fixture
def folder(tmp_path) -> RunFolder:
    folder = RunFolder(tmp_path / "deep" / "run")
    folder.make()
    return folder


def test_settings_come_back(folder):
    assert not folder.holds_a_run()
    settings = replace(TINY, seed=3, learning_rate=0.1 + 0.2, patience=4)
    folder.write_settings(settings, {"torch": "9.9"})
    assert folder.holds_a_run()
    assert folder.read_settings() == settings
    assert folder.read_versions() == {"torch": "9.9"}


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"settings": {"colour": 1}}', "\x00"])
def test_damaged_settings_are_refused(folder, content):
    folder.settings_file.write_text(content)
    with pytest.raises(ValueError, match=r"settings\.json must hold a run's settings, got someth"):
        folder.read_settings()


def test_a_folder_without_a_run_is_refused(folder):
    with pytest.raises(FileNotFoundError, match="run must be the folder of a run, got .*run"):
        folder.read_settings()


def test_history_grows_line_by_line_and_can_be_cut(folder):
    assert folder.read_history() == []
    records = [{"step": step, "loss": step / 3} for step in (1, 2, 3)]
    for record in records:
        folder.append_record(record)
    assert folder.read_history() == records
    assert [json.loads(line)["step"] for line in folder.history_file.open()] == [1, 2, 3]
    folder.write_history(records[:1])
    assert folder.read_history() == records[:1]


def test_a_line_cut_off_by_a_crash_does_not_count(folder):
    folder.append_record({"step": 1})
    with folder.history_file.open("a") as file:
        file.write('{"step": 2, "lo')
    assert folder.read_history() == [{"step": 1}]


def test_the_words_of_a_task_are_noted(folder):
    folder.write_words(Vocabulary(["zwölf", "two"]))
    words = json.loads(folder.words_file.read_text("utf-8"))
    assert words == ["<pad>", "<s>", "</s>", "<unk>", "zwölf", "two"]


def test_only_the_last_weights_are_kept(folder):
    torch.manual_seed(0)
    sizes = {"d_model": 8, "num_heads": 2, "num_layers": 1, "d_ff": 12}
    model = Transformer(TransformerConfig(vocabulary_size=9, **sizes))
    for step in (2, 4, 6, 8):
        with torch.no_grad():
            model.output_projection.bias.fill_(step)
        folder.keep_weights(model, step, count=3)
    kept = folder.kept_weights()
    assert list(kept) == [4, 6, 8]
    for step, path in kept.items():
        assert load_model(path).output_projection.bias[0] == step
    folder.keep_weights(model, 4, count=3)  # taken again after a crash: later ones stay
    assert list(folder.kept_weights()) == [4, 6, 8]


def test_what_is_no_path_is_refused():
    with pytest.raises(TypeError, match="path must be a path, got 7"):
        RunFolder(7)
