"""Checks of lesson 5: positional encoding."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from transformer_edu.model.embeddings import sinusoidal_positions
from transformer_edu.teaching.checks.answer import (
    AnswerError,
    ask,
    close,
    exercise,
    refuse_mistakes,
    require_number,
    require_shape,
)

NEAREST, LAST = 44, 50
TURNS = ((3, 0.4), (1, 1.0), (10, 0.05))  # shift, frequency
BATCH, LENGTH, D_MODEL = 3, 5, 8
WRITTEN = 7  # tokens in exercise 5.4


@exercise("5.1")
def check_nearest_position(answer: int) -> None:
    """Exercise 5.1: the position from 1 to 50 where pair 0 is most similar to position 0."""
    place = require_number(answer, whole=True)
    if not 1 <= place <= LAST:
        raise AnswerError(f"The answer is a position from 1 to {LAST}; yours is {place}.")
    if place == 22:
        raise AnswerError(
            "The sine of 22 is almost 0, as at position 0; but its cosine is -1: "
            "the pair is on the "
            "opposite side of the circle."
        )
    turns = place / (2 * math.pi)
    if place != NEAREST:
        raise AnswerError(
            f"{place} radians are {turns:.2f} turns. Find the position that is nearest to a "
            "whole number of turns."
        )


@exercise("5.2")
def check_turn(answer: Callable[[int, float], Tensor]) -> None:
    """Exercise 5.2: a function (k, frequency) → the matrix that shifts a pair by k positions."""
    for k, frequency in TURNS:
        matrix = require_shape(ask(answer, k, frequency), (2, 2), "(2, 2)").double()
        known_mistakes = {
            "Your pair rotates backwards, to the position k before. Which of the two sines is "
            "negative?": -k * frequency,
            "Your pair rotates by one position only, whatever k is.": frequency,
            "Your pair rotates by k radians, whatever the frequency is.": float(k),
        }
        if close(matrix, _turn(k * frequency)):
            continue
        refuse_mistakes(matrix, {hint: _turn(angle) for hint, angle in known_mistakes.items()})
        if close(matrix.flip(0), _turn(k * frequency)):
            raise AnswerError("The two rows are swapped: the pair is (sine, cosine).")
        raise AnswerError(
            f"For k = {k} and frequency {frequency} the matrix does not shift the pair. Its "
            "first row makes the new sine, its second row the new cosine."
        )


@exercise("5.3")
def check_add_positions(answer: Callable[[Tensor, Tensor], Tensor]) -> None:
    """Exercise 5.3: a function (x, table) → x with the positions added along the sequence."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(BATCH, LENGTH, D_MODEL, generator=generator)
    table = sinusoidal_positions(2 * LENGTH, D_MODEL)
    shape = (BATCH, LENGTH, D_MODEL)
    received = require_shape(ask(answer, x.clone(), table), shape, "(batch, position, d_model)")
    added = received - x
    if close(added, torch.zeros_like(x)):
        raise AnswerError("x is unchanged: the positions are not added.")
    if close(added, table[:BATCH].unsqueeze(1).expand(shape)):
        raise AnswerError(
            "The positions are added along the batch: equal rows of a batch must stay equal."
        )
    if close(added, table[1 : LENGTH + 1].expand(shape)):
        raise AnswerError(
            "Positions count from 0: the first row of the table is for the first word."
        )
    if not close(added, added[:1].expand(shape)):
        raise AnswerError(
            "Equal rows of a batch become different: a position is not the number of a row."
        )
    if close(added, added[:, :1].expand(shape)):
        raise AnswerError("Every position gets the same numbers: which axis of x is the position?")
    if not close(added, table[:LENGTH].expand(shape)):
        raise AnswerError("Row p of the table belongs to position p of every sentence.")


@exercise("5.4")
def check_offset(answer: int) -> None:
    """Exercise 5.4: the offset of the seventh token when it comes alone."""
    offset = require_number(answer, whole=True)
    if offset == WRITTEN:
        raise AnswerError(
            "Positions count from 0: what is the position of the first token, and of the second?"
        )
    if offset == 0:
        raise AnswerError("With offset 0 every new token would get the position of the first.")
    if offset == 1:
        raise AnswerError("The input is one token; how many tokens come before it?")
    if offset != WRITTEN - 1:
        raise AnswerError("The offset is the number of tokens before the newest one.")


def _turn(angle: float) -> Tensor:
    """The matrix that turns (sine, cosine) by an angle."""
    sine, cosine = math.sin(angle), math.cos(angle)
    return torch.tensor([[cosine, sine], [-sine, cosine]], dtype=torch.float64)
