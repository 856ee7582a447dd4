"""A task for an encoder: does the first of five symbols occur again?"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

SYMBOLS, LENGTH, D_MODEL, ROWS, STEPS = 6, 5, 32, 128, 100


def train_on_repeats(
    encoder: nn.Module, *, device: torch.device | str = "cpu", seed: int = 0
) -> list[float]:
    """Train an encoder, and a linear layer that reads the answer from its first vector.

    Args:
        encoder: Takes and returns (batch, position, 32), on this device.
        device: Where to compute.
        seed: Of the rows and of the linear layer.

    Returns:
        The loss after each of 100 steps of Adam, each with new rows.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        classifier = nn.Sequential(encoder, nn.Linear(D_MODEL, 2)).to(device)
    optimizer = torch.optim.Adam(classifier.parameters(), lr=3e-3)
    generator, losses = torch.Generator().manual_seed(seed), []
    table = torch.randn(SYMBOLS, D_MODEL, generator=generator)
    places = torch.randn(LENGTH, D_MODEL, generator=generator)
    for _ in range(STEPS):
        symbols = torch.randint(SYMBOLS, (ROWS, LENGTH), generator=generator)
        answers = occurs_again(symbols).long().to(device)
        logits = classifier((table[symbols] + places).to(device))[:, 0]
        loss = F.cross_entropy(logits, answers)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def occurs_again(symbols: Tensor) -> Tensor:
    """Whether the first symbol of each row occurs again, (row,), for symbols (row, position)."""
    return (symbols[:, 1:] == symbols[:, :1]).any(dim=1)
