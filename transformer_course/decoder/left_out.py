"""What a decoder's output loses when a word of one of its inputs is left out."""

import torch
from torch import Tensor, nn

ROUNDING = 1e-5  # a smaller change is none


@torch.no_grad()
def change_without(
    decoder: nn.Module, x: Tensor, memory: Tensor, target_mask: Tensor, *, side: str
) -> Tensor:
    """How much each output of a decoder changes without each word: its vector becomes 0.

    All copies of the sentence run as one batch; in copy j, vector j is 0.

    Args:
        decoder: Called with target, memory and target mask.
        x: Of one target, shape (1, target position, d_model).
        memory: Shape (1, source position, d_model).
        target_mask: True where a query may attend to a key.
        side: Where a word is left out, "memory" or "target".

    Returns:
        The norm of the change divided by that of the output, (target position, word left out).
    """
    if side not in ("memory", "target"):
        raise ValueError(f"side must be memory or target, got {side!r}")
    words = (memory if side == "memory" else x).size(1)
    lacking = 1 - torch.eye(words, device=x.device).unsqueeze(-1)  # (copy, word, 1)
    targets, memories = x.expand(words, -1, -1), memory.expand(words, -1, -1)
    if side == "memory":
        memories = memories * lacking
    else:
        targets = targets * lacking
    output = decoder(x, memory, target_mask)
    change = (decoder(targets, memories, target_mask) - output).norm(dim=-1)  # (copy, position)
    change = change / output.norm(dim=-1)
    return change.masked_fill(change < ROUNDING, 0).T
