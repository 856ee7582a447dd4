"""How much each input word influences the vector of a word, after each layer of an encoder."""

import torch
from torch import Tensor, nn

ROUNDING = 1e-5  # a smaller change of a vector is no influence


@torch.no_grad()
def influence(encoder: nn.Module, x: Tensor, word: int, mask: Tensor | None = None) -> Tensor:
    """How much each input word influences one word, as fractions that sum to 1.

    One input word at a time is left out: its vector becomes 0. The copies of the sentence run as
    one batch.

    Args:
        encoder: Has ``layers``, called with vectors and a mask.
        x: Of one sentence, before the first layer, shape (1, word, d_model).
        word: The index of the word whose vector is watched.
        mask: True where a query may attend to a key, shape (word, word).

    Returns:
        Shape (layer, input word).
    """
    full = x.expand(x.size(1), -1, -1)  # (copy, word, d_model)
    lacking = full * (1 - torch.eye(x.size(1), device=x.device)).unsqueeze(-1)
    changes = []
    for layer in encoder.layers:
        full, lacking = layer(full, mask), layer(lacking, mask)
        changes.append((lacking - full)[:, word].norm(dim=-1))
    found = torch.stack(changes)
    found = found.masked_fill(found < ROUNDING, 0)
    return found / found.sum(dim=1, keepdim=True)
