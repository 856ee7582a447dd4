"""Lesson 05: right answers pass, and each usual wrong answer is named."""

import math

import torch

from tests.exercise_answers import checks_of, right_answers, wrong_answers
from transformer_edu.teaching.checks import positions as lesson_05

CHECKS = checks_of(lesson_05)


def turn(k, frequency):
    sine, cosine = math.sin(k * frequency), math.cos(k * frequency)
    return torch.tensor([[cosine, sine], [-sine, cosine]])


def add_places(x, table):
    return x + table[: x.size(1)]


test_a_right_answer_is_correct = right_answers(
    CHECKS,
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

test_a_wrong_answer_gets_its_own_hint = wrong_answers(
    CHECKS,
    [
        ("5.1", 22, "opposite side of the circle"),
        ("5.1", 6, "0.95 turns"),
        ("5.1", 0, "from 1 to 50"),
        ("5.1", 63, "from 1 to 50"),
        ("5.1", 43.98, "a whole number"),
        ("5.2", lambda k, frequency: turn(-k, frequency), "backwards"),
        ("5.2", lambda k, frequency: turn(1, frequency), "one position only"),
        ("5.2", lambda k, frequency: turn(k, 1), "k radians"),
        ("5.2", lambda k, frequency: turn(k, frequency).flip(0), "rows are swapped"),
        ("5.2", lambda k, frequency: torch.eye(2), "first row"),
        ("5.2", lambda k, frequency: torch.eye(3), "shape must be"),
        ("5.2", lambda k, frequency: torch.full((2, 2), math.nan), "NaN"),
        ("5.3", lambda x, table: x, "not added"),
        ("5.3", lambda x, table: x + table[: x.size(0)].unsqueeze(1), "added along the batch"),
        ("5.3", lambda x, table: x + table[1 : x.size(1) + 1], "count from 0"),
        ("5.3", lambda x, table: x + table[0], "which axis"),
        ("5.3", lambda x, table: x + table[5:8].unsqueeze(1), "not the number of a row"),
        ("5.3", lambda x, table: x + table[: x.size(1)].flip(0), "Row p"),
        ("5.3", lambda x, table: x[0] + table[: x.size(1)], "shape must be"),
        ("5.3", lambda x, table: torch.full((2, 2), math.nan), "shape must be"),
        ("5.3", lambda x, table: x * math.nan, "NaN"),
        ("5.4", 7, "count from 0"),
        ("5.4", 0, "the position of the first"),
        ("5.4", 1, "how many tokens come before"),
        ("5.4", 5, "number of tokens"),
    ],
)
