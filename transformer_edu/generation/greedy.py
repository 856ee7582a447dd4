"""Greedy search: at every step the likeliest token, never taken back (paper §6.1).

Met in notebooks/00_start_here.ipynb, 08_decoder.ipynb and 11_generation.ipynb.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from transformer_edu.generation.continuation import Writing
from transformer_edu.generation.evaluation_mode import evaluation_mode
from transformer_edu.model.vocabulary import END_ID, START_ID
from transformer_edu.refusals import require_callable


def greedy_search(
    model: nn.Module,
    source_ids: Tensor,
    *,
    max_length: int | None = None,
    start_id: int = START_ID,
    end_id: int = END_ID,
    cached: bool = True,
    after_step: Callable[[Tensor], None] | None = None,
) -> list[list[int]]:
    """Write one target for each source, every token the argmax of the model's logits.

    No token is forbidden. A row is done at its end token or at its maximum length, and does not
    depend on when the others are done.

    Args:
        model: What ``Continuation`` takes; its modes are as before in the end.
        source_ids: Sources of any lengths, padded at the end, shape (batch, source position).
        max_length: The most tokens to write in a row, the end token included; None allows
            EXTRA_LENGTH more than the row's source has, and never more than the model can.
        start_id, end_id: The decoder's first input, and the token that ends a row.
        cached: Whether to keep keys and values where the model can: less work, same tokens.
        after_step: Called after every step with all ids so far, start token first, shape
            (batch, target position); rows that are done repeat their end token.

    Returns:
        For each source the ids written, without start, end and padding.

    Raises:
        TypeError, ValueError: If an argument is of another type or out of its range, a source is
            all padding, or the model answers NaN or infinity.
    """
    require_callable("after_step", after_step)
    with evaluation_mode(model):
        tokens = {"start_id": start_id, "end_id": end_id}
        writing = Writing(model, source_ids, max_length=max_length, **tokens, cached=cached)
        target, limits = writing.target, source_ids.new_tensor(writing.limits)  # (batch,)
        done = torch.zeros_like(limits, dtype=torch.bool)  # (batch,)
        while not done.all():
            next_ids = target.next_logits().argmax(dim=-1).masked_fill(done, end_id)  # (batch,)
            target.append(next_ids)
            done = done | (next_ids == end_id) | (limits < target.written.size(1))
            if after_step is not None:
                after_step(target.written.clone())
    return [writing.read(row) for row in target.written.tolist()]
