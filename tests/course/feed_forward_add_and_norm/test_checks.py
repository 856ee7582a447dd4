"""Lesson 06: what its checks do beside telling answers apart."""

import pytest
from torch import nn

from transformer_course.feed_forward_add_and_norm.checks import (
    check_add_and_norm,
    check_feed_forward,
)


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
