"""The still figure is the viewer's first state."""

import numpy as np
import pytest
import torch

from tests.hatching import hatched_corners
from transformer_edu.teaching.inspect.attention_maps import AttentionMap, Side, maps_of_weights
from transformer_edu.teaching.viewer.page import SIZES
from transformer_edu.teaching.viewer.still import plot_still

QUERY_TOKENS, KEY_TOKENS = ["das", "$x$"], ["the", "old", "<b>"]
WEIGHTS = torch.tensor([[[1.0, 0, 0], [0, 0, 1]], [[0.1, 0.2, 0.7], [0.0, 0.4, 0.6]]])


@pytest.fixture
def attention_map() -> AttentionMap:
    (made,) = maps_of_weights(WEIGHTS, query_tokens=QUERY_TOKENS, key_tokens=KEY_TOKENS, sentence=0)
    return made


def test_lines_are_as_thick_as_their_weights_from_top_to_bottom(attention_map):
    axes = plot_still(attention_map, 1, "lines", "what attends where").axes[0]
    widths = [patch.get_linewidth() for patch in axes.patches]
    weights = [0.1, 0.2, 0.4, 0.6, 0.7]
    pixels = [SIZES["thin"] + SIZES["thick"] * weight for weight in weights]
    assert widths == pytest.approx([0.75 * width for width in pixels])  # in points
    ends = [patch.get_path().vertices[[0, -1], 1].tolist() for patch in axes.patches]
    assert ends == [[0, 0], [0, 1], [1, 1], [1, 2], [0, 2]]
    assert axes.get_ylim()[0] > axes.get_ylim()[1]
    assert axes.get_title("left") == "what attends where"


def test_tokens_and_titles_are_drawn_literally(attention_map):
    axes = plot_still(attention_map, 0, "lines", "a $b$\nsecond line").axes[0]
    assert [text.get_text() for text in axes.texts][:5] == ["das", r"\$x\$", "the", "old", "<b>"]
    assert [text.get_text() for text in axes.texts][5:] == ["queries", "keys"]
    for view in ("lines", "grid"):
        axes = plot_still(attention_map, 0, view, "a $b$\nsecond line").axes[0]
        assert axes.get_title("left") == "a \\$b\\$\nsecond line"


@pytest.mark.parametrize("view", ["lines", "grid"])
def test_a_decoders_rows_are_labeled_as_in_the_viewer(attention_map, view):
    queries = Side("target", ("<s>", "das"), ("das", "Haus"))
    axes = plot_still(attention_map._replace(queries=queries), 1, view, "title").axes[0]
    words = [text.get_text() for text in (*axes.texts, *axes.get_yticklabels())]
    assert {"<s> → das", "das → Haus"} <= set(words)
    assert ("reads → writes" in words) == (view == "lines")


def test_the_grid_is_the_weights_with_zeros_hatched(attention_map):
    axes = plot_still(attention_map, 1, "grid", "what attends where").axes[0]
    np.testing.assert_allclose(axes.images[0].get_array(), WEIGHTS[1].numpy())
    assert hatched_corners(axes) == [(-0.5, 0.5)]


def test_a_grid_of_too_many_cells_is_not_hatched():
    tokens = ["x"] * 51
    (large,) = maps_of_weights(
        torch.eye(51)[None], query_tokens=tokens, key_tokens=tokens, sentence=0
    )
    assert not hatched_corners(plot_still(large, 0, "grid", "many").axes[0])


@pytest.mark.parametrize("view", ["lines", "grid"])
def test_as_many_tokens_as_the_viewer_takes_make_a_bounded_figure(view):
    tokens = ["x"] * 128
    (large,) = maps_of_weights(
        torch.eye(128)[None], query_tokens=tokens, key_tokens=tokens, sentence=0
    )
    assert max(plot_still(large, 0, view, "many").get_size_inches()) <= 14
