"""Lesson 02: right answers pass, and each usual wrong answer is named."""

import math
from functools import partial

import torch

from tests.exercise_answers import checks_of, right_answers, wrong_answers
from transformer_edu.teaching.checks import attention as lesson_02
from transformer_edu.teaching.checks.attention import check_repaired_weights

QUERY, KEY = torch.randn(3, 4), torch.randn(5, 4)
SCORES = QUERY @ KEY.T
CHECKS = checks_of(lesson_02) | {"2.4": partial(check_repaired_weights, query=QUERY, key=KEY)}


def attend(query, key, value):
    return (query @ key.T / math.sqrt(query.size(-1))).softmax(dim=-1) @ value


test_a_right_answer_is_correct = right_answers(
    CHECKS,
    [
        ("2.1", [1.0, 2.0]),
        ("2.1", (1, 2)),
        ("2.1", torch.tensor([1.0, 2.0])),
        ("2.2", attend),
        ("2.2", torch.nn.functional.scaled_dot_product_attention),
        ("2.3", 12 * torch.eye(5).roll(1, dims=1)),
        ("2.3", 50 * torch.eye(5).roll(1, dims=1) + torch.randn(5, 5)),
        ("2.4", (SCORES / 2).softmax(dim=-1)),
    ],
)

test_a_wrong_answer_gets_its_own_hint = wrong_answers(
    CHECKS,
    [
        ("2.1", [0, 0], "the weights are not"),
        ("2.1", [3, 6], "sum of the values"),
        ("2.1", [1.5, 3.0], "three values to average"),
        ("2.1", [1, 3], "three weights are equal"),
        ("2.1", [1], "shape must be"),
        ("2.1", [math.nan, math.nan], "NaN"),
        ("2.2", lambda q, k, v: (q @ k.T / 2).softmax(0) @ v, "softmax over the queries"),
        ("2.2", lambda q, k, v: (q @ k.T).softmax(-1) @ v, "not scaled"),
        ("2.2", lambda q, k, v: (q @ k.T / 4).softmax(-1) @ v, "divides by its root"),
        ("2.2", lambda q, k, v: (q @ k.T / len(k) ** 0.5).softmax(-1) @ v, "number of keys"),
        ("2.2", lambda q, k, v: (q @ k.T / len(q) ** 0.5).softmax(-1) @ v, "number of queries"),
        ("2.2", lambda q, k, v: q @ k.T / 2 @ v, "softmax is missing"),
        ("2.2", lambda q, k, v: (q @ k.T).softmax(-1) / 2 @ v, "before it"),
        ("2.2", lambda q, k, v: (q @ k.T).argmax(-1), "shape must be"),
        ("2.2", lambda q, k, v: torch.zeros(3, 2), "numbers are not"),
        ("2.2", lambda q, k, v: q @ k, "could not be used"),
        ("2.2", lambda q, k, v: torch.full((3, 2), math.nan), "NaN"),
        ("2.3", 12 * torch.eye(5).roll(-1, dims=1), "the other way"),
        ("2.3", 12 * torch.eye(5), "attends to itself"),
        ("2.3", torch.eye(5).roll(1, dims=1), "larger numbers"),
        ("2.3", torch.ones(5, 5), "belongs at p . 1"),
        ("2.3", torch.eye(4), "shape must be"),
        ("2.3", torch.full((5, 5), math.nan), "NaN"),
        ("2.4", (SCORES.T / 2).softmax(dim=-1), "queries come from the target"),
        ("2.4", (SCORES.T / 2).softmax(dim=-1).T, "runs over the targets"),
        ("2.4", SCORES.softmax(dim=-1), "divide the scores"),
        ("2.4", SCORES / 2, "then softmax each row"),
        ("2.4", torch.full((3, 5), math.nan), "NaN"),
    ],
)
