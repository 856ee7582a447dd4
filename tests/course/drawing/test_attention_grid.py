"""Grids of attention show the numbers they are given, rows down."""

import math
from itertools import combinations

import numpy as np
import pytest
import torch

from tests.hatching import hatched_corners
from transformer_course.attention.links import plot_links
from transformer_course.drawing.attention_grid import plot_attention, plot_heads
from transformer_course.masks.masked_maps import (
    plot_mask_row,
)

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


@pytest.mark.parametrize("kind", [torch.Tensor.numpy, torch.Tensor.tolist])
def test_an_array_and_lists_are_drawn_as_a_tensor_is_and_numbers_are_labels(kind):
    labels = LABELS | {"key_tokens": range(3)}
    axes = plot_attention(kind(WEIGHTS), **labels).axes[0]
    np.testing.assert_array_equal(numbers(axes), WEIGHTS)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0", "1", "2"]


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


@pytest.mark.parametrize("wrong", [math.nan, -0.1, 1.5, math.inf])
def test_what_is_not_a_weight_is_refused(wrong):
    with pytest.raises(ValueError, match="attention_weights must be from 0 to 1, got"):
        plot_attention(WEIGHTS * 0 + wrong, **LABELS)


@pytest.mark.parametrize("draw", [plot_attention, plot_links])
def test_weights_that_do_not_fit_the_tokens_are_refused(draw):
    with pytest.raises(ValueError, match=r"must have shape \(2, 3\) .* tokens, got \(3, 2\)"):
        draw(WEIGHTS.T, **LABELS)
