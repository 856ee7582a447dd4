"""The best of many numbers, in an order that ties do not leave to chance."""

import math

import torch
from torch import Tensor

from transformer_edu.model.refusals import require_whole


def best_first(values: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The count largest values, largest first; of equal values, the first one first.

    ``Tensor.topk`` leaves open which of equal values it takes. ``Tensor.argmax`` takes the first,
    so a beam of width 1 writes what greedy search writes.

    Args:
        values: Shape (..., size).
        count: How many to take; all of them if there are fewer.

    Returns:
        The values and their places on the last axis, both of shape (..., min(count, size)).

    Raises:
        TypeError, ValueError: If count is not a whole number of at least 1.
    """
    require_whole("count", count)
    if count < values.size(-1):
        best, places = largest(values, count + 1)  # one more: it may equal the last one
        if not ((best[..., 1:] == best[..., :-1]) & (best[..., 1:] > -torch.inf)).any():  # no ties
            return best[..., :count], places[..., :count]
    # A stable sort of everything is many times slower, and equal values are rare.
    best, places = values.sort(dim=-1, descending=True, stable=True)
    return best[..., :count], places[..., :count]


def largest(values: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """``values.topk(count)``, which takes several times as long for rows as long as a vocabulary.

    The largest values stand in the blocks with the largest maxima, so only those are sorted.

    Args:
        values: Shape (..., size).
        count: How many to take, at most size.
    """
    block = math.isqrt(values.size(-1))
    whole = values.size(-1) // block * block
    if 4 * count * block > whole:
        return values.topk(count)
    blocks = values[..., :whole].unflatten(-1, (-1, block))
    numbers = blocks.amax(dim=-1).topk(count).indices.unsqueeze(-1)  # (..., count, 1)
    numbers = numbers * block + torch.arange(block, device=values.device)  # of their values
    rest = torch.arange(whole, values.size(-1), device=values.device)
    numbers = torch.cat([numbers.flatten(-2), rest.expand(*values.shape[:-1], -1)], dim=-1)
    best, places = values.gather(-1, numbers).topk(count)
    return best, numbers.gather(-1, places)


def require_finite_maximum(best_logits: Tensor, *, step: int | None = None) -> None:
    """Refuse logits of which no softmax makes probabilities: with NaN, with inf, or all -inf.

    Args:
        best_logits: The largest logit of every row, any shape.
        step: The step of writing, for the message.
    """
    finite = best_logits.isfinite()
    if not finite.all():
        got = best_logits[~finite][0].item()
        when = "" if step is None else f" at step {step}"
        raise ValueError(f"logits must have a finite maximum in every row, got {got}{when}")
