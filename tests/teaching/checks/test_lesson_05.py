"""Lesson 05: right answers pass, and each usual wrong answer is named."""

import math

import pytest
import torch

from transformer_edu.teaching.checks.answer import AnswerError
from transformer_edu.teaching.checks.lesson_05 import (
    check_add_places,
    check_nearest_place,
    check_offset,
    check_turn,
)

CHECKS = {
    "5.1": check_nearest_place,
    "5.2": check_turn,
    "5.3": check_add_places,
    "5.4": check_offset,
}
FUNCTIONS = ("5.2", "5.3")


def turn(k, frequency):
    sine, cosine = math.sin(k * frequency), math.cos(k * frequency)
    return torch.tensor([[cosine, sine], [-sine, cosine]])


def add_places(x, table):
    return x + table[: x.size(1)]


def raise_an_error(*_):
    raise IndexError("too far")


@pytest.mark.parametrize(
    ("number", "answer"),
    [
        ("5.1", 44),
        ("5.1", torch.tensor(44)),
        ("5.2", turn),
        ("5.2", lambda k, frequency: turn(k, frequency).double()),
        ("5.3", add_places),
        ("5.3", lambda x, table: x + table[: x.shape[1]].unsqueeze(0)),
        ("5.4", 6),
    ],
)
def test_a_right_answer_is_correct(number, answer, capsys):
    CHECKS[number](answer)
    assert capsys.readouterr().out == f"Exercise {number} is correct.\n"


@pytest.mark.parametrize("number", CHECKS)
def test_three_dots_wait(number, capsys):
    CHECKS[number](...)
    assert f"Exercise {number} is waiting" in capsys.readouterr().out


@pytest.mark.parametrize("number", FUNCTIONS)
def test_a_function_of_three_dots_waits(number, capsys):
    CHECKS[number](lambda first, second: ...)
    assert f"Exercise {number} is waiting" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("number", "answer", "hint"),
    [
        ("5.1", 22, "the opposite way"),
        ("5.1", 6, "0.95 rounds"),
        ("5.1", 0, "from 1 to 50"),
        ("5.1", 63, "from 1 to 50"),
        ("5.1", 43.98, "a whole number"),
        ("5.2", lambda k, frequency: turn(-k, frequency), "backwards"),
        ("5.2", lambda k, frequency: turn(1, frequency), "one place only"),
        ("5.2", lambda k, frequency: turn(k, 1), "k radians"),
        ("5.2", lambda k, frequency: turn(k, frequency).flip(0), "rows are swapped"),
        ("5.2", lambda k, frequency: torch.eye(2), "first row"),
        ("5.2", lambda k, frequency: torch.eye(3), "shape must be"),
        ("5.3", lambda x, table: x, "not added"),
        ("5.3", lambda x, table: x + table[: x.size(0)].unsqueeze(1), "Still along the batch"),
        ("5.3", lambda x, table: x + table[1 : x.size(1) + 1], "count from 0"),
        ("5.3", lambda x, table: x + table[0], "which axis"),
        ("5.3", lambda x, table: x + table[5:8].unsqueeze(1), "not a row's number"),
        ("5.3", lambda x, table: x + table[: x.size(1)].flip(0), "Row p"),
        ("5.3", lambda x, table: x[0] + table[: x.size(1)], "shape must be"),
        ("5.4", 7, "count from 0"),
        ("5.4", 0, "told that it is the first"),
        ("5.4", 1, "how many stand before"),
        ("5.4", 5, "number of tokens"),
    ],
)
def test_a_usual_wrong_answer_is_named(number, answer, hint):
    with pytest.raises(AnswerError, match=hint):
        CHECKS[number](answer)


@pytest.mark.parametrize("number", CHECKS)
def test_none_nan_and_errors_become_hints(number):
    wrong = [None, float("nan"), "", raise_an_error]
    if number in FUNCTIONS:
        wrong += [
            lambda *_: None,
            lambda *_: float("nan"),
            lambda x, _: torch.full((2, 2), torch.nan),
        ]
    for answer in wrong:
        with pytest.raises(AnswerError):
            CHECKS[number](answer)
