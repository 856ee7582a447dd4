"""Greedy search: the most probable token at every step (paper §6.1).

Met in notebooks/00_start_here.ipynb, 08_decoder.ipynb and 12_generation.ipynb.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from transformer_edu.generation.continuation import Targets
from transformer_edu.generation.evaluation_mode import evaluation_mode
from transformer_edu.model.refusals import require_callable


def greedy_search(
    model: nn.Module,
    source_ids: Tensor,
    *,
    max_length: int | None = None,
    start_id: int | None = None,
    end_id: int | None = None,
    cached: bool = True,
    end_loops: bool = False,
    after_step: Callable[[Tensor], None] | None = None,
) -> list[list[int]]:
    """Write one target for each source, every token the argmax of the model's logits.

    A row ends at its end token or at its maximum length, whenever the other rows end.

    Args:
        model: Has ``source_mask``, ``encode``, ``decode`` and ``project``, as Transformer has.
        source_ids: Sources, padded at the end, shape (batch, source position).
        max_length: The most tokens to write in a row, the end token included; None allows
            EXTRA_LENGTH more than the row's source has, and never more than the model can.
        start_id, end_id: What a row starts with and what ends it; None takes the config's.
        cached: Whether to keep keys and values from step to step, where the model can.
        end_loops: Whether to forbid a token that would repeat an n-gram three times in a row (see
            ``looping_tokens``), and targets longer than twice the source and LOOP_LENGTH.
        after_step: Called after every step with all ids so far, start token first, shape
            (batch, target position); rows that have ended repeat their end token.

    Returns:
        For each source the ids written, without start, end and padding.

    Raises:
        TypeError, ValueError: If an argument has the wrong type or is out of its range, a source
            holds only padding, or the model's logits are NaN or infinite.
    """
    require_callable("after_step", after_step)
    with evaluation_mode(model):
        ends = {"max_length": max_length, "start_id": start_id, "end_id": end_id}
        targets = Targets(model, source_ids, **ends, cached=cached, end_loops=end_loops)
        limits = source_ids.new_tensor(targets.limits)  # (batch,)
        done = torch.zeros_like(limits, dtype=torch.bool)  # (batch,)
        while not done.all():
            next_ids = targets.next_logits().argmax(dim=-1)  # (batch,)
            next_ids = next_ids.masked_fill(done, targets.end_id)
            targets.append(next_ids)
            done = done | (next_ids == targets.end_id) | (limits < targets.written.size(1))
            if after_step is not None:
                after_step(targets.written.clone())
    return [targets.read(row) for row in targets.written.tolist()]
