"""Lesson 11: what is no answer at all is told so, and an unfinished repair waits."""

import pytest
import torch.nn.functional as F
from torch import nn

from tests.course.diagnosis.friends import FriendsAddAndNorm, FriendsFeedForward
from tests.exercise_answers import checks_of
from transformer_course.asking.answer import AnswerError
from transformer_course.diagnosis import checks as lesson_11
from transformer_course.our_transformer import AddAndNorm, FeedForward

CHECKS = checks_of(lesson_11)


def as_forward(base, forward):
    """A friend's class with another forward."""
    return type("Answer", (base,), {"forward": forward})


class WithoutGain(nn.Module):
    def __init__(self, d_model, dropout=0.1):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, sublayer):
        return F.layer_norm(x + self.dropout(sublayer(x)), x.shape[-1:])


@pytest.mark.parametrize(
    ("number", "answer", "hint"),
    [
        ("11.1", WithoutGain, "a gain and a bias"),
        ("11.1", AddAndNorm(12), "class RepairedAddAndNorm itself"),
        ("11.1", nn.Identity, "residual|could not be used|arguments"),
        (
            "11.1",
            as_forward(FriendsAddAndNorm, lambda own, x, f: x + own.dropout(f(x))),
            "the norm comes last",
        ),
        ("11.3", FeedForward, "Keep the arguments"),
        ("11.2", lambda model, source_ids, target_ids: 0.0, "finds nothing"),
        ("11.2", lambda model, source_ids, target_ids: 7.0, "largest absolute change"),
        ("11.2", lambda model, source_ids, target_ids: None, "returns nothing"),
        ("11.2", 3, "is a function"),
    ],
)
def test_what_is_no_repair_is_told(number, answer, hint):
    with pytest.raises(AnswerError, match=hint):
        CHECKS[number](answer)


@pytest.mark.parametrize("number", ["11.1", "11.3", "11.4"])
def test_a_repair_that_is_not_written_waits(number, capsys):
    waiting = {
        "11.1": as_forward(FriendsAddAndNorm, lambda own, x, sublayer: ...),
        "11.3": as_forward(FriendsFeedForward, lambda own, x: ...),
        "11.4": lambda model, source_ids, target_ids: ...,
    }
    CHECKS[number](waiting[number])
    assert capsys.readouterr().out.startswith(f"Exercise {number} is waiting for you")
