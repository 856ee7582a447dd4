"""Lesson 03: right answers pass, and each usual wrong answer is named."""

import math

import pytest
import torch

from transformer_edu.model.masks import causal_mask, padding_mask
from transformer_edu.teaching.checks.answer import AnswerError
from transformer_edu.teaching.checks.lesson_03 import (
    check_allowed_looks,
    check_looks_ahead_test,
    check_repaired_mask,
    check_window_mask,
)

TOKEN_IDS = torch.tensor([[1, 2, 3, 4, 5], [6, 7, 0, 0, 0]])
REAL = TOKEN_IDS != 0
CHECKS = {
    "3.1": check_allowed_looks,
    "3.2": check_window_mask,
    "3.3": lambda answer: check_repaired_mask(answer, token_ids=TOKEN_IDS),
    "3.4": check_looks_ahead_test,
}


def window(length):
    return causal_mask(length) & ~causal_mask(length).tril(-3)


def looks_ahead(model, source_ids, target_ids):
    changed = target_ids.clone()
    changed[:, -1] = torch.where(target_ids[:, -1] == 4, 5, 4)
    before, after = model(source_ids, target_ids), model(source_ids, changed)
    return not torch.allclose(before[:, :-1], after[:, :-1], atol=1e-5)


def accuses_everybody(model, source_ids, target_ids):
    changed = target_ids.clone()
    changed[:, -1] = 15
    return not torch.equal(model(source_ids, target_ids), model(source_ids, changed))


def changes_in_place(model, source_ids, target_ids):
    before = model(source_ids, target_ids)[:, :-1]
    target_ids[:, -1] = 15
    return not torch.allclose(before, model(source_ids, target_ids)[:, :-1], atol=1e-5)


def changes_nothing(model, source_ids, target_ids):
    first, second = model(source_ids, target_ids), model(source_ids, target_ids.clone())
    return not torch.equal(first, second)


@pytest.mark.parametrize(
    ("number", "answer"),
    [
        ("3.1", 9),
        ("3.1", 9.0),
        ("3.2", window),
        ("3.2", lambda n: torch.tensor([[i - 2 <= j <= i for j in range(n)] for i in range(n)])),
        ("3.3", REAL[:, None, None, :]),
        ("3.3", padding_mask(TOKEN_IDS)),
        ("3.4", looks_ahead),
        ("3.4", lambda model, source, target: torch.tensor(looks_ahead(model, source, target))),
    ],
)
def test_a_right_answer_is_correct(number, answer, capsys):
    CHECKS[number](answer)
    assert capsys.readouterr().out == f"Exercise {number} is correct.\n"


@pytest.mark.parametrize("number", CHECKS)
def test_three_dots_wait(number, capsys):
    CHECKS[number](...)
    assert f"Exercise {number} is waiting" in capsys.readouterr().out


@pytest.mark.parametrize("number", ["3.2", "3.4"])
def test_a_function_of_three_dots_waits(number, capsys):
    CHECKS[number](lambda *arguments: ...)
    assert f"Exercise {number} is waiting" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("number", "answer", "hint"),
    [
        ("3.1", 16, "Nothing would be hidden"),
        ("3.1", 12, "padding mask alone"),
        ("3.1", 10, "causal mask alone"),
        ("3.1", 6, "the row still asks"),
        ("3.1", 7, "number of hidden"),
        ("3.1", 3, "the diagonal is allowed"),
        ("3.1", 11, "row by row"),
        ("3.1", "nine", "whole number"),
        ("3.2", lambda n: ~window(n), "other way round"),
        ("3.2", causal_mask, "That is the causal mask"),
        ("3.2", lambda n: ~causal_mask(n).tril(-3), "future is not hidden"),
        ("3.2", lambda n: window(n) | window(n).T, "both sides"),
        ("3.2", lambda n: window(n).T, "look ahead"),
        ("3.2", lambda n: window(n).tril(-1), "at itself, too"),
        ("3.2", lambda n: window(n) & ~causal_mask(n).tril(-2), "too narrow"),
        ("3.2", lambda n: causal_mask(n) & ~causal_mask(n).tril(-4), "too wide"),
        ("3.2", lambda n: torch.eye(n).bool(), "Row i may look"),
        ("3.2", lambda n: window(n).float(), "boolean"),
        ("3.2", lambda n: window(6), "shape must be"),
        ("3.3", ~REAL[:, None, None, :], "now the polarity"),
        ("3.3", REAL[:, None, :, None], "now the axis"),
        ("3.3", ~REAL[:, None, :, None], "friend's mask"),
        ("3.3", REAL, "Two axes are missing"),
        ("3.3", REAL[:, None], "One axis is missing"),
        ("3.3", REAL[:, None, None, :].float(), "boolean"),
        ("3.3", torch.ones(2, 1, 1, 5).bool(), "is not 0"),
        ("3.4", accuses_everybody, "only those before it"),
        ("3.4", changes_in_place, "change a clone"),
        ("3.4", changes_nothing, "misses a model"),
        ("3.4", lambda *given: not looks_ahead(*given), "other way round"),
        ("3.4", lambda *given: "yes", "True or False"),
        ("3.4", lambda model, source, target: model(source), "could not be used"),
    ],
)
def test_a_wrong_answer_gets_its_own_hint(number, answer, hint):
    with pytest.raises(AnswerError, match=hint):
        CHECKS[number](answer)


@pytest.mark.parametrize(
    ("number", "answer"),
    [
        *((number, None) for number in CHECKS),
        ("3.1", math.nan),
        ("3.1", math.inf),
        ("3.2", lambda length: torch.full((length, length), math.nan)),
        ("3.3", torch.full((2, 1, 1, 5), math.nan)),
        ("3.4", lambda *given: 1 / 0),
        ("3.4", lambda *given: math.nan),
    ],
)
def test_none_nan_and_errors_are_survived(number, answer):
    with pytest.raises(AnswerError):
        CHECKS[number](answer)
