"""The best of many numbers, in an order that chance does not decide."""

import torch
from torch import Tensor

from transformer_edu.refusals import require_whole


def best_first(values: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The count largest values, largest first; of equal ones, the one that stands first.

    ``Tensor.topk`` leaves open which of equal values it takes. Here the first one goes first, as
    in ``Tensor.argmax``, so that a beam of one writes what greedy search writes.

    Args:
        values: Shape (..., size).
        count: How many to take; all of them if there are fewer.

    Returns:
        The values and their places on the last axis, both of shape (..., min(count, size)).

    Raises:
        TypeError, ValueError: If count is not a whole number of at least 1.
    """
    require_whole("count", count)
    size = values.size(-1)
    if count < size:
        best, places = values.topk(count + 1)  # one more, to see whether the last one has a rival
        rivals = (best[..., 1:] == best[..., :-1]) & (best[..., 1:] > -torch.inf)
        if not rivals.any():
            return best[..., :count], places[..., :count]
    # A stable sort of everything is many times slower, and equal values are rare.
    best, places = values.sort(dim=-1, descending=True, stable=True)
    return best[..., :count], places[..., :count]


def require_possible(best_logits: Tensor, *, step: int | None = None) -> None:
    """Refuse logits of which no probabilities can be made: infinite, NaN, or all of them -inf.

    Args:
        best_logits: The largest logit of every row, any shape.
        step: At which step of writing, for the sentence.

    Raises:
        ValueError: If one of them is not finite.
    """
    finite = best_logits.isfinite()
    if not finite.all():
        got = best_logits[~finite][0].item()
        when = "" if step is None else f" at step {step}"
        raise ValueError(f"logits must have a finite maximum in every row, got {got}{when}")
