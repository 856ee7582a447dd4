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
        assert "one neighbor" in figures.plot_neighbor_maps(MODELS[:1], learned).get_suptitle()
    right, view = NUMBERS.unflatten(-1, (2, 2)).transpose(0, 1), NUMBERS.view(2, 4, 2)
    assert "view gives it half" in figures.plot_splits(NUMBERS, right, view).get_suptitle()
    assert "view" not in figures.plot_splits(NUMBERS, right, right).get_suptitle()


FOUR = NeighborModel(MultiHeadAttention, 4)


def test_models_with_another_number_of_heads_are_named_by_it():
    figure = figures.plot_neighbor_maps(MODELS[:1], FOUR)
    assert figure.get_suptitle() == "Maps of models with one head and of one with 4 heads"
    names = [axes.get_title(loc="left") for axes in figure.axes]
    assert names[:2] == ["one head, run 1", "4 heads, head 1"] and "4 heads, head 4" in names
    assert figure.get_label().startswith("5 maps")
    names = [axes.get_title(loc="left") for axes in figures.plot_neighbor_maps([FOUR], FOUR).axes]
    assert {"4 heads, run 1, head 1", "4 heads, run 1, head 4", "4 heads, head 1"} <= {*names}
    assert "worst with 4 heads" in figures.plot_accuracy(MODELS[:1], [FOUR]).get_label()
    again = figures.plot_accuracy(MODELS[:1], MODELS[1:2]).get_label()
    assert "best run with one head " in again and "worst with one head, again " in again


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: figures.plot_accuracy([], [FOUR]), "one_head must be a list .* got none"),
        (lambda: figures.plot_accuracy(FOUR, [FOUR]), "one_head must .* got NeighborModel"),
        (lambda: figures.plot_neighbor_maps(MODELS, [FOUR]), "two_heads must .* a list of 1"),
        (
            lambda: figures.plot_splits(*[torch.arange(24).view(6, 4)] * 3),
            r"in four rows, a row for each word, got torch.int64 \(6, 4\)",
        ),
        (lambda: figures.plot_splits(*[NUMBERS.float()] * 3), "got torch.float32"),
    ],
)
def test_what_cannot_be_drawn_is_refused(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()
