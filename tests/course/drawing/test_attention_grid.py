"""Pictures of attention, masks and reach show the numbers they are given, rows down."""

import math
from itertools import combinations

import numpy as np
import pytest
import torch

from tests.hatching import hatched_corners
from transformer_course.drawing.attention_grid import (
    plot_attention,
    plot_heads,
    plot_links,
    plot_mask_row,
    plot_masked_heads,
    plot_padding_share,
)
from transformer_course.looking.found_heads import BatchHead

QUERY_TOKENS = ["das", "Haus"]
KEY_TOKENS = ["the", "old", "house"]
WEIGHTS = torch.tensor([[0.1, 0.2, 0.7], [0.0, 0.4, 0.6]])
MASK = torch.tensor([[True, False, True], [False, False, True]])
LABELS = {"query_tokens": QUERY_TOKENS, "key_tokens": KEY_TOKENS, "title": "t"}


def texts(axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def numbers(axes) -> np.ndarray:
    return np.asarray(axes.images[0].get_array())


def test_the_grid_is_the_weights_not_transposed_with_their_numbers():
    weights = WEIGHTS.clone().requires_grad_()
    axes = plot_attention(weights, **LABELS).axes[0]
    np.testing.assert_array_equal(numbers(axes), WEIGHTS)
    assert [label.get_text() for label in axes.get_yticklabels()] == QUERY_TOKENS
    assert [label.get_text() for label in axes.get_xticklabels()] == KEY_TOKENS
    assert texts(axes) == ["0.10", "0.20", "0.70", "0.00", "0.40", "0.60"]
    assert weights.grad is None


def test_no_text_around_a_small_grid_touches_another():
    labels = LABELS | {"key_tokens": ["a", "b"], "title": "a title that is as wide as the picture"}
    axes, bar = plot_attention(WEIGHTS[:, 1:], **labels).axes
    axes.figure.canvas.draw()
    around = [axes.title, axes._left_title, axes.xaxis.label, axes.yaxis.label, bar.yaxis.label]
    around += [*axes.get_xticklabels(), *axes.get_yticklabels(), *bar.get_yticklabels()]
    boxes = [text.get_window_extent() for text in around if text.get_text()]
    assert len(boxes) == 4 + 2 + 2 + 3
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


def test_every_head_has_its_own_grid():
    heads = torch.stack([WEIGHTS, WEIGHTS.flip(0), WEIGHTS.flip(1), WEIGHTS, WEIGHTS])
    grids = [axes for axes in plot_heads(heads, **LABELS).axes if axes.images]
    for axes, weights in zip(grids, heads, strict=True):
        np.testing.assert_array_equal(numbers(axes), weights)


@pytest.mark.parametrize("mask", [MASK, torch.tensor([True, True, False])], ids=["grid", "keys"])
def test_a_mask_is_filled_where_a_query_may_attend_and_hatched_elsewhere(mask):
    allowed = mask.expand(2, 3)
    hidden = [(column - 0.5, row - 0.5) for row, column in (~allowed).nonzero().tolist()]
    axes = plot_mask_row({"a": mask}, **LABELS).axes[0]
    np.testing.assert_array_equal(numbers(axes), allowed)
    assert hatched_corners(axes) == hidden
    assert hatched_corners(plot_attention(WEIGHTS, **LABELS, mask=mask).axes[0]) == hidden


def test_every_mask_of_a_row_is_drawn_under_its_name():
    masks = {"first": MASK, "second": ~MASK}
    for axes, (name, mask) in zip(plot_mask_row(masks, **LABELS).axes, masks.items(), strict=True):
        assert axes.get_title("left") == name
        np.testing.assert_array_equal(numbers(axes), mask)


def test_a_link_leads_from_its_query_to_its_key_and_is_as_wide_as_its_weight():
    lines = plot_links(WEIGHTS, **LABELS).axes[0].lines
    assert len(lines) == 5  # the weight of zero has no line
    ends = [tuple(line.get_xdata()) for line in lines]
    places = [(q, k) for q in (0.25, 0.75) for k in (1 / 6, 1 / 2, 5 / 6)]
    np.testing.assert_allclose(ends, places[:3] + places[4:])
    widths = [line.get_linewidth() for line in lines]
    assert np.argsort(widths).tolist() == [0, 1, 3, 4, 2]


def test_links_of_one_query_alone():
    axes = plot_links(WEIGHTS, **LABELS, only_query=1).axes[0]
    assert {line.get_xdata()[0] for line in axes.lines} == {0.75}
    assert [text.get_text() for text in axes.texts if text.get_weight() == "bold"] == ["Haus"]


@pytest.mark.parametrize("wrong", [math.nan, -0.1, 1.5, math.inf])
def test_what_is_not_a_weight_is_refused(wrong):
    with pytest.raises(ValueError, match="attention_weights must be from 0 to 1, got"):
        plot_attention(WEIGHTS * 0 + wrong, **LABELS)


@pytest.mark.parametrize("draw", [plot_attention, plot_links])
def test_weights_that_do_not_fit_the_tokens_are_refused(draw):
    with pytest.raises(ValueError, match=r"must have shape \(2, 3\) .* tokens, got \(3, 2\)"):
        draw(WEIGHTS.T, **LABELS)


WORDS = ["one", "two", "<pad>"]
REAL = torch.tensor([True, True, False])
PADDED = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.5, 0.4], [0.0, 0.0, 1.0]])


def covered(axes) -> torch.Tensor:
    """Which cells of a map are covered."""
    return torch.tensor(axes.images[-1].get_array()) == 1


def test_the_title_says_what_the_words_give_to_padding():
    figure = plot_padding_share(PADDED, WORDS, real=REAL)
    title = figure.axes[0].get_title("left")
    assert title == "The words give 30% of their attention to padding"
    assert figure.get_label().endswith(title)


@pytest.mark.parametrize("mask", [REAL, torch.ones(3, 3).tril().bool()])
def test_hidden_cells_are_covered_and_have_no_number(mask):
    axes = plot_padding_share(PADDED, WORDS, real=REAL, mask=mask).axes[0]
    allowed = mask.expand(3, 3)
    assert covered(axes).equal(~allowed)
    places = {tuple(map(int, text.get_position()[::-1])) for text in axes.texts}
    assert places == set(map(tuple, allowed.nonzero().tolist()))


def test_without_a_mask_every_cell_has_its_number():
    axes = plot_padding_share(PADDED, WORDS, real=REAL).axes[0]
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
