"""Lesson 14: right answers pass, and each usual wrong answer is named."""

import math
from collections import Counter

import pytest

from transformer_edu.teaching.checks.answer import AnswerError
from transformer_edu.teaching.checks.lesson_14 import (
    check_brevity_penalty,
    check_corpus_precision,
    check_half_written,
)

CHECKS = {
    "14.1": check_brevity_penalty,
    "14.2": check_corpus_precision,
    "14.3": check_half_written,
}


def brevity_penalty(written, reference):
    return min(1, math.exp(1 - reference / written)) if written else 0


def grams(words, n):
    return Counter(zip(*(words[start:] for start in range(n)), strict=False))


def sums(hypotheses, references, n):
    """Clipped, unclipped, written and in the reference, of every sentence."""
    for written, reference in zip(hypotheses, references, strict=True):
        ours, theirs = grams(written, n), grams(reference, n)
        unclipped = sum(count for gram, count in ours.items() if gram in theirs)
        yield (ours & theirs).total(), unclipped, ours.total(), theirs.total()


def corpus_precision(hypotheses, references, n):
    clipped, _, written, _ = map(sum, zip(*sums(hypotheses, references, n), strict=True))
    return clipped / written


def unclipped_precision(hypotheses, references, n):
    _, unclipped, written, _ = map(sum, zip(*sums(hypotheses, references, n), strict=True))
    return unclipped / written


def recall(hypotheses, references, n):
    clipped, _, _, reference = map(sum, zip(*sums(hypotheses, references, n), strict=True))
    return clipped / reference


def mean_of_all(hypotheses, references, n):
    rows = list(sums(hypotheses, references, n))
    return sum(clipped / max(written, 1) for clipped, _, written, _ in rows) / len(rows)


def mean_of_those_with_any(hypotheses, references, n):
    rows = [row for row in sums(hypotheses, references, n) if row[2]]
    return sum(clipped / written for clipped, _, written, _ in rows) / len(rows)


def mean_that_divides_by_zero(hypotheses, references, n):
    rows = list(sums(hypotheses, references, n))
    return sum(clipped / written for clipped, _, written, _ in rows) / len(rows)


def right_for_words_alone(hypotheses, references, n):
    if n == 1:
        return corpus_precision(hypotheses, references, n)
    return mean_that_divides_by_zero(hypotheses, references, n)


@pytest.mark.parametrize(
    ("number", "answer"),
    [
        ("14.1", brevity_penalty),
        ("14.2", corpus_precision),
        ("14.3", 100 * math.exp(-1)),
        ("14.3", 37),
    ],
)
def test_a_right_answer_is_correct(number, answer, capsys):
    CHECKS[number](answer)
    assert capsys.readouterr().out == f"Exercise {number} is correct.\n"


@pytest.mark.parametrize("number", CHECKS)
def test_three_dots_wait(number, capsys):
    CHECKS[number](...)
    assert f"Exercise {number} is waiting" in capsys.readouterr().out


@pytest.mark.parametrize("number", ["14.1", "14.2"])
def test_a_function_of_three_dots_waits(number, capsys):
    CHECKS[number](lambda *arguments: ...)
    assert f"Exercise {number} is waiting" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("number", "answer", "hint"),
    [
        ("14.1", lambda c, r: math.exp(1 - r / c) if c else 0, "never above 1"),
        ("14.1", lambda c, r: math.exp(-abs(1 - r / c)) if c else 0, "too long is not too short"),
        ("14.1", lambda c, r: min(1, c / r), "the ratio itself"),
        ("14.1", lambda c, r: 1 if c >= r else math.exp(1 - c / r), "upside down"),
        ("14.1", lambda c, r: min(1, math.exp(1 - r / c)), "divide by zero"),
        ("14.1", lambda c, r: 0.4 if c < r else 1, "the factor is 0.368; yours is 0.400"),
        ("14.1", lambda c, r: 1, "the factor is 0.368; yours is 1.000"),
        ("14.2", mean_of_all, "a mean of the sentences' precisions"),
        ("14.2", mean_of_those_with_any, "a mean of the sentences' precisions"),
        ("14.2", mean_that_divides_by_zero, "a mean of the sentences' precisions"),
        ("14.2", right_for_words_alone, "For n = 2 you divide by zero"),
        ("14.2", unclipped_precision, "clip the counts"),
        ("14.2", recall, "Divide by how much was written"),
        ("14.2", lambda h, r, n: 100 * corpus_precision(h, r, n), "from 0 to 1"),
        ("14.2", lambda h, r, n: corpus_precision(h, r, 1), "For n = 2: the precision is"),
        ("14.3", 100, "What is the other factor"),
        ("14.3", 50, r"share of what was \*written\*"),
        ("14.3", 25, "Only the brevity penalty"),
        ("14.3", 60.65, "Upside down"),
        ("14.3", 0.368, "from 0 to 100"),
        ("14.3", 0, "no precision is 0"),
        ("14.3", 80, "What are the two"),
        ("14.3", "a third", "is a number"),
    ],
)
def test_a_wrong_answer_gets_a_hint(number, answer, hint):
    with pytest.raises(AnswerError, match=hint):
        CHECKS[number](answer)


@pytest.mark.parametrize("number", CHECKS)
@pytest.mark.parametrize("answer", [None, float("nan"), True])
def test_what_is_no_answer_is_refused(number, answer):
    with pytest.raises(AnswerError):
        CHECKS[number](answer)


@pytest.mark.parametrize("number", ["14.1", "14.2"])
@pytest.mark.parametrize("value", [None, float("nan"), "0.5"])
def test_a_function_that_gives_no_number_is_refused(number, value):
    with pytest.raises(AnswerError):
        CHECKS[number](lambda *arguments: value)
