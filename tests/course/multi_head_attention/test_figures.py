"""Every figure of lesson 04 has its title and says in words what it shows."""

from functools import partial

import pytest
import torch

from tests.room_figures import assert_it_says_what_it_shows
from transformer_course.multi_head_attention import figures
from transformer_course.multi_head_attention.neighbors import LENGTH, NeighborModel
from transformer_course.our_transformer import MultiHeadAttention

MODELS = [NeighborModel(MultiHeadAttention, heads) for heads in (1, 1, 2)]
NUMBERS = torch.arange(16).view(4, 4)
FIGURES = {
    "plot_accuracy": partial(figures.plot_accuracy, MODELS[:2], MODELS[:2]),
    "plot_neighbor_maps": partial(figures.plot_neighbor_maps, MODELS[:2], MODELS[2]),
    "plot_splits": partial(figures.plot_splits, NUMBERS, NUMBERS.view(2, 4, 2), NUMBERS),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_says_what_it_shows(name):
    assert_it_says_what_it_shows(FIGURES[name]())


def test_titles_claim_only_what_the_maps_and_the_splits_show():
    assert "one neighbor" not in FIGURES["plot_neighbor_maps"]().get_suptitle()
    learned = NeighborModel(MultiHeadAttention, 2)
    maps = torch.stack([torch.eye(LENGTH).roll(shift, dims=0) for shift in (1, -1)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figures, "neighbor_maps", lambda model, num_heads: maps[:num_heads])
        assert "one neighbor" in figures.plot_neighbor_maps([learned], learned).get_suptitle()
    right, view = NUMBERS.unflatten(-1, (2, 2)).transpose(0, 1), NUMBERS.view(2, 4, 2)
    assert "view gives it half" in figures.plot_splits(NUMBERS, right, view).get_suptitle()
    assert "view" not in figures.plot_splits(NUMBERS, right, right).get_suptitle()
