"""The task has the neighbors as its answers, and two heads can learn it."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from transformer_course.multi_head_attention.neighbors import (
    LENGTH,
    NUM_SYMBOLS,
    NeighborModel,
    neighbor_accuracy,
    neighbor_maps,
    neighbor_sequences,
    teach,
)
from transformer_course.our_transformer import MultiHeadAttention


class Knows(nn.Module):
    """Names the symbol before always; the symbol after only if it is even."""

    def __init__(self):
        super().__init__()
        self.anywhere = nn.Parameter(torch.zeros(()))  # says on which device it is

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


def test_two_heads_learn_the_task_and_their_maps_are_rows_of_weights():
    torch.manual_seed(0)
    model = NeighborModel(MultiHeadAttention, 2)
    assert neighbor_accuracy(model)["both"] < 0.05
    assert teach(model) is model
    assert neighbor_accuracy(model)["both"] > 0.95
    maps = neighbor_maps(model, num_heads=2)
    assert maps.shape == (2, LENGTH, LENGTH)
    torch.testing.assert_close(maps.sum(dim=-1), torch.ones(2, LENGTH))
    sides = maps[:, 1:-1].argmax(dim=-1) - torch.arange(1, LENGTH - 1)
    assert sorted(sides.unique(dim=1).flatten().tolist()) == [-1, 1]


@pytest.mark.parametrize("num_heads", [0, 3])
def test_heads_that_do_not_divide_the_width_are_refused(num_heads):
    with pytest.raises(ValueError, match=f"num_heads must divide the width 32, got {num_heads}"):
        NeighborModel(MultiHeadAttention, num_heads)
