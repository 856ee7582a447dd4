"""A task with two lookups at once: name the symbol before and the symbol after every position.

Used in notebooks/04_multi_head_attention.ipynb. One layer of attention without a feed-forward
network learns it with two heads; with one head it cannot.
"""

import torch
from torch import Tensor, nn

NUM_SYMBOLS, LENGTH = 30, 8
NUM_TESTED = 1000  # sequences


def neighbor_sequences(count: int, *, seed: int | None = None) -> tuple[Tensor, Tensor]:
    """Random sequences, and the two neighbors of every inner position.

    Args:
        count: The number of sequences.
        seed: For the same sequences every time; torch's own random state when None.

    Returns:
        Symbols (count, LENGTH) and answers (count, LENGTH - 2, 2): before, after.
    """
    generator = None if seed is None else torch.Generator("cpu").manual_seed(seed)
    symbols = torch.randint(NUM_SYMBOLS, (count, LENGTH), generator=generator, device="cpu")
    return symbols, torch.stack([symbols[:, :-2], symbols[:, 2:]], dim=-1)


def neighbor_accuracy(model: nn.Module) -> dict[str, float]:
    """The fraction of positions at which a model's best symbols are right, in new sequences.

    Args:
        model: From symbols (batch, LENGTH) to logits (batch, LENGTH - 2, 2, NUM_SYMBOLS).

    Returns:
        For the word before, for the word after, and for both at the same position.
    """
    symbols, answers = neighbor_sequences(NUM_TESTED, seed=0)
    device = next(model.parameters()).device
    with torch.no_grad():
        right = model(symbols.to(device)).argmax(dim=-1).cpu() == answers
    before, after = right.float().mean(dim=(0, 1)).tolist()
    both = right.all(dim=-1).float().mean().item()
    return {"before": before, "after": after, "both": both}
