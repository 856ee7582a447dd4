"""A share for every head, in the place of its layer and number."""

import numpy as np
import pytest
import torch

from transformer_edu.teaching.head_shares import plot_head_shares

SHARES = torch.tensor([[0.0, 0.25, 1.0], [0.5, 0.125, 0.75]])
WORDS = {"label": "share of looks", "title": "Some do, some do not"}


def test_rows_are_layers_and_columns_are_heads_counted_from_one():
    axes, colour_bar = plot_head_shares(SHARES, **WORDS).axes
    np.testing.assert_array_equal(axes.images[0].get_array(), SHARES)
    assert axes.images[0].get_clim() == (0, 1)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["1", "2"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "2", "3"]
    assert (axes.get_ylabel(), axes.get_xlabel()) == ("decoder layer", "head")
    assert colour_bar.get_ylabel() == "share of looks"
    assert axes.get_title("left") == "Some do, some do not"


def test_every_share_is_written_in_its_cell():
    axes = plot_head_shares(SHARES, **WORDS).axes[0]
    written = {text.get_position(): text.get_text() for text in axes.texts}
    assert written[2, 0] == "1.00" and written[0, 1] == "0.50" and len(written) == 6


def test_more_heads_make_the_figure_wider_and_more_layers_higher():
    wide, high = (
        plot_head_shares(torch.zeros(shape), **WORDS).get_size_inches()
        for shape in ((2, 12), (12, 2))
    )
    assert wide[0] > high[0] and wide[1] < high[1]


def test_the_numbers_of_the_heads_stand_upright_below_them():
    labels = plot_head_shares(SHARES, **WORDS).axes[0].get_xticklabels()
    assert {(label.get_rotation(), label.get_ha()) for label in labels} == {(0, "center")}


@pytest.mark.parametrize(
    ("shares", "error", "message"),
    [
        ([[0.5]], TypeError, "shares must be a tensor of floating-point numbers, got list"),
        (torch.ones(3), ValueError, r"shares must have shape \(layer, head\) .* got \(3,\)"),
        (torch.ones(0, 3), ValueError, r"shares must have .* no empty axis, got \(0, 3\)"),
        (torch.full((2, 3), 1.5), ValueError, "shares must be from 0 to 1, got 1.5"),
        (torch.full((2, 3), float("nan")), ValueError, "shares must be from 0 to 1, got nan"),
    ],
    ids=["list", "no grid", "empty", "above one", "NaN"],
)
def test_what_is_no_grid_of_shares_is_refused(shares, error, message):
    with pytest.raises(error, match=message):
        plot_head_shares(shares, **WORDS)
