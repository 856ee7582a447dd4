"""Hidden cells are hatched, and never look like a weight of 0."""

import numpy as np
import torch

from transformer_course.masks.masked_heads import BatchHead
from transformer_course.masks.masked_maps import (
    plot_mask_row,
    plot_masked_heads,
)

QUERY_TOKENS = ["das", "Haus"]
KEY_TOKENS = ["the", "old", "house"]
MASK = torch.tensor([[True, False, True], [False, False, True]])
LABELS = {"query_tokens": QUERY_TOKENS, "key_tokens": KEY_TOKENS, "title": "t"}


def numbers(axes) -> np.ndarray:
    return np.asarray(axes.images[0].get_array())


def test_every_mask_of_a_row_is_drawn_under_its_name():
    masks = {"first": MASK, "second": ~MASK}
    for axes, (name, mask) in zip(plot_mask_row(masks, **LABELS).axes, masks.items(), strict=True):
        assert axes.get_title("left") == name
        np.testing.assert_array_equal(numbers(axes), mask)


WORDS = ["one", "two", "<pad>"]


def covered(axes) -> torch.Tensor:
    """Which cells of a map are covered."""
    return torch.tensor(axes.images[-1].get_array()) == 1


def test_a_panel_shows_the_chosen_sentence_with_its_mask():
    mask = torch.tensor([[[True, True, True]], [[True, True, False]]])
    w_query, w_key, w_value = torch.randn(3, 4, 2)
    head = BatchHead(
        [["a", "b", "c"], WORDS], mask, torch.randn(2, 3, 4), w_query, w_key, w_value, mask
    )
    figure = plot_masked_heads({"padding": (head, 1)})
    axes = figure.axes[0]
    torch.testing.assert_close(
        torch.tensor(axes.images[0].get_array()), head.attention_weights()[1]
    )
    assert covered(axes).equal(~mask[1].expand(3, 3))
    assert [label.get_text() for label in axes.get_yticklabels()] == WORDS
    assert "padding: 3 of 9" in figure.get_label()
