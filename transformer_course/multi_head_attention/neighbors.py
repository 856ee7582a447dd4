"""The task of lesson 04: which symbols are before and after a position? One head is too few."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_edu.model.attention import attention_weights
from transformer_edu.training.machine.device import device_of

NUM_SYMBOLS, LENGTH, WIDTH = 30, 8, 32
NUM_TESTED = 1000  # sequences
GUESSING = 1 / NUM_SYMBOLS  # the accuracy of guessing
STEPS, BATCH, LEARNING_RATE = 300, 64, 0.003


class NeighborModel(nn.Module):
    """One layer of attention between learned vectors and two answers.

    Args:
        attention: A class, called with d_model and num_heads.
        num_heads: Of it; a divisor of WIDTH.
    """

    def __init__(self, attention: type[nn.Module], num_heads: int) -> None:
        super().__init__()
        if num_heads < 1 or WIDTH % num_heads:
            raise ValueError(f"num_heads must divide the width {WIDTH}, got {num_heads}")
        self.num_heads = num_heads
        self.position, self.symbol = nn.Embedding(LENGTH, WIDTH), nn.Embedding(NUM_SYMBOLS, WIDTH)
        self.attention = attention(WIDTH, num_heads)
        self.answer = nn.Linear(WIDTH, 2 * NUM_SYMBOLS)

    def forward(self, symbols: Tensor) -> Tensor:
        """Symbols (batch, LENGTH) → logits (batch, LENGTH - 2, 2, NUM_SYMBOLS)."""
        position = self.position.weight.expand(len(symbols), -1, -1)  # (batch, LENGTH, WIDTH)
        output = self.attention(position, position, self.symbol(symbols))
        return self.answer(output).unflatten(-1, (2, NUM_SYMBOLS))[:, 1:-1]


def neighbor_sequences(
    count: int, *, seed: int | None = None, device: torch.device | str = "cpu"
) -> tuple[Tensor, Tensor]:
    """Random sequences, and the two neighbors of every inner position.

    Args:
        count: The number of sequences.
        seed: For the same sequences every time; torch's own random state when None.
        device: Where the tensors go; they are the same on every device.

    Returns:
        Symbols (count, LENGTH) and answers (count, LENGTH - 2, 2): before, after.
    """
    generator = None if seed is None else torch.Generator("cpu").manual_seed(seed)
    symbols = torch.randint(NUM_SYMBOLS, (count, LENGTH), generator=generator, device="cpu")
    symbols = symbols.to(device)
    return symbols, torch.stack([symbols[:, :-2], symbols[:, 2:]], dim=-1)


def teach(model: nn.Module) -> nn.Module:
    """Train a model to name both neighbors, with cross-entropy and Adam, and return it.

    Args:
        model: From symbols (batch, LENGTH) to logits (batch, LENGTH - 2, 2, NUM_SYMBOLS).
    """
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    for _ in range(STEPS):
        symbols, answers = neighbor_sequences(BATCH, device=device_of(model))
        loss = F.cross_entropy(model(symbols).flatten(0, 2), answers.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model


def neighbor_accuracy(model: nn.Module) -> dict[str, float]:
    """The fraction of positions at which a model's best symbols are right, in new sequences.

    Args:
        model: As for teach.

    Returns:
        For the symbol before, for the symbol after, and for both at the same position.
    """
    symbols, answers = neighbor_sequences(NUM_TESTED, seed=0, device=device_of(model))
    with torch.no_grad():
        right = model(symbols).argmax(dim=-1) == answers
    before, after = right.float().mean(dim=(0, 1)).tolist()
    both = right.all(dim=-1).float().mean().item()
    return {"before": before, "after": after, "both": both}


def neighbor_maps(model: nn.Module, *, num_heads: int) -> Tensor:
    """The attention weights of every head, shape (head, LENGTH, LENGTH).

    Args:
        model: Its queries and keys are made from position.weight, by the projections in attention.
        num_heads: The number of heads in attention.
    """
    layers = (model.attention.query_projection, model.attention.key_projection)
    with torch.no_grad():
        projected = [layer(model.position.weight) for layer in layers]
        query, key = (x.unflatten(-1, (num_heads, -1)).transpose(0, 1) for x in projected)
        return attention_weights(query, key)
