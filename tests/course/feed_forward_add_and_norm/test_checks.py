"""Lesson 06: right answers pass, and each usual wrong answer is named."""

import math

import pytest
import torch
from torch import nn

from tests.exercise_answers import checks_of, right_answers, wrong_answers
from transformer_course.feed_forward_add_and_norm import checks as lesson_06
from transformer_course.feed_forward_add_and_norm.checks import (
    check_add_and_norm,
    check_feed_forward,
)
from transformer_course.our_transformer import AddAndNorm, FeedForward

CHECKS = checks_of(lesson_06)


def network(forward, *, bias=True, widths=lambda d_model, d_ff: (d_model, d_ff, d_ff, d_model)):
    """A class like the reader's FeedForward, with this forward."""

    class Answer(nn.Module):
        def __init__(self, d_model, d_ff):
            super().__init__()
            a, b, c, d = widths(d_model, d_ff)
            self.widen, self.narrow = nn.Linear(a, b, bias=bias), nn.Linear(c, d, bias=bias)

    Answer.forward = forward
    return Answer


def around(forward, *, p=None, norm=nn.LayerNorm, drop=nn.Dropout):
    """A class like the reader's AddAndNorm, with this forward."""

    class Answer(nn.Module):
        def __init__(self, d_model, dropout=0.1):
            super().__init__()
            self.norm, self.dropout = norm(d_model), drop(dropout if p is None else p)

    Answer.forward = forward
    return Answer


class Nothing(nn.Module):
    def __init__(self, d_model, *_, dropout=0.1):
        super().__init__()

    def forward(self, x, *_):
        return x


class OneMore(FeedForward):
    def __init__(self, d_model, d_ff):
        super().__init__(d_model, d_ff)
        self.third = nn.Linear(d_model, d_model)


test_a_right_answer_is_correct = right_answers(
    CHECKS,
    [
        ("6.1", FeedForward),
        ("6.1", network(lambda self, x: self.narrow(self.widen(x).clamp(min=0)))),
        ("6.2", AddAndNorm),
        ("6.2", around(lambda self, x, f: self.norm(self.dropout(f(x)) + x))),
        ("6.3", lambda x: -x),
        ("6.3", lambda x: 1 - x),
        ("6.4", lambda x, norm, sublayer: x + sublayer(norm(x))),
    ],
)

test_a_wrong_answer_gets_its_own_hint = wrong_answers(
    CHECKS,
    [
        ("6.1", FeedForward(5, 7), "class FeedForward itself"),
        ("6.1", Nothing, "set self.widen to an nn.Linear"),
        ("6.1", network(lambda self, x: x, bias=False), "has biases"),
        ("6.1", network(lambda self, x: x, widths=lambda m, f: (m, m, m, m)), "widen must go"),
        ("6.1", network(lambda self, x: x, widths=lambda m, f: (m, f, f, f)), "narrow must go"),
        ("6.1", OneMore, "does not need: third"),
        ("6.1", network(lambda self, x: self.narrow(self.widen(x))), "ReLU is missing"),
        ("6.1", network(lambda self, x: self.narrow(self.widen(x)).relu()), "not after the"),
        ("6.1", network(lambda self, x: self.narrow(self.widen(x).relu()).relu()), "one ReLU"),
        ("6.1", network(lambda self, x: x + self.narrow(self.widen(x).relu())), "not add x"),
        ("6.1", network(lambda self, x: self.narrow(nn.GELU()(self.widen(x)))), "GELU"),
        ("6.1", network(lambda self, x: self.narrow(self.widen(x).sigmoid())), "sigmoid"),
        ("6.1", network(lambda self, x: x), "return x itself"),
        ("6.1", network(lambda self, x: 2 * x), "numbers are not"),
        ("6.1", network(lambda self, x: self.widen(x)), "shape must be"),
        ("6.1", network(lambda self, x: None), "returns nothing"),
        ("6.1", network(lambda self, x: x * math.nan), "NaN"),
        ("6.2", AddAndNorm(5), "class AddAndNorm itself"),
        ("6.2", Nothing, "set self.norm"),
        ("6.2", around(lambda self, x, f: x, norm=nn.RMSNorm), "set self.norm"),
        ("6.2", around(lambda self, x, f: x, drop=nn.AlphaDropout), "set self.dropout"),
        ("6.2", around(lambda self, x, f: x, p=0.1), "argument dropout"),
        ("6.2", around(lambda self, x, f: self.norm(f(x))), "residual connection is missing"),
        ("6.2", around(lambda self, x, f: x + f(x)), "norm is missing"),
        ("6.2", around(lambda self, x, f: x + self.norm(f(x))), "normalized the sub-layer's"),
        ("6.2", around(lambda self, x, f: x + f(self.norm(x))), "That is pre-norm"),
        ("6.2", around(lambda self, x, f: self.norm(x + f(self.norm(x)))), "before the sub-layer"),
        ("6.2", around(lambda self, x, f: self.norm(x)), "never called"),
        ("6.2", around(lambda self, x, f: self.norm(x - f(x))), "numbers are not"),
        ("6.2", around(lambda self, x, f: self.norm(x + f(x))), "Dropout is never used"),
        ("6.2", around(lambda self, x, f: self.norm(self.dropout(x + f(x)))), "removes x, too"),
        (
            "6.2",
            around(lambda self, x, f: self.norm(x + f(self.dropout(x)))),
            "Dropout is at another place",
        ),
        ("6.3", lambda x: torch.zeros_like(x), "Zeros change nothing"),
        ("6.3", lambda x: x, "x . x is 2x"),
        ("6.3", lambda x: -2 * x, "Something of x is left"),
        ("6.3", lambda x: x.mean(-1), "shape must be"),
        ("6.4", lambda x, norm, sublayer: norm(x) + sublayer(norm(x)), "the friend's version"),
        ("6.4", lambda x, norm, sublayer: norm(x + sublayer(x)), "post-norm"),
        ("6.4", lambda x, norm, sublayer: sublayer(norm(x)), "residual connection is missing"),
        ("6.4", lambda x, norm, sublayer: x + norm(sublayer(x)), "wrong end of the branch"),
        ("6.4", lambda x, norm, sublayer: x + sublayer(x), "norm is missing"),
        ("6.4", lambda x, norm, sublayer: x, "Normalize the input"),
        ("6.4", lambda x, norm, sublayer: x * math.nan, "NaN"),
    ],
)


@pytest.mark.parametrize(
    ("check", "scaffold"),
    [
        (check_feed_forward, network(lambda self, x: ...)),
        (check_add_and_norm, around(lambda self, x, f: ...)),
    ],
)
def test_a_scaffold_waits(check, scaffold, capsys):
    check(scaffold)
    assert capsys.readouterr().out.startswith(f"Exercise {check.exercise} is waiting for you")
