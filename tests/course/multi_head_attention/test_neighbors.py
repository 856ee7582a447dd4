"""The task has the neighbors as its answers, and a head that is off is not used."""

import itertools

import matplotlib.pyplot as plt
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.published import caught_explorers
from transformer_course.multi_head_attention import neighbors
from transformer_course.multi_head_attention.neighbors import (
    LENGTH,
    NUM_SYMBOLS,
    explore_head_switches,
    explore_switches,
    neighbor_accuracy,
    neighbor_sequences,
)
from transformer_edu.model.attention import MultiHeadAttention


class Knows(nn.Module):
    """Names the symbol before always; the symbol after only if it is even."""

    def __init__(self):
        super().__init__()
        self.attention = MultiHeadAttention(d_model=2, num_heads=1)  # not used

    def forward(self, symbols):
        before, after = symbols[:, :-2], symbols[:, 2:] // 2 * 2
        return F.one_hot(torch.stack([before, after], dim=-1), NUM_SYMBOLS).float()


class LooksAtNeighbors(nn.Module):
    """Head 1 attends to the position before, head 2 to the position after; nothing is learned."""

    def __init__(self):
        super().__init__()
        self.attention = MultiHeadAttention(d_model=2 * NUM_SYMBOLS, num_heads=2)
        for each in (self.attention.value_projection, self.attention.output_projection):
            nn.init.eye_(each.weight)
        nn.init.eye_(self.attention.key_projection.weight)
        self.attention.query_projection.weight.data = 100 * torch.eye(2 * NUM_SYMBOLS)
        place = torch.eye(LENGTH, NUM_SYMBOLS)
        self.query = torch.cat([place.roll(1, 0), place.roll(-1, 0)], dim=1)
        self.key = torch.cat([place, place], dim=1)

    def forward(self, symbols):
        value = F.one_hot(symbols, NUM_SYMBOLS).float().repeat(1, 1, 2)
        query, key = (each.expand(len(symbols), -1, -1) for each in (self.query, self.key))
        return self.attention(query, key, value).unflatten(-1, (2, -1))[:, 1:-1]


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


@pytest.mark.parametrize(("off", "right"), [([], 2), ([1], 1), ([2], 1), ([1, 2], 0)])
def test_without_a_head_one_neighbor_is_guessed(off, right):
    accuracy = neighbor_accuracy(LooksAtNeighbors(), without=off)
    assert [accuracy["before"] == 1.0, accuracy["after"] == 1.0].count(True) == right


def test_the_reader_can_switch_every_head(monkeypatch):
    explored = caught_explorers(monkeypatch, neighbors)
    explore_switches(LooksAtNeighbors())
    ((draw, describe, controls),) = explored
    assert list(controls) == ["head_1", "head_2"]
    (before, after, _, *outlines) = draw(head_1=False, head_2=True).axes[0].patches
    assert before.get_height() < 0.2 and after.get_height() == 1.0
    assert [outline.get_height() for outline in outlines] == [1.0] * 3
    assert describe(head_1=True, head_2=True).endswith("before, after, both")


@pytest.fixture
def explored(monkeypatch) -> list[tuple]:
    return caught_explorers(monkeypatch, neighbors)


def test_every_state_of_the_switches_is_drawn_and_described(explored):
    explore_head_switches(lambda off: {"both": 1 - len(off) / 2}, num_heads=2)
    ((draw, alt, controls),) = explored
    assert all(control.description for control in controls.values())
    first = draw(**{name: control.value for name, control in controls.items()})
    assert [bar.get_height() for bar in first.axes[0].patches] == [0.5, 1.0]  # and its outline
    for states in itertools.product([False, True], repeat=2):
        switches = dict(zip(controls, states, strict=True))
        draw(**switches)
        assert alt(**switches)
        plt.close("all")


def test_a_head_without_its_tick_is_switched_off(explored):
    explore_head_switches(lambda off: {"before": 0.0 if 1 in off else 1.0}, num_heads=2)
    ((draw, alt, controls),) = explored
    assert [control.description for control in controls.values()] == [
        "head 1 is on",
        "head 2 is on",
    ]
    on, off = {"head_1": True, "head_2": True}, {"head_1": False, "head_2": True}
    bar, outline = draw(**off).axes[0].patches
    assert (bar.get_height(), outline.get_height()) == (0, 1)
    assert alt(**on) == "All heads are on: right more than nine times in ten: before"
    assert alt(**off) == "head 1 switched off: right more than nine times in ten: none"
