"""Lesson 02: right answers pass, and each usual wrong answer is named."""

import math
from functools import partial

import torch
from torch import nn

from tests.exercise_answers import checks_of, right_answers, wrong_answers
from transformer_course.attention import checks as lesson_02
from transformer_course.attention.checks import (
    check_attention,
    check_repaired_weights,
    check_unnoticed_order,
)
from transformer_course.our_transformer import Attention

QUERY, KEY, VALUE = torch.randn(3, 4), torch.randn(5, 4), torch.randn(5, 2)
SCORES = QUERY @ KEY.T
TURNED = (SCORES.T / 2).softmax(dim=-1).T
ORDER, ALMOST = [4, 0, 1, 2, 3], [1, 0, 3, 2, 4]
CHECKS = checks_of(lesson_02) | {
    "2.2": partial(check_unnoticed_order, query=QUERY, key=KEY, value=VALUE),
    "2.3": partial(check_repaired_weights, query=QUERY, key=KEY),
}


def attention(attend, *, width=4, bias=False):
    """A class like the reader's, with this method attend."""

    class Answer(nn.Module):
        def __init__(self, d_model, d_head):
            super().__init__()
            for name in ("query_projection", "key_projection", "value_projection"):
                setattr(self, name, nn.Linear(d_model, width, bias=bias))

        def forward(self, query, key, value):
            return self.attend(
                self.query_projection(query), self.key_projection(key), self.value_projection(value)
            )

    Answer.attend = staticmethod(attend)
    return Answer


def with_weights(weights):
    """A class that averages the values with these weights of query and key."""
    return attention(lambda q, k, v: weights(q, k.transpose(-2, -1)) @ v)


class NoProjection(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()

    def forward(self, query, key, value):
        return query


class InOne(attention(lambda q, k, v: q)):
    attend = None

    def forward(self, query, key, value):
        query, key = self.query_projection(query), self.key_projection(key)
        return (query @ key.mT / 2).softmax(-1) @ self.value_projection(value)


test_a_right_answer_is_correct = right_answers(
    CHECKS,
    [
        ("2.1", Attention),
        ("2.2", (KEY[ORDER], VALUE[ORDER])),
        ("2.2", [KEY.roll(2, dims=0), VALUE.roll(2, dims=0)]),
        ("2.3", (SCORES / 2).softmax(dim=-1)),
    ],
)

test_a_wrong_answer_gets_its_own_hint = wrong_answers(
    CHECKS,
    [
        ("2.1", Attention(12, 4), "class Attention itself"),
        ("2.1", NoProjection, "set self.query_projection to an nn.Linear"),
        ("2.1", attention(lambda q, k, v: q, bias=True), "needs bias=False"),
        ("2.1", attention(lambda q, k, v: q, width=12), "from d_model to d_head"),
        ("2.1", attention(lambda q, k, v: q @ k.T), "reverses all three axes"),
        ("2.1", attention(lambda q, k, v: v), "shape must be"),
        ("2.1", with_weights(lambda q, k: (q @ k / 2).softmax(-2)), "over the queries"),
        ("2.1", with_weights(lambda q, k: (q @ k / 2).softmax(0)), "over the batch"),
        ("2.1", with_weights(lambda q, k: (q @ k).softmax(-1)), "not scaled"),
        ("2.1", with_weights(lambda q, k: (q @ k / 4).softmax(-1)), "divides by its root"),
        ("2.1", with_weights(lambda q, k: (q @ k / math.sqrt(12)).softmax(-1)), "√d_model"),
        ("2.1", with_weights(lambda q, k: (q @ k / math.sqrt(5)).softmax(-1)), "number of keys"),
        ("2.1", with_weights(lambda q, k: q @ k / 2), "softmax is missing"),
        ("2.1", with_weights(lambda q, k: (q @ k).softmax(-1) / 2), "before it"),
        ("2.1", attention(lambda q, k, v: (q @ k.mT / 2).softmax(-1) @ k), "averaged the keys"),
        ("2.1", attention(lambda q, k, v: q), "numbers are not"),
        ("2.1", attention(lambda q, k, v: q * math.nan), "NaN"),
        ("2.1", attention(lambda q, k, v: None), "returns nothing"),
        ("2.1", InOne, "in a method attend"),
        (
            "2.1",
            attention(lambda q, k, v: (q @ k.transpose(1, -1) / 2).softmax(-1) @ v),
            "could not be used|last two axes",
        ),
        ("2.2", KEY, "is a pair"),
        ("2.2", (KEY, VALUE), "Nothing has moved"),
        ("2.2", (KEY[ORDER], VALUE), "only one of the two"),
        ("2.2", (KEY, VALUE[ORDER]), "only one of the two"),
        ("2.2", (KEY[ALMOST], VALUE[ALMOST]), "where they were"),
        ("2.2", (KEY.roll(1, dims=1), VALUE.roll(1, dims=1)), "inside each vector"),
        ("2.2", (KEY[ORDER], VALUE.flip(0)), "one order for both"),
        ("2.2", (KEY[:3], VALUE[:3]), "shape must be"),
        ("2.3", (SCORES.T / 2).softmax(dim=-1), "queries come from the target"),
        ("2.3", TURNED, "runs over the targets"),
        ("2.3", TURNED / TURNED.sum(dim=-1, keepdim=True), "divided by their sums"),
        ("2.3", SCORES.softmax(dim=-1), "divide the scores"),
        ("2.3", SCORES / 2, "then softmax each row"),
        ("2.3", torch.full((3, 5), math.nan), "NaN"),
    ],
)


def test_a_scaffold_waits(capsys):
    check_attention(attention(lambda q, k, v: ...))
    assert capsys.readouterr().out.startswith("Exercise 2.1 is waiting for you")
