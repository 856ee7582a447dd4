"""Checks of lesson 2: attention."""

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from transformer_edu.teaching.checks.answer import (
    AnswerError,
    ask,
    close,
    exercise,
    refuse_mistakes,
    require_shape,
)

QUERIES, KEYS, D_K, D_V = 3, 5, 4, 2  # all lengths differ, so that no axis is mistaken for another
LEAST_SHARE = 0.9


@exercise("2.1")
def check_zero_query(answer: Sequence[float]) -> None:
    """Exercise 2.1: the output of a query of zeros for the values (0, 0), (3, 0), (0, 6)."""
    received = require_shape(torch.as_tensor(answer, dtype=torch.float32), (2,), "(two numbers)")
    if close(received, torch.tensor([0.0, 0.0])):
        raise AnswerError(
            "The scores are 0, but the weights are not: what does the softmax make of three equal "
            "scores?"
        )
    if close(received, torch.tensor([3.0, 6.0])):
        raise AnswerError("That is the sum of the values. The weights sum to one: average them.")
    if close(received, torch.tensor([1.5, 3.0])):
        raise AnswerError("The value (0, 0) counts, too: there are three values to average.")
    if not close(received, torch.tensor([1.0, 2.0])):
        raise AnswerError("All three scores are 0, so the three weights are equal. Average.")


@exercise("2.2")
def check_attend(answer: Callable[[Tensor, Tensor, Tensor], Tensor]) -> None:
    """Exercise 2.2: the whole formula as a function (query, key, value) → output."""
    query, key, value = _random_attention()
    received = require_shape(ask(answer, query, key, value), (QUERIES, D_V), "(query, d_v)")
    scores = query @ key.T
    known_mistakes = {
        "You averaged with the softmax over the queries: each row of weights, over the keys, must "
        "sum to one.": (scores / math.sqrt(D_K)).softmax(dim=0),
        "The scores are not scaled: divide them by √d_k.": scores.softmax(dim=-1),
        "You divided by d_k; the formula divides by its root.": (scores / D_K).softmax(dim=-1),
        "You divided by the root of the number of keys; d_k is the width of a key.": (
            scores / math.sqrt(KEYS)
        ).softmax(dim=-1),
        "You divided by the root of the number of queries; d_k is the width of a query.": (
            scores / math.sqrt(QUERIES)
        ).softmax(dim=-1),
        "You multiplied the scores with the values: the softmax is missing.": scores
        / math.sqrt(D_K),
        "You divided after the softmax; divide the scores before it.": scores.softmax(dim=-1)
        / math.sqrt(D_K),
    }
    refuse_mistakes(received, {hint: each @ value for hint, each in known_mistakes.items()})
    if not close(received, (scores / math.sqrt(D_K)).softmax(dim=-1) @ value):
        raise AnswerError(
            "The shape is right, the numbers are not. Three steps: scores = QKᵀ/√d_k, a softmax "
            "over the keys, the weighted average of the values."
        )


@exercise("2.3")
def check_attend_to_next(answer: Tensor) -> None:
    """Exercise 2.3: a query matrix with which each one-hot position attends to the next."""
    matrix = require_shape(answer, (KEYS, KEYS), "(position, position)").float()
    weights = (matrix / math.sqrt(KEYS)).softmax(dim=-1)  # position and keys are one-hot
    ahead = weights.diagonal(1)
    if (weights.diagonal(-1) > LEAST_SHARE).all():
        raise AnswerError(
            "Every word attends to the word before it: move the numbers the other way."
        )
    if (weights.diagonal() > LEAST_SHARE).all():
        raise AnswerError(
            "Every word attends to itself: the query must match the key of position p + 1."
        )
    if (ahead >= LEAST_SHARE).all():
        return
    if (matrix[:-1].argmax(dim=-1) == torch.arange(1, KEYS)).all():
        raise AnswerError(
            f"The direction is right, but the weight of the next word is only "
            f"{ahead.min():.2f}: the softmax needs larger numbers."
        )
    raise AnswerError(
        "Row p of the matrix is the query of position p: its largest number belongs at p + 1."
    )


@exercise("2.4")
def check_repaired_weights(answer: Tensor, *, query: Tensor, key: Tensor) -> None:
    """Exercise 2.4: the weights of a target that attends to a source, (target, source).

    Args:
        answer: What the learner gave.
        query: The target's queries, shape (target, d_k).
        key: The source's keys, shape (source, d_k).
    """
    shape = (len(query), len(key))
    if isinstance(answer, Tensor) and tuple(answer.shape) == shape[::-1]:
        raise AnswerError("Rows are queries: the queries come from the target, so they come first.")
    weights = require_shape(answer, shape, "(target, source)")
    scores = query @ key.T / math.sqrt(query.size(-1))
    if close(weights, scores.softmax(dim=0)):
        raise AnswerError(
            "Right shape, wrong sums: the softmax still runs over the targets. It must run over "
            "the keys, the source."
        )
    if close(weights, (query @ key.T).softmax(dim=-1)):
        raise AnswerError("The rows sum to one; now divide the scores by √d_k as before.")
    if not close(weights, scores.softmax(dim=-1)):
        raise AnswerError(
            "Multiply the target's queries with the source's keys, then softmax each row."
        )


def _random_attention() -> tuple[Tensor, Tensor, Tensor]:
    """Query, key and value of the check's own, the same every time."""
    generator = torch.Generator().manual_seed(2)
    return tuple(
        torch.randn(length, width, generator=generator)
        for length, width in ((QUERIES, D_K), (KEYS, D_K), (KEYS, D_V))
    )
