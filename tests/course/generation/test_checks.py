"""Lesson 12: right answers pass, and each usual wrong answer is named."""

import math
import re
from functools import partial

import pytest
import torch

from tests.exercise_answers import checks_of, right_answers, wrong_answers
from transformer_course.asking.answer import AnswerError
from transformer_course.generation import checks as lesson_12
from transformer_course.generation.checks import check_misleading_table
from transformer_edu.model.special_ids import END_ID, START_ID

CHECKS = checks_of(lesson_12)
HALVES = {"cat": 0.5, "dog": 0.5}
MISLEADING = {
    "": {"red": 0.27, "green": 0.26, "blue": 0.25, "black": 0.22},
    "red": HALVES,
    "green": HALVES,
    "blue": HALVES,
}
# The beam drops "black" only because it stands last.
TIED = MISLEADING | {"": dict.fromkeys(["red", "green", "blue", "black"], 0.25)}
OTHERS = dict.fromkeys("abcefg", HALVES)  # after all words but "d"


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


def my_search(next_log_p, width, alpha=0.0, longest=20, **mistakes):
    """A reader's search; mistakes switch usual ones on."""
    beam, complete = [([START_ID], 0.0)], []
    for length in range(1, longest + mistakes.get("too_long", 0) + 1):
        longer = []
        for ids, total in beam:
            log_p = next_log_p(ids[mistakes.get("without_start", 0) :])
            best = log_p.topk(min(width, len(log_p)))
            for token, p in zip(best.indices.tolist(), best.values.tolist(), strict=True):
                if p > -math.inf:
                    longer.append(([*ids, token], total + p))
        longer = sorted(longer, key=lambda pair: -pair[1])[: mistakes.get("keep", width)]
        beam = []
        for ids, total in longer:
            is_last = length == longest + mistakes.get("too_long", 0)
            if ids[-1] == END_ID or is_last:
                complete.append((total / ((5 + length) / 6) ** alpha, ids[1:]))
            if (ids[-1] != END_ID or mistakes.get("goes_on")) and not is_last:
                beam.append((ids, total))
        if not beam:
            break
    score, ids = max(complete)
    return ids, score


def searching(**mistakes):
    return partial(my_search, **mistakes)


def returned_as_tensors(*given):
    ids, score = my_search(*given)
    return [torch.tensor(ids), torch.tensor(score, dtype=torch.float64)]


def mistaken(mistake):
    """A search that makes one of the check's own mistakes."""
    return lambda next_log_p, *given: lesson_12._search(next_log_p, *given, mistake)


def spoilt(probabilities, p):
    probabilities[0] = 0
    return probabilities


def added_in_a_loop(probabilities, p):
    """Adds numbers of Python, with other rounding than a tensor's sums."""
    kept, total = torch.zeros_like(probabilities), 0.0
    for token in probabilities.argsort(descending=True).tolist():
        if total >= p:
            break
        kept[token] = probabilities[token]
        total += probabilities[token].item()
    return kept / kept.sum()


test_a_right_answer_is_correct = right_answers(
    CHECKS,
    [
        ("12.1", keep_top_p),
        ("12.1", added_in_a_loop),
        ("12.2", MISLEADING),
        ("12.3", my_search),
        ("12.3", returned_as_tensors),
    ],
)

test_a_wrong_answer_gets_its_own_hint = wrong_answers(
    CHECKS,
    [
        ("12.1", lambda q, p: q * (keep_top_p(q, p) > 0), "sum to 1 again"),
        ("12.1", lambda q, p: keep_top_p(q, p).sort(descending=True).values, "wrong places"),
        ("12.1", kept_without_the_last, "reaches p is kept"),
        ("12.1", kept_one_too_many, "reach p already"),
        ("12.1", lambda q, p: q, "reach p already"),
        ("12.1", lambda q, p: keep_top_p(q, p) > 0, "give their probabilities"),
        ("12.1", lambda q, p: keep_top_p(q, p) * 2, "in their own proportions"),
        ("12.1", spoilt, "changes the tensor"),
        ("12.1", lambda q, p: q * torch.nan, "NaN"),
        ("12.1", lambda q, p: q.tolist(), "is a tensor"),
        ("12.1", lambda q, p: q[:2], "shape must be"),
        ("12.1", lambda q: q, "arguments are not the scaffold"),
        ("12.2", {"": {"red": 0.5, "green": 0.4}}, "must give probabilities that sum to 1"),
        ("12.2", {"": {"red": 1.0}, "blue": {"red": 1.0}}, "must lead to each"),
        ("12.2", {"": {"red": float("nan")}}, "must give probabilities"),
        ("12.2", {}, "must say what comes first"),
        ("12.2", {"": HALVES}, "no sentence is more probable"),
        ("12.2", {**MISLEADING, "black": HALVES}, "no sentence is more probable"),
        ("12.2", {"": ["red", "green"]}, "answer is a table"),
        ("12.2", None, "answer is a table"),
        ("12.2", TIED, "only because of a tie"),
        ("12.2", {"": dict.fromkeys("abcdefg", 1 / 7)} | OTHERS, "only because of a tie"),
        *[("12.3", mistaken(each), re.escape(hint)) for each, hint in lesson_12.MISTAKES.items()],
        ("12.3", searching(keep=1), "greedy search writes"),
        ("12.3", searching(keep=99), "continue more than 2 hypotheses"),
        ("12.3", searching(goes_on=True), "has ended"),
        ("12.3", searching(too_long=1), "more than `longest` tokens"),
        ("12.3", searching(without_start=1), "the first is START_ID"),
        ("12.3", lambda *given: my_search(*given)[0], "Return two things"),
        ("12.3", lambda *given: my_search(*given)[::-1], "ids first"),
        ("12.3", lambda *given: ([START_ID, *my_search(*given)[0]], 0.0), "Leave the start token"),
        ("12.3", lambda *given: (my_search(*given)[0][:-1], 0.0), "you found"),
        ("12.3", lambda *given: ("ab", 0.0), "ids are a list"),
        ("12.3", lambda *given: (my_search(*given)[0], None), "number; yours is"),
        ("12.3", 3, "answer is a function"),
    ],
)


def test_a_sentence_that_is_as_probable_as_the_best_is_found():
    # Both halves are most probable; the beam finds one of them.
    with pytest.raises(AnswerError, match="A beam of 3 finds"):
        check_misleading_table({"": HALVES})
