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


@pytest.mark.parametrize(
    ("shares", "message"),
    [
        (torch.ones(3), r"shares must have shape \(layer, head\), got \(3,\)"),
        (torch.full((2, 3), 1.5), "must be from 0 to 1, got 1.5"),
        (torch.full((2, 3), float("nan")), "must be from 0 to 1, got nan"),
        (torch.ones(0, 3), "must be 1 to 400 tokens, got 0"),
    ],
    ids=["no grid", "above one", "NaN", "empty"],
)
def test_what_is_no_grid_of_shares_is_refused(shares, message):
    with pytest.raises(ValueError, match=message):
        plot_head_shares(shares, **WORDS)
