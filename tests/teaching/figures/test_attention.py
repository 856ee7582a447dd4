"""Pictures of attention and masks show the numbers they are given, rows down, columns across."""

from itertools import combinations

import numpy as np
import pytest
import torch

from tests.hatching import hatched_corners
from transformer_edu.teaching.figures.attention import (
    plot_attention,
    plot_heads,
    plot_links,
    plot_mask,
    plot_mask_row,
)
from transformer_edu.teaching.figures.grid import LARGEST_GRID

QUERY_TOKENS = ["das", "Haus"]
KEY_TOKENS = ["the", "old", "house"]
WEIGHTS = torch.tensor([[0.1, 0.2, 0.7], [0.0, 0.4, 0.6]])
LABELS = {"query_tokens": QUERY_TOKENS, "key_tokens": KEY_TOKENS, "title": "who looks where"}


def texts(axes) -> list[str]:
    return [text.get_text() for text in axes.texts]


def test_the_grid_is_the_weights_not_transposed():
    axes = plot_attention(WEIGHTS, **LABELS).axes[0]
    np.testing.assert_allclose(axes.images[0].get_array(), WEIGHTS.numpy())
    assert [label.get_text() for label in axes.get_yticklabels()] == QUERY_TOKENS
    assert [label.get_text() for label in axes.get_xticklabels()] == KEY_TOKENS


def test_no_text_around_a_small_grid_touches_another():
    labels = LABELS | {"key_tokens": ["a", "b"], "title": "a title that is as wide as the picture"}
    axes, bar = plot_attention(WEIGHTS[:, 1:], **labels).axes
    axes.figure.canvas.draw()
    around = [axes.title, axes._left_title, axes.xaxis.label, axes.yaxis.label, bar.yaxis.label]
    around += [*axes.get_xticklabels(), *axes.get_yticklabels(), *bar.get_yticklabels()]
    boxes = [text.get_window_extent() for text in around if text.get_text()]
    assert len(boxes) == 4 + 2 + 2 + 3
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


def test_colors_always_run_from_zero_to_one():
    assert plot_attention(WEIGHTS / 10, **LABELS).axes[0].images[0].get_clim() == (0, 1)


def test_small_grids_carry_their_numbers():
    assert texts(plot_attention(WEIGHTS, **LABELS).axes[0])[:3] == ["0.10", "0.20", "0.70"]


def test_hidden_cells_are_hatched():
    mask = torch.tensor([True, True, False])
    axes = plot_attention(WEIGHTS, **LABELS, mask=mask).axes[0]
    assert hatched_corners(axes) == [(1.5, -0.5), (1.5, 0.5)]


def test_control_characters_and_endless_tokens_stay_on_one_short_line():
    tokens = ["a\nb", "x" * 1000, "c"]
    labels = plot_attention(WEIGHTS, **(LABELS | {"key_tokens": tokens})).axes[0].get_xticklabels()
    assert labels[0].get_text() == r"a\nb"
    assert len(labels[1].get_text()) < 30


def test_the_learners_tensor_is_left_alone():
    weights = WEIGHTS.clone().requires_grad_()
    plot_attention(weights, **LABELS)
    assert weights.requires_grad and weights.grad is None
    assert torch.equal(weights, WEIGHTS)


def test_every_head_has_its_own_grid():
    heads = torch.stack([WEIGHTS, WEIGHTS.flip(0), WEIGHTS.flip(1), WEIGHTS, WEIGHTS])
    grids = [axes for axes in plot_heads(heads, **LABELS).axes if axes.images]
    assert len(grids) == len(heads)
    for axes, weights in zip(grids, heads, strict=True):
        np.testing.assert_allclose(axes.images[0].get_array(), weights.numpy())


def test_a_mask_is_filled_where_a_query_may_look_and_hatched_elsewhere():
    mask = torch.tensor([[True, False, True], [False, False, True]])
    axes = plot_mask(mask, **LABELS).axes[0]
    np.testing.assert_array_equal(axes.images[0].get_array(), mask.numpy())
    assert len(hatched_corners(axes)) == int((~mask).sum())


def test_a_padding_mask_is_drawn_for_every_query():
    axes = plot_mask(torch.tensor([True, True, False]), **LABELS).axes[0]
    assert axes.images[0].get_array().tolist() == [[True, True, False]] * 2


def test_a_link_is_as_strong_as_its_weight():
    lines = plot_links(WEIGHTS, **LABELS).axes[0].lines
    widths = [line.get_linewidth() for line in lines]
    assert len(lines) == 5  # the weight of zero has no line
    assert widths[2] == max(widths)


def test_links_of_one_query_alone():
    axes = plot_links(WEIGHTS, **LABELS, only_query=1).axes[0]
    assert len(axes.lines) == 2
    bold = [text.get_text() for text in axes.texts if text.get_weight() == "bold"]
    assert bold == ["Haus"]


WORDS = ["<s>", "wait", "$here$", "<pad>"]
PADDING = torch.tensor([[True, True, True, False]])
CAUSAL = torch.ones(4, 4).tril().bool()
MASK_ROW_LABELS = {"query_tokens": WORDS, "key_tokens": WORDS, "title": "Both must allow"}


def test_every_mask_is_drawn_under_its_name():
    figure = plot_mask_row({"padding": PADDING, "causal": CAUSAL}, **MASK_ROW_LABELS)
    padding, causal = figure.axes
    assert padding.get_title("left") == "padding" and causal.get_title("left") == "causal"
    np.testing.assert_array_equal(padding.images[0].get_array(), PADDING.expand(4, 4).numpy())
    np.testing.assert_array_equal(causal.images[0].get_array(), CAUSAL.numpy())
    above = [(column - 0.5, row - 0.5) for row in range(4) for column in range(row + 1, 4)]
    assert hatched_corners(causal) == above


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (
            lambda: plot_attention(WEIGHTS.T, **LABELS),
            r"must have shape \(2, 3\) to fit the tokens, got \(3, 2\)",
        ),
        (lambda: plot_heads(WEIGHTS, **LABELS), r"must have shape \(2, 3\) .*, got \(3,\)"),
        *(
            (
                lambda wrong=wrong: plot_attention(WEIGHTS * 0 + wrong, **LABELS),
                "attention_weights must be from 0 to 1, got",
            )
            for wrong in (float("nan"), -0.1, 1.5, float("inf"))
        ),
        (
            lambda: plot_attention(torch.zeros(2, 401), **(LABELS | {"key_tokens": ["x"] * 401})),
            f"key_tokens must be 1 to {LARGEST_GRID} tokens, got 401",
        ),
        (
            lambda: plot_mask(torch.ones(1, 1), query_tokens=[], key_tokens=["a"], title="t"),
            "query_tokens must be 1 to .* tokens, got 0",
        ),
    ],
)
def test_what_would_be_drawn_wrongly_is_refused(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()
