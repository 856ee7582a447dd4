"""Lesson 09 says whose classes a model has and which one differs, and loses no weights."""

import errno
import os
from pathlib import Path

import pytest
import torch
from torch import nn

from tests.exercise_answers import written
from transformer_course import our_transformer
from transformer_course.asking.answer import AnswerError
from transformer_course.my_transformer import OURS, SWITCH, keep, my_parts
from transformer_course.transformer.checks import check_transformer
from transformer_course.transformer.own_model import (
    EXERCISES,
    WEIGHTS,
    compare_classes,
    different_class,
    keep_weights,
    whose_classes,
)

SIZES = (23, 12, 3, 2, 20, 0.0)
EDITS = {  # by the class that somebody edits: a line, and what stands there afterwards
    "TokenEmbedding": ("return self.table(token_ids) * ", "return self.table(token_ids) + "),
    "MultiHeadAttention": ("scores.softmax(dim=-1)", "scores.softmax(dim=-2)"),
    "PositionalEncoding": ("10_000", "1_000"),
    "FeedForward": ("self.widen(x).relu()", "self.widen(x)"),
    "AddAndNorm": ("self.norm(x + self", "x + self.norm(self"),
    "EncoderLayer": ("(y, y, y, mask)", "(y, y, y)"),
    "Encoder": ("x = layer(x, mask)", "x = layer(x, mask) + x"),
    "DecoderLayer": ("memory, memory, source_mask", "memory, memory"),
    "Decoder": ("target_mask, source_mask)\n        return", "None, source_mask)\n        return"),
    "Transformer": ("(source_ids != 0)[", "(source_ids != 1)["),
}


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(SWITCH, raising=False)


def edited(name):
    """The parts of a reader whose file holds all classes, one of them edited by hand."""
    for each in OURS:
        keep(written(OURS[each]))
    old, new = EDITS[name]
    text = Path("my_transformer.py").read_text(encoding="utf-8")
    assert text.count(old) >= 1
    before, after = text.split(f"class {name}(")
    Path("my_transformer.py").write_text(f"{before}class {name}({after.replace(old, new, 1)}")
    return my_parts()


def test_the_numbers_are_those_of_the_exercises():
    assert EXERCISES["Attention"] == "3.2" and list(EXERCISES) == list(OURS)


def test_the_courses_classes_do_not_differ():
    assert different_class(our_transformer.Transformer) is None
    assert compare_classes(our_transformer.Transformer).startswith("Each class computes")


@pytest.mark.parametrize("name", EDITS)
def test_a_class_that_was_edited_is_told_by_its_name(name):
    parts = edited(name)
    assert different_class(parts.Transformer) == name
    assert f"exercise {EXERCISES[name]}." in compare_classes(parts.Transformer)
    if name != "Transformer":
        with pytest.raises(AnswerError, match=f"Your {name} computes something else"):
            check_transformer(parts.Transformer)


def test_a_class_that_no_longer_runs_is_told_by_its_name():
    EDITS["FeedForward"] = ("self.narrow(", "self.wide(")
    assert different_class(edited("FeedForward").Transformer) == "FeedForward"


def test_it_says_whose_the_classes_of_a_model_are():
    assert whose_classes(my_parts().Transformer(*SIZES)) == "All classes are the course's."
    keep(written(OURS["FeedForward"]))
    said = whose_classes(my_parts().Transformer(*SIZES))
    assert said.startswith("Yours: FeedForward. The course's: TokenEmbedding, MultiHead")
    for name in OURS:
        keep(written(OURS[name]))
    assert whose_classes(my_parts().Transformer(*SIZES)) == "All 10 classes that it uses are yours."


def test_weights_are_kept_and_can_be_loaded(capsys):
    model, other = our_transformer.Transformer(*SIZES), our_transformer.Transformer(*SIZES)
    keep_weights(model)
    assert capsys.readouterr().out.endswith(f"are in {WEIGHTS}, next to this lesson.\n")
    other.load_state_dict(torch.load(WEIGHTS, weights_only=True))  # noqa: TID251
    for one, same in zip(model.parameters(), other.parameters(), strict=True):
        assert one.equal(same)


def test_other_weights_that_were_there_are_kept_too(capsys):
    model = our_transformer.Transformer(*SIZES)
    keep_weights(model)
    before = Path(WEIGHTS).read_bytes()
    keep_weights(model)
    assert [path.name for path in Path().iterdir()] == [WEIGHTS]
    nn.init.ones_(model.output_projection.bias)
    keep_weights(model)
    assert Path("my_number_translator.bak").read_bytes() == before
    assert "kept as my_number_translator.bak" in capsys.readouterr().out


def test_weights_that_cannot_be_written_leave_a_sentence(capsys):
    Path(WEIGHTS).mkdir()
    keep_weights(our_transformer.Transformer(*SIZES))
    assert capsys.readouterr().out.startswith(f"The weights could not be written to {WEIGHTS}: ")


@pytest.mark.skipif(os.name != "posix", reason="Windows removes no folder that is in use")
def test_weights_in_a_folder_that_is_gone_leave_a_sentence(capsys, tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    keep_weights(our_transformer.Transformer(*SIZES))
    reason = os.strerror(errno.ENOENT)
    assert capsys.readouterr().out == f"The weights could not be written to {WEIGHTS}: {reason}.\n"


def test_weights_that_have_no_numbers_leave_a_sentence(capsys):
    keep_weights(our_transformer.Transformer(*SIZES).to("meta"))
    said = capsys.readouterr().out
    assert said.startswith(
        f"The weights could not be written to {WEIGHTS}: Cannot copy out of meta"
    )
    assert said.count("\n") == 1 and list(Path().iterdir()) == []
    model = our_transformer.Transformer(*SIZES)
    nn.init.constant_(model.output_projection.bias, float("nan"))
    keep_weights(model)
    kept, warning = capsys.readouterr().out.splitlines()
    assert kept.startswith("The weights of your model are in")
    assert warning == "Some of them are not numbers (NaN), so this model translates nothing."


def test_nothing_is_written_where_classes_are_not_kept(monkeypatch):
    monkeypatch.setenv(SWITCH, "0")
    keep_weights(our_transformer.Transformer(*SIZES))
    assert not Path(WEIGHTS).exists()
