"""Lesson 15: right answers pass, and each usual wrong answer is named."""

import math
from collections import Counter

from tests.exercise_answers import checks_of, right_answers, wrong_answers
from transformer_edu.teaching.checks import translation as lesson_14

CHECKS = checks_of(lesson_14)


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


test_a_right_answer_is_correct = right_answers(
    CHECKS,
    [
        ("15.1", brevity_penalty),
        ("15.2", corpus_precision),
        ("15.3", 100 * math.exp(-1)),
        ("15.3", 37),
    ],
)

test_a_wrong_answer_gets_its_own_hint = wrong_answers(
    CHECKS,
    [
        ("15.1", lambda c, r: math.exp(1 - r / c) if c else 0, "never above 1"),
        ("15.1", lambda c, r: math.exp(-abs(1 - r / c)) if c else 0, "is not too short"),
        ("15.1", lambda c, r: min(1, c / r), "the ratio itself"),
        ("15.1", lambda c, r: 1 if c >= r else math.exp(1 - c / r), "upside down"),
        ("15.1", lambda c, r: min(1, math.exp(1 - r / c)), "divide by zero"),
        ("15.1", lambda c, r: 0.4 if c < r else 1, "the factor is 0.368; yours is 0.400"),
        ("15.1", lambda c, r: 1, "the factor is 0.368; yours is 1.000"),
        ("15.2", mean_of_all, "a mean of the sentences' precisions"),
        ("15.2", mean_of_those_with_any, "a mean of the sentences' precisions"),
        ("15.2", mean_that_divides_by_zero, "a mean of the sentences' precisions"),
        ("15.2", right_for_words_alone, "For n = 2 you divide by zero"),
        ("15.2", unclipped_precision, "clip the counts"),
        ("15.2", recall, "Divide by how much was written"),
        ("15.2", lambda h, r, n: 100 * corpus_precision(h, r, n), "from 0 to 1"),
        ("15.2", lambda h, r, n: corpus_precision(h, r, 1), "For n = 2: the precision is"),
        ("15.3", 100, "What is the other factor"),
        ("15.3", 50, r"share of what was \*written\*"),
        ("15.3", 25, "Only the brevity penalty"),
        ("15.3", 60.65, "Upside down"),
        ("15.3", 0.368, "from 0 to 100"),
        ("15.3", 0, "no precision is 0"),
        ("15.3", 80, "What are the two"),
        ("15.3", "a third", "is a number"),
    ],
)
