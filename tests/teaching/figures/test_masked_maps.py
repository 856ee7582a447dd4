"""The figures of lesson 03 cover hidden cells, and say what padding gets and what is hidden."""

import pytest
import torch

from transformer_edu.teaching.figures.masked_maps import plot_masked_heads, plot_padding_share
from transformer_edu.teaching.inspect.hidden_keys import BatchHead

WORDS = ["one", "two", "<pad>"]
REAL = torch.tensor([True, True, False])
WEIGHTS = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.5, 0.4], [0.0, 0.0, 1.0]])


def covered(axes) -> torch.Tensor:
    """Which cells of a map are covered."""
    return torch.tensor(axes.images[-1].get_array()) == 1


def test_the_title_says_what_the_words_give_to_padding():
    figure = plot_padding_share(WEIGHTS, WORDS, real=REAL)
    title = figure.axes[0].get_title("left")
    assert title == "The words give 30% of their attention to padding"
    assert figure.get_label().endswith(title)


@pytest.mark.parametrize("mask", [REAL, torch.ones(3, 3).tril().bool()])
def test_hidden_cells_are_covered_and_have_no_number(mask):
    axes = plot_padding_share(WEIGHTS, WORDS, real=REAL, mask=mask).axes[0]
    allowed = mask.expand(3, 3)
    assert covered(axes).equal(~allowed)
    places = {tuple(map(int, text.get_position()[::-1])) for text in axes.texts}
    assert places == set(map(tuple, allowed.nonzero().tolist()))


def test_without_a_mask_every_cell_has_its_number():
    axes = plot_padding_share(WEIGHTS, WORDS, real=REAL).axes[0]
    assert len(axes.images) == 1 and len(axes.texts) == 9


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
