"""Lesson 10: what is no answer at all is told so, and whose function runs."""

import math

import pytest
import torch

from tests.exercise_answers import checks_of
from transformer_course.asking.answer import AnswerError
from transformer_course.training import checks as lesson_10

CHECKS = checks_of(lesson_10)


@pytest.mark.parametrize(
    ("number", "answer", "hint"),
    [
        ("10.1", lambda model, batch, optimizer, smoothing: 1.0, "never calls the model|No weight"),
        ("10.1", lambda model, batch, optimizer: 1.0, "arguments are not the scaffold"),
        ("10.2", lambda s, d, w: 0.1, "look at the rise.* from 0.1 to 0.1"),
        ("10.2", lambda s, d, w: math.nan, "The answer is a number"),
        ("10.2", lambda s, d, w: 1 / 0, "ZeroDivisionError"),
        ("10.2", 0.1, "is a function"),
        ("10.3", math.nan, "is a number"),
        ("10.3", None, "is a number"),
        ("10.3", True, "is a number"),
    ],
)
def test_what_is_no_answer_is_told(number, answer, hint):
    with pytest.raises(AnswerError, match=hint):
        CHECKS[number](answer)


def test_a_finished_answer_runs_and_ours_stands_in_for_another(capsys):
    given = []

    def step(*each):
        given.append(each)
        return lesson_10.our_step(*each)

    yours = lesson_10.finished_step(step)
    count = len(given)
    assert type(yours(*given[-1])) is float and len(given) == count + 1
    assert capsys.readouterr().out == "Your training step.\n"

    def another(step, d_model, warmup_steps):
        return lesson_10.our_rate(step, d_model, warmup_steps) * torch.ones(1)

    assert lesson_10.finished_rate(another) is another
    for unfinished in (lambda *_: ..., lambda *_: 0.0, ...):
        assert lesson_10.finished_rate(unfinished) is lesson_10.our_rate
    said = capsys.readouterr().out.splitlines()
    assert (
        said
        == ["Your learning rate."]
        + ["The course's learning rate, because yours is not right yet."] * 3
    )
