"""Lesson 03: right answers pass, and each usual wrong answer is named."""

import math
from functools import partial

import torch

from tests.exercise_answers import checks_of, right_answers, wrong_answers
from transformer_edu.model.masks import causal_mask, padding_mask
from transformer_edu.teaching.checks import masks as lesson_03
from transformer_edu.teaching.checks.masks import check_repaired_mask

TOKEN_IDS = torch.tensor([[1, 2, 3, 4, 5], [6, 7, 0, 0, 0]])
REAL = TOKEN_IDS != 0
CHECKS = checks_of(lesson_03) | {"3.3": partial(check_repaired_mask, token_ids=TOKEN_IDS)}


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


test_a_right_answer_is_correct = right_answers(
    CHECKS,
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

test_a_wrong_answer_gets_its_own_hint = wrong_answers(
    CHECKS,
    [
        ("3.1", 16, "Nothing would be hidden"),
        ("3.1", 12, "padding mask alone"),
        ("3.1", 10, "causal mask alone"),
        ("3.1", 6, "its query still attends"),
        ("3.1", 7, "number of hidden"),
        ("3.1", 3, "the diagonal is allowed"),
        ("3.1", 11, "row by row"),
        ("3.1", "nine", "whole number"),
        ("3.1", math.inf, "whole number"),
        ("3.2", lambda n: ~window(n), "other way round"),
        ("3.2", causal_mask, "That is the causal mask"),
        ("3.2", lambda n: ~causal_mask(n).tril(-3), "future is not hidden"),
        ("3.2", lambda n: window(n) | window(n).T, "both sides"),
        ("3.2", lambda n: window(n).T, "attend to later words"),
        ("3.2", lambda n: window(n).tril(-1), "to itself, too"),
        ("3.2", lambda n: window(n) & ~causal_mask(n).tril(-2), "too narrow"),
        ("3.2", lambda n: causal_mask(n) & ~causal_mask(n).tril(-4), "too wide"),
        ("3.2", lambda n: torch.eye(n).bool(), "Row i may attend"),
        ("3.2", lambda n: window(n).float(), "boolean"),
        ("3.2", lambda n: window(6), "shape must be"),
        ("3.2", lambda n: torch.full((n, n), math.nan), "NaN"),
        ("3.3", ~REAL[:, None, None, :], "now the polarity"),
        ("3.3", REAL[:, None, :, None], "now the axis"),
        ("3.3", ~REAL[:, None, :, None], "friend's mask"),
        ("3.3", REAL, "Two axes are missing"),
        ("3.3", REAL[:, None], "One axis is missing"),
        ("3.3", REAL[:, None, None, :].float(), "boolean"),
        ("3.3", torch.ones(2, 1, 1, 5).bool(), "is not 0"),
        ("3.3", torch.full((2, 1, 1, 5), math.nan), "NaN"),
        ("3.4", accuses_everybody, "only those before it"),
        ("3.4", changes_in_place, "change a clone"),
        ("3.4", changes_nothing, "misses a model"),
        ("3.4", lambda *given: not looks_ahead(*given), "other way round"),
        ("3.4", lambda *given: "yes", "True or False"),
        ("3.4", lambda model, source, target: model(source), "could not be used"),
    ],
)
