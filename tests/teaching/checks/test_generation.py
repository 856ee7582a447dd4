"""Lesson 12: right answers pass, and each usual wrong answer is named."""

import pytest
import torch

from tests.exercise_answers import checks_of, right_answers, wrong_answers
from transformer_edu.teaching.checks import generation as lesson_11
from transformer_edu.teaching.checks.answer import AnswerError
from transformer_edu.teaching.checks.generation import check_misleading_table

CHECKS = checks_of(lesson_11)
RIGHT = 4 * 6 * 2 * 512 * 50
HALVES = {"cat": 0.5, "dog": 0.5}
MISLEADING = {
    "": {"red": 0.27, "green": 0.26, "blue": 0.25, "black": 0.22},
    "red": HALVES,
    "green": HALVES,
    "blue": HALVES,
}


def keep_top_p(probabilities, p):
    ordered, token_ids = probabilities.sort(descending=True)
    before = ordered.cumsum(dim=0) - ordered
    kept = torch.zeros_like(probabilities)
    kept[token_ids] = ordered * (before < p)
    return kept / kept.sum()


def kept_without_the_last(probabilities, p):
    ordered, token_ids = probabilities.sort(descending=True)
    inside = ordered.cumsum(dim=0) <= p
    kept = torch.zeros_like(probabilities)
    kept[token_ids] = ordered * (inside | (torch.arange(len(ordered)) == 0))
    return kept / kept.sum()


def kept_one_too_many(probabilities, p):
    ordered, token_ids = probabilities.sort(descending=True)
    before = ordered.cumsum(dim=0) - ordered
    kept = torch.zeros_like(probabilities)
    kept[token_ids] = ordered * (torch.cat([torch.zeros(1), before[:-1]]) < p)
    return kept / kept.sum()


def final_score(words, end, alpha):
    total, length = sum(words) + end, len(words) + 1
    return total / ((5 + length) / 6) ** alpha


def spoilt(probabilities, p):
    probabilities[0] = 0
    return probabilities


test_a_right_answer_is_correct = right_answers(
    CHECKS,
    [
        ("12.1", RIGHT),
        ("12.1", float(RIGHT)),
        ("12.2", keep_top_p),
        ("12.3", final_score),
        ("12.3", lambda *given: torch.tensor(final_score(*given), dtype=torch.float64)),
        ("12.4", MISLEADING),
    ],
)

test_a_wrong_answer_gets_its_own_hint = wrong_answers(
    CHECKS,
    [
        ("12.1", RIGHT // 2, "both are kept"),
        ("12.1", RIGHT * 3 // 2, "used once and not kept"),
        ("12.1", RIGHT // 4, "one hypothesis"),
        ("12.1", RIGHT // 6, "one layer"),
        ("12.1", RIGHT * 8, "heads share the width"),
        ("12.1", RIGHT // 8, "one head"),
        ("12.1", 4 * 6 * 2 * 512 * 20, "source's keys and values are kept too"),
        ("12.1", 4 * 6 * 2 * 512 * 30, "has been written has keys"),
        ("12.1", RIGHT * 2, "not both with 50"),
        ("12.1", 512, "Multiply"),
        ("12.1", float("nan"), "whole number"),
        ("12.1", None, "number; yours is"),
        ("12.1", True, "number; yours is"),
        ("12.1", "many", "number; yours is"),
        ("12.2", lambda q, p: q * (keep_top_p(q, p) > 0), "sum to 1 again"),
        ("12.2", lambda q, p: keep_top_p(q, p).sort(descending=True).values, "wrong places"),
        ("12.2", kept_without_the_last, "reaches p is kept"),
        ("12.2", kept_one_too_many, "reach p already"),
        ("12.2", lambda q, p: q, "reach p already"),
        ("12.2", lambda q, p: keep_top_p(q, p) > 0, "give their probabilities"),
        ("12.2", lambda q, p: keep_top_p(q, p) * 2, "in their own proportions"),
        ("12.2", spoilt, "changes the tensor"),
        ("12.2", lambda q, p: q * torch.nan, "NaN"),
        ("12.2", lambda q, p: q.tolist(), "is a tensor"),
        ("12.2", lambda q, p: q[:2], "shape must be"),
        ("12.2", lambda q: q, "TypeError"),
        (
            "12.3",
            lambda w, e, a: sum(w) / ((5 + len(w)) / 6) ** a,
            "neither log-probability nor length",
        ),
        ("12.3", lambda w, e, a: sum(w) / ((6 + len(w)) / 6) ** a, "end token is missing"),
        ("12.3", lambda w, e, a: (sum(w) + e) / ((5 + len(w)) / 6) ** a, "counts in the length"),
        ("12.3", lambda w, e, a: (sum(w) + e) * ((6 + len(w)) / 6) ** a, "Multiplying"),
        ("12.3", lambda w, e, a: (sum(w) + e) / (len(w) + 1) ** a, "bare length"),
        ("12.3", lambda w, e, a: sum(w) + e, "the score is"),
        ("12.3", lambda w, e, a: float("nan"), "yours is nan"),
        ("12.3", lambda w, e, a: [0.0], "number; yours is"),
        ("12.4", {"": {"red": 0.5, "green": 0.4}}, "must give probabilities that sum to 1"),
        ("12.4", {"": {"red": 1.0}, "blue": {"red": 1.0}}, "must lead to each"),
        ("12.4", {"": {"red": float("nan")}}, "must give probabilities"),
        ("12.4", {}, "must say what comes first"),
        ("12.4", {"": HALVES}, "no sentence is more probable"),
        ("12.4", {**MISLEADING, "black": HALVES}, "no sentence is more probable"),
        ("12.4", {"": ["red", "green"]}, "answer is a table"),
        ("12.4", None, "answer is a table"),
    ],
)


def test_a_sentence_that_is_as_probable_as_the_best_is_found():
    # Both halves are most probable; the beam finds one of them.
    with pytest.raises(AnswerError, match="A beam of 3 finds"):
        check_misleading_table({"": HALVES})
