"""Masks side by side are the masks that were given, in their order."""

import numpy as np
import pytest
import torch

from tests.hatching import hatched_corners
from transformer_edu.teaching.mask_row import MOST_MASKS, plot_mask_row

WORDS = ["<s>", "wait", "$here$", "<pad>"]
PADDING = torch.tensor([[True, True, True, False]])
CAUSAL = torch.ones(4, 4).tril().bool()
LABELS = {"query_tokens": WORDS, "key_tokens": WORDS, "title": "Both must allow"}


def test_every_mask_is_drawn_under_its_name():
    figure = plot_mask_row({"padding": PADDING, "causal": CAUSAL}, **LABELS)
    padding, causal = figure.axes
    assert padding.get_title("left") == "padding" and causal.get_title("left") == "causal"
    np.testing.assert_array_equal(padding.images[0].get_array(), PADDING.expand(4, 4).numpy())
    np.testing.assert_array_equal(causal.images[0].get_array(), CAUSAL.numpy())
    above = [(column - 0.5, row - 0.5) for row in range(4) for column in range(row + 1, 4)]
    assert hatched_corners(causal) == above


def test_the_axes_say_who_looks_at_whom():
    figure = plot_mask_row({"causal": CAUSAL}, **LABELS)
    assert "query" in figure.get_supylabel() and "key" in figure.get_supxlabel()


@pytest.mark.parametrize("count", [0, MOST_MASKS + 1])
def test_no_masks_and_too_many_are_refused(count):
    with pytest.raises(ValueError, match=f"masks must hold 1 to 4 masks, got {count}"):
        plot_mask_row({str(number): CAUSAL for number in range(count)}, **LABELS)


def test_a_mask_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="mask must broadcast to"):
        plot_mask_row({"small": CAUSAL[:3, :3]}, **LABELS)
