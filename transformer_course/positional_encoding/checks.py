"""Checks of lesson 5: positional encoding."""

import math
from collections.abc import Callable
from contextlib import suppress

import torch
from torch import Tensor, nn

from transformer_course.asking.answer import (
    AnswerError,
    ask,
    close,
    exercise,
    let_wait,
    refuse_mistakes,
    require_class,
    require_module,
    require_number,
    require_shape,
)
from transformer_course.my_transformer import keep
from transformer_edu.model.embeddings import sinusoidal_positions

NEAREST, LAST = 44, 50
TURNS = ((3, 0.5), (1, 1.0), (10, 0.05), (4, 1.0))  # shift, frequency
BATCH, LENGTH, D_MODEL = 3, 5, 8
MINUS = (
    "The exponent has the wrong sign, or you multiplied: the position is divided by "
    "10000^(2i / d_model)."
)
LONGEST, DEFAULT_LENGTH = 20, 5000  # positions in the tables of exercise 5.1


@exercise("5.1")
def check_positional_encoding(answer: type[nn.Module]) -> None:
    """Exercise 5.1: a class PositionalEncoding(d_model, max_length), kept in the reader's file."""
    require_class(answer, "PositionalEncoding")
    positions = answer(D_MODEL, LONGEST)
    x = torch.randn(BATCH, LENGTH, D_MODEL, generator=torch.Generator().manual_seed(5))
    let_wait(positions, x)
    if any(weight.requires_grad for weight in positions.parameters()):
        raise AnswerError("The table is not learned: use register_buffer, not a parameter.")
    answered = require_module(positions, x)
    received = require_shape(answered, tuple(x.shape), "(batch, position, d_model)")
    if received.dtype != x.dtype:
        raise AnswerError(f"x is {x.dtype}, your output {received.dtype}: end with .float().")
    table = sinusoidal_positions(LONGEST, D_MODEL)
    if not close(received, x + table[:LENGTH]):
        raise AnswerError(_encoding_hint(received, x, table))
    try:
        long = answer(D_MODEL)
    except TypeError:
        raise AnswerError("Give max_length a default value: max_length=5000.") from None
    if not _holds(long, DEFAULT_LENGTH):
        raise AnswerError(
            f"A sequence of {DEFAULT_LENGTH} positions fits the default; yours fails."
        )
    longer = DEFAULT_LENGTH + 10
    if not _holds(answer(D_MODEL, longer), longer):
        raise AnswerError(
            f"With max_length={longer} a sequence of {longer} positions fits; yours fails: the "
            "table has max_length rows, however many these are."
        )
    if positions.state_dict():
        raise AnswerError(
            "The table would be saved with the weights. It follows from a formula: pass "
            "persistent=False to register_buffer."
        )
    _require_that_it_moves(positions, x)
    keep(answer)


def _holds(positions: nn.Module, length: int) -> bool:
    """Whether so many positions get what the formula says."""
    found = None
    with suppress(RuntimeError, IndexError):
        found = positions(torch.zeros(1, length, D_MODEL))
    table = sinusoidal_positions(length, D_MODEL)
    return isinstance(found, Tensor) and torch.allclose(found, table, atol=1e-3)


def _require_that_it_moves(positions: nn.Module, x: Tensor) -> None:
    """Refuse a table that stays behind when the model moves to another device."""
    elsewhere = torch.device("meta")  # a device that every machine has
    try:
        ask(positions.to(elsewhere), x.to(elsewhere))
    except RuntimeError:
        if not any(isinstance(value, Tensor) for value in vars(positions).values()):
            raise AnswerError(
                "forward makes its numbers on one device, whatever the device of x: compute the "
                "table once, in __init__, and keep it with register_buffer."
            ) from None
        raise AnswerError(
            "The table stays behind when the model moves to another device: an attribute is not "
            "enough, register_buffer moves it."
        ) from None


def _encoding_hint(received: Tensor, x: Tensor, table: Tensor) -> str:
    """What an output of the right shape with wrong numbers comes from."""
    sine, cosine = table[:, 0::2], table[:, 1::2]
    known_mistakes = {
        "x is unchanged: the positions are not added.": torch.zeros_like(table),
        "Positions count from 0: the first row of the table is for the first word.": (
            table.roll(-1, dims=0)
        ),
        "All sines come first, then all cosines. In the formula they alternate: stack the two "
        "along a new last axis, then flatten the last two.": torch.cat([sine, cosine], -1),
        "Sine and cosine are exchanged: the sine comes first.": _alternate(cosine, sine),
        "Your exponent is 4i / d_model, twice what it should be: 0, 2, 4, … are 2i already, and "
        "the divisor is d_model.": _encode(lambda even: 2 * even),
        "Your angles are divided by 10000^(i / d_model): the base is 10000, and the exponent is "
        "2i / d_model.": _encode(lambda even: even / 2),
        "The angle is divided by 10000^(2i / d_model); yours is the position itself.": (
            _encode(lambda even: 0 * even)
        ),
        "The cosine has a frequency of its own. A pair shares one angle, with the exponent "
        "2i / d_model.": _alternate(sine, _encode(lambda even: even + 1)[:, 1::2]),
    }
    for hint, wrong in known_mistakes.items():
        if close(received, x + wrong[:LENGTH]):
            return hint
    early = [table[:2] for table in (received[0] - x[0], _encode(lambda even: -even))]
    if close(*early):  # later angles are so large that float32 knows them roughly
        return MINUS
    if close(received, x * math.sqrt(D_MODEL) + table[:LENGTH]):
        return "x has its factor √d_model already, from the embedding: add the table to x as it is."
    if close(received, x * table[:LENGTH]):
        return "You multiply x by the table: add it."
    added = received - x
    if close(received, table[:LENGTH].expand(x.shape)):
        return "You return the encoding alone: add it to x."
    if close(added, table[:BATCH].unsqueeze(1).expand(x.shape)):
        return "The positions are added along the batch: axis 1 of x is the position."
    if not close(added, added[:1].expand(x.shape)):
        return (
            "What you add differs between the rows of a batch: it must depend on the position only."
        )
    if close(added, added[:, :1].expand(x.shape)):
        return "Every position gets the same numbers: use row p of the table for position p."
    position, column = (~torch.isclose(added[0], table[:LENGTH], atol=1e-4)).nonzero()[0].tolist()
    return (
        f"The first wrong number is of position {position}, number {column} (d_model = {D_MODEL}): "
        f"yours is {added[0, position, column]:.3f}, section 3's formula gives "
        f"{table[position, column]:.3f}."
    )


def _encode(exponent: Callable[[Tensor], Tensor]) -> Tensor:
    """The table with another exponent: from 0, 2, 4, … to what is divided by d_model."""
    even = torch.arange(0, D_MODEL, 2, dtype=torch.float64)
    position = torch.arange(LONGEST, dtype=torch.float64).unsqueeze(1)
    angle = position / 10_000 ** (exponent(even) / D_MODEL)
    return _alternate(angle.sin(), angle.cos()).float()


def _alternate(first: Tensor, second: Tensor) -> Tensor:
    """Columns of both in turn."""
    return torch.stack([first, second], dim=-1).flatten(-2)


@exercise("5.2")
def check_nearest_position(answer: int) -> None:
    """Exercise 5.2: the position from 1 to 50 where pair 0 is most similar to position 0."""
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


@exercise("5.3")
def check_turn(answer: Callable[[int, float], Tensor]) -> None:
    """Exercise 5.3: a function (k, frequency) → the matrix that shifts a pair by k positions."""
    matrices = [
        require_shape(ask(answer, *each), (2, 2), "(row, column)").double() for each in TURNS
    ]
    right = [_turn(k * frequency) for k, frequency in TURNS]
    mistakes = {
        "Your pair rotates backwards, to the position k before. Which of the two sines is "
        "negative?": [turn.T for turn in right],
        "Your pair rotates by one position only, whatever k is.": [
            _turn(each) for _, each in TURNS
        ],
        "Your pair rotates by k radians, whatever the frequency is.": [_turn(k) for k, _ in TURNS],
        "The two rows are swapped: the pair is (sine, cosine).": [turn.flip(0) for turn in right],
        "Both sines have the same sign; in the two formulas they do not.": [
            turn * torch.tensor([[1, 1], [-1, 1]]) for turn in right
        ],
        "Both rows are the same, and give the sine: the second must give the cosine.": [
            turn[[0, 0]] for turn in right
        ],
    }
    seen = torch.stack(matrices)
    refuse_mistakes(seen, {hint: torch.stack(each) for hint, each in mistakes.items()})
    for (k, frequency), matrix, turn in zip(TURNS, matrices, right, strict=True):
        if close(matrix, turn):
            continue
        pairs = [
            torch.tensor([math.sin(p * frequency), math.cos(p * frequency)], dtype=torch.float64)
            for p in (2, 2 + k)
        ]
        made = (matrix @ pairs[0]).tolist()
        raise AnswerError(
            f"For k = {k} and frequency {frequency}, your matrix turns the pair of position 2 into "
            f"({made[0]:.2f}, {made[1]:.2f}); position {2 + k} has the pair "
            f"({pairs[1][0]:.2f}, {pairs[1][1]:.2f})."
        )


def _turn(angle: float) -> Tensor:
    """The matrix that turns (sine, cosine) by an angle."""
    sine, cosine = math.sin(angle), math.cos(angle)
    return torch.tensor([[cosine, sine], [-sine, cosine]], dtype=torch.float64)
