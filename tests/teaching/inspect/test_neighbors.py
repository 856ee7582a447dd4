"""The task with two lookups: its answers, and what is counted."""

import torch
import torch.nn.functional as F
from torch import nn

from transformer_edu.teaching.inspect.neighbors import (
    LENGTH,
    NUM_SYMBOLS,
    neighbor_accuracy,
    neighbor_sequences,
)


class Knows(nn.Module):
    """Names the symbol before always; the symbol after only if it is even."""

    def __init__(self):
        super().__init__()
        self.unused = nn.Parameter(torch.zeros(1))

    def forward(self, symbols):
        before, after = symbols[:, :-2], symbols[:, 2:] // 2 * 2
        return F.one_hot(torch.stack([before, after], dim=-1), NUM_SYMBOLS).float()


def test_the_answers_are_the_neighbors_of_every_inner_place():
    symbols, answers = neighbor_sequences(3, seed=1)
    assert symbols.shape == (3, LENGTH) and answers.shape == (3, LENGTH - 2, 2)
    for place in range(1, LENGTH - 1):
        neighbors = symbols[:, [place - 1, place + 1]]
        torch.testing.assert_close(answers[:, place - 1], neighbors)


def test_a_seed_gives_the_same_sequences_and_leaves_the_state_of_torch_alone():
    state = torch.get_rng_state()
    first, second = (neighbor_sequences(5, seed=2)[0] for _ in range(2))
    assert torch.equal(first, second)
    assert torch.equal(torch.get_rng_state(), state)
    assert not torch.equal(neighbor_sequences(5)[0], neighbor_sequences(5)[0])


def test_both_counts_places_where_both_symbols_are_right():
    accuracy = neighbor_accuracy(Knows())
    assert accuracy["before"] == 1.0
    assert 0.4 < accuracy["after"] < 0.6
    assert accuracy["both"] == accuracy["after"]
