"""Checks of lesson 15: translation."""

import math
from collections import Counter
from collections.abc import Callable, Sequence

from transformer_edu.teaching.checks.answer import (
    AnswerError,
    ask,
    exercise,
    refuse_numbers,
    require_number,
)

TOLERANCE = 1e-6
HALF_WRITTEN = 100 * math.exp(1 - 2)  # every word correct, the references twice as long
LENGTHS = ((10, 10), (12, 10), (5, 10), (18, 20), (0, 7))  # of what was written, of the reference

Corpus = Sequence[Sequence[str]]
# Sentences of very different lengths, one of them too short for a pair of words, one that
# repeats itself, and one that is longer than its reference.
WRITTEN: Corpus = tuple(
    map(str.split, ("a dog runs on the grass", "the the the", "nobody", "a cat sleeps on a bed"))
)
REFERENCES: Corpus = tuple(
    map(str.split, ("a dog runs over the grass", "the bird sings", "nobody", "a cat sleeps"))
)


@exercise("15.1")
def check_brevity_penalty(answer: Callable[[int, int], float]) -> None:
    """Exercise 15.1: the factor that lowers the score of a text that is too short."""
    for written, reference in LENGTHS:
        where = f"For {written} words written and {reference} in the reference"
        try:
            factor = ask(answer, written, reference)
        except ZeroDivisionError:
            raise AnswerError(f"{where} you divide by zero: an empty translation gets 0.") from None
        factor = require_number(factor)
        expected = _penalty(written, reference)
        if abs(factor - expected) <= TOLERANCE:
            continue
        if written > reference and factor > 1:
            raise AnswerError(f"{where}: a long text gets no bonus. The factor is never above 1.")
        if written > reference:
            raise AnswerError(f"{where}: the text is not too short, so the factor is 1.")
        if written and abs(factor - written / reference) <= TOLERANCE:
            raise AnswerError(f"{where} you give the ratio itself; the paper takes exp(1 - r/c).")
        if written and abs(factor - math.exp(1 - written / reference)) <= TOLERANCE:
            raise AnswerError(f"{where} the ratio is upside down: r/c, and it is above 1 here.")
        raise AnswerError(f"{where} the factor is {expected:.3f}; yours is {factor:.3f}.")


def _penalty(written: int, reference: int) -> float:
    """The correct factor."""
    if written == 0:
        return 0.0
    return min(1.0, math.exp(1 - reference / written))


@exercise("15.2")
def check_corpus_precision(answer: Callable[[Corpus, Corpus, int], float]) -> None:
    """Exercise 15.2: the precision of a whole text, not the mean of its sentences'."""
    for n in (1, 2):
        try:
            precision = ask(answer, list(WRITTEN), list(REFERENCES), n)
        except ZeroDivisionError:
            raise AnswerError(
                f"For n = {n} you divide by zero: a sentence of one word has no pair of words. "
                "Add up first, divide once."
            ) from None
        precision = require_number(precision)
        found, clipped = _counts(n)
        right = sum(clipped) / sum(found)
        if abs(precision - right) > TOLERANCE:
            _refuse_precision(precision, n, right)


def _refuse_precision(precision: float, n: int, right: float) -> None:
    """Name the mistake that leads to this precision."""
    found, clipped = _counts(n)
    means = [part / whole for part, whole in zip(clipped, found, strict=True) if whole]
    references = sum(max(0, len(sentence) - n + 1) for sentence in REFERENCES)
    hits = (
        sum(gram in set(_grams(reference, n)) for gram in _grams(written, n))
        for written, reference in zip(WRITTEN, REFERENCES, strict=True)
    )
    hints = {
        sum(means) / len(means): "that is a mean of the sentences' precisions, in which one word "
        "alone counts as much as a long sentence. Add up all counts, then divide once.",
        sum(means) / len(found): "that is a mean of the sentences' precisions, in which one word "
        "alone counts as much as a long sentence. Add up all counts, then divide once.",
        sum(hits) / sum(found): "a word that is written three times and stands once in the "
        "reference counts once: clip the counts.",
        sum(clipped) / references: "that is the share of the reference that was found. Divide by "
        "how much was written.",
        100 * right: "a precision is from 0 to 1; the 100 comes at the very end.",
    }
    refuse_numbers(precision, hints, within=TOLERANCE)
    raise AnswerError(f"For n = {n}: the precision is {right:.4f}; yours is {precision:.4f}.")


def _grams(words: Sequence[str], n: int) -> list[tuple[str, ...]]:
    return [tuple(words[start : start + n]) for start in range(len(words) - n + 1)]


def _counts(n: int) -> tuple[list[int], list[int]]:
    """For each sentence its number of n-grams, and how many of them count as right."""
    found, clipped = [], []
    for written, reference in zip(WRITTEN, REFERENCES, strict=True):
        grams = Counter(_grams(written, n))
        found.append(grams.total())
        clipped.append((grams & Counter(_grams(reference, n))).total())
    return found, clipped


@exercise("15.3")
def check_half_written(answer: float) -> None:
    """Exercise 15.3: the BLEU of the first half of every reference."""
    answer = require_number(answer)
    hints = {
        100.0: "Every n-gram that was written is right, so the four precisions are 1. What is "
        "the other factor?",
        50.0: "Precision asks for the share of what was *written*, and all of that is right.",
        25.0: "The precisions are 1. Only the brevity penalty lowers the score.",
        100 * math.exp(-0.5): "Upside down: r/c is 2 here, not a half.",
        math.exp(-1): "Right, on a scale from 0 to 1. BLEU is written from 0 to 100.",
        0.0: "Something is right, and no precision is 0.",
    }
    if abs(answer - HALF_WRITTEN) <= 1:
        return
    refuse_numbers(answer, hints, within=0.2)
    raise AnswerError("BLEU is the brevity penalty times the mean precision. What are the two?")
