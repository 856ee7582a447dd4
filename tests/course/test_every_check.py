"""Whatever an exercise asks for, its check waits for an answer and takes nothing else for one."""

import importlib
import inspect
import math
import re
from functools import partial
from pathlib import Path

import pytest
import torch

import transformer_course
from tests.exercise_answers import calls_its_answer, checks_of
from transformer_course import our_transformer
from transformer_course.a_published_model.small_marian import untrained_marian
from transformer_course.asking.answer import AnswerError
from transformer_course.circuits.repeats import copying_model
from transformer_course.my_transformer import FILE, OURS, SWITCH
from transformer_edu.data.tokenizer import Tokenizer

FOLDER = Path(transformer_course.__file__).parent
CHECKED = sorted(FOLDER.glob("*/*checks.py"))
LESSONS = [
    importlib.import_module(f"transformer_course.{path.parent.name}.{path.stem}")
    for path in CHECKED
]
# What a lesson hands to a check beside the answer.
GIVEN = {
    "1.3": {"table": torch.randn(5, 4)},
    "2.2": {name: torch.randn(5, 4) for name in ("query", "key", "value")},
    "4.3": {"w_o": torch.randn(48, 48)},
    "14.3": {"tokenizer": Tokenizer([])},
    "20.4": {"translator": untrained_marian(seed=0)},
    "21.3": {"behavior": lambda: 1.0, "model": copying_model()},
    "22.3": {"activity": torch.rand(6), "tokens": ["a", "b", "c", "d", "e", "f"]},
}
FOUND = {number: check for lesson in LESSONS for number, check in checks_of(lesson).items()}
CHECKS = {number: partial(check, **GIVEN.get(number, {})) for number, check in FOUND.items()}
# The classes that a reader keeps, by the exercise that asks for one.
KEPT = {
    "1.1": "TokenEmbedding",
    "2.1": "Attention",
    "3.2": "Attention",
    "4.2": "MultiHeadAttention",
    "5.1": "PositionalEncoding",
    "6.1": "FeedForward",
    "6.2": "AddAndNorm",
    "7.1": "EncoderLayer",
    "7.2": "Encoder",
    "8.2": "DecoderLayer",
    "8.3": "Decoder",
    "9.1": "Transformer",
}
WAITING = "Exercise {} is waiting for you: replace the three dots.\n"


def returning(value):
    return lambda *given, **named: value


def raising(error):
    def by_hand(*given, **named):
        raise error("by hand")

    return by_hand


# No check is excused from any of these.
NO_ANSWERS = {
    "None": None,
    "NaN": math.nan,
    "a tensor of NaN": torch.tensor([math.nan]),
    "True": True,
    "no text": "",
    "a question mark": "?",
    "no list": [],
    "any object": object(),
    "a function without return": returning(None),
    "a function that gives NaN": returning(math.nan),
    "a function that gives a tensor of NaN": returning(torch.tensor(math.nan)),
    "a function that gives a text": returning("0.5"),
    "a function that looks too far": raising(IndexError),
    "a function that divides by zero": raising(ZeroDivisionError),
}
every_exercise = pytest.mark.parametrize("number", CHECKS)


def test_every_exercise_of_every_lesson_is_here():
    written = {
        path: re.findall(r'^@exercise\("([^"]+)"', path.read_text(encoding="utf-8"), re.M)
        for path in CHECKED
    }
    assert len(written) > 15
    assert all(written.values()), "a lesson without exercises"
    assert sorted(CHECKS) == sorted(number for numbers in written.values() for number in numbers)


def test_every_check_is_given_what_it_needs_beside_the_answer():
    asked = {number: [*inspect.signature(check).parameters] for number, check in FOUND.items()}
    needed = {number: names[1:] for number, names in asked.items() if len(names) > 1}
    assert needed == {number: list(given) for number, given in GIVEN.items()}


@every_exercise
def test_three_dots_wait(number, capsys):
    CHECKS[number](...)
    assert capsys.readouterr().out == WAITING.format(number)


@every_exercise
def test_a_function_of_three_dots_waits_where_a_function_is_the_answer(number, capsys):
    if calls_its_answer(CHECKS[number]):
        capsys.readouterr()
        CHECKS[number](returning(...))
        assert capsys.readouterr().out == WAITING.format(number)
    else:
        with pytest.raises(AnswerError, match=r"\w"):
            CHECKS[number](returning(...))


@every_exercise
def test_what_is_no_answer_is_refused_with_a_hint(number):
    for name, answer in NO_ANSWERS.items():
        try:
            CHECKS[number](answer)
        except AnswerError as hint:
            assert re.search(r"\w", str(hint)), f"{name} gets an empty hint"
        else:
            pytest.fail(f"exercise {number} takes {name} for an answer")


@every_exercise
def test_an_exercise_that_wants_a_function_says_so_and_no_other_does(number):
    hints = {"The answer is a function": None, "Your function returns nothing": returning(None)}
    for hint, answer in hints.items():
        with pytest.raises(AnswerError) as refusal:
            CHECKS[number](answer)
        assert (hint in str(refusal.value)) == calls_its_answer(CHECKS[number])


@pytest.mark.parametrize(("number", "name"), KEPT.items())
def test_a_correct_class_is_kept(number, name, monkeypatch, tmp_path, capsys):
    monkeypatch.delenv(SWITCH)
    CHECKS[number](getattr(our_transformer, name))
    assert f"Your {name} is in {FILE}" in capsys.readouterr().out
    text = (tmp_path / FILE).read_text(encoding="utf-8")
    assert f"# ==== {name}: yours ====\n{OURS[name]}" in text


def test_every_class_of_the_course_is_asked_for():
    assert set(KEPT.values()) == set(OURS)
