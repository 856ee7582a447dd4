"""Lesson 12: what is no answer at all is told so, and the mistakes that its checks know."""

import re

import pytest
import torch

from tests.exercise_answers import checks_of, right_answers, wrong_answers
from transformer_course.asking.answer import AnswerError
from transformer_course.generation import checks as lesson_12
from transformer_course.generation import search_checks
from transformer_course.generation.checks import check_misleading_table
from transformer_edu.model.special_ids import START_ID

CHECKS = checks_of(lesson_12) | checks_of(search_checks)
HALVES = {"cat": 0.5, "dog": 0.5}
MISLEADING = {
    "": {"red": 0.27, "green": 0.26, "blue": 0.25, "black": 0.22},
    "red": HALVES,
    "green": HALVES,
    "blue": HALVES,
}
OTHERS = dict.fromkeys("abcefg", HALVES)  # after all words but "d"


def keep_top_p(probabilities, p):
    ordered, token_ids = probabilities.sort(descending=True)
    before = ordered.cumsum(dim=0) - ordered
    kept = torch.zeros_like(probabilities)
    kept[token_ids] = ordered * (before < p)
    return kept / kept.sum()


def kept_one_too_many(probabilities, p):
    ordered, token_ids = probabilities.sort(descending=True)
    before = ordered.cumsum(dim=0) - ordered
    kept = torch.zeros_like(probabilities)
    kept[token_ids] = ordered * (torch.cat([torch.zeros(1), before[:-1]]) < p)
    return kept / kept.sum()


def my_search(next_log_p, width, alpha=0.0, longest=20):
    """A right search: that of the check."""
    return search_checks._search(next_log_p, width, alpha, longest)


def an_unchanging_beam(next_log_p, width, alpha=0.0, longest=20):
    """Never takes the continuations for its beam."""
    while True:
        next_log_p([START_ID])


def mistaken(mistake):
    """A search that makes one of the check's own mistakes."""
    return lambda next_log_p, *given: search_checks._search(next_log_p, *given, mistake)


test_a_right_answer_is_correct = right_answers(
    CHECKS,
    [
        ("12.2", keep_top_p),
        ("12.1", MISLEADING),
        ("12.3", my_search),
        ("12.3", lambda *given: (tuple(my_search(*given)[0]), my_search(*given)[1])),
    ],
)

test_a_wrong_answer_gets_its_own_hint = wrong_answers(
    CHECKS,
    [
        ("12.2", kept_one_too_many, "reach p already"),
        ("12.2", lambda q, p: q * torch.nan, "all numbers are NaN"),
        ("12.2", lambda q, p: torch.where(q > 0.1, q, torch.nan), "Some numbers are NaN"),
        ("12.2", lambda q, p: q.tolist(), "is a tensor"),
        ("12.2", lambda q: q, "arguments are not the scaffold"),
        ("12.1", {"": {"red": float("nan")}}, "must give probabilities"),
        ("12.1", {}, "must say what comes first"),
        ("12.1", None, "answer is a table"),
        ("12.1", {"": dict.fromkeys("abcdefg", 1 / 7)} | OTHERS, "only because of a tie"),
        *[
            ("12.3", mistaken(each), re.escape(hint))
            for each, hint in search_checks.MISTAKES.items()
        ],
        ("12.3", lambda *given: (my_search(*given)[0][:-1], 0.0), "without an end"),
        ("12.3", lambda *given: ([5, 4, 3, 2], -1.0), "never calls next_log_p"),
        ("12.3", lambda next_log_p, *given: next_log_p([[1]]), "takes the ids of one hypothesis"),
        ("12.3", lambda *given: (my_search(*given)[0], -9.0), "is right; its score is"),
        ("12.3", lambda *given: ("ab", 0.0), "ids are a list"),
        ("12.3", an_unchanging_beam, "the same hypothesis again and again"),
        ("12.3", lambda *given: (my_search(*given)[0], None), "number; yours is"),
        ("12.3", 3, "answer is a function"),
    ],
)


def test_a_sentence_that_is_as_probable_as_the_best_is_found():
    # Both halves are most probable; the beam finds one of them.
    with pytest.raises(AnswerError, match="A beam of 3 finds"):
        check_misleading_table({"": HALVES})
