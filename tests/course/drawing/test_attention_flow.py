"""The figures of lesson 02 mark one query, and their titles and labels say what it attends to."""

import matplotlib.pyplot as plt
import pytest
import torch
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from transformer_course.drawing.attention_flow import (
    plot_attention_flow,
    plot_lookup,
    plot_marked_links,
)
from transformer_course.drawing.style import VERMILION
from transformer_edu.model.attention import scaled_dot_product_attention

torch.manual_seed(0)
QUERY, KEY, VALUE = torch.randn(3, 4), torch.randn(5, 4), torch.randn(5, 6)
OUTPUT, WEIGHTS = scaled_dot_product_attention(QUERY, KEY, VALUE)
QUERIES, KEYS = ["one", "two", "three"], ["a", "b", "c", "d", "e"]
WORDS = {"query_words": QUERIES, "key_words": KEYS}


@pytest.mark.parametrize("marked", range(3))
def test_the_links_name_the_key_with_the_largest_weight(marked):
    figure = plot_marked_links(WEIGHTS, **WORDS, marked=marked)
    best = KEYS[WEIGHTS[marked].argmax()]
    title = figure.axes[0].get_title("left")
    assert title == f"About to write {QUERIES[marked]}, the translator attends most to {best}"
    assert figure.get_label().endswith(f"of {QUERIES[marked]} goes to {best}")


def test_only_the_marked_query_is_in_color_and_width_follows_weight():
    lines = plot_marked_links(WEIGHTS, **WORDS, marked=1).axes[0].lines
    widths = [line.get_linewidth() for line in lines if line.get_color() == VERMILION]
    drawn = WEIGHTS[1][WEIGHTS[1] > 0.04]
    assert widths == pytest.approx((0.5 + 9 * drawn).tolist())
    assert len(lines) == (WEIGHTS > 0.04).sum()


def test_the_flow_shows_every_matrix_with_its_shape_and_numbers():
    figure = plot_attention_flow(QUERY, KEY, VALUE, **WORDS, marked=2)
    shown = {axes.get_title(): torch.tensor(axes.images[0].get_array()) for axes in figure.axes}
    expected = {
        "Q  3 × 4": QUERY,
        "Kᵀ  4 × 5": KEY.T,
        "scores  3 × 5": QUERY @ KEY.T / 2,
        "weights  3 × 5": WEIGHTS,
        "V  5 × 6": VALUE,
        "output  3 × 6": OUTPUT,
    }
    assert shown.keys() == expected.keys()
    for name, matrix in expected.items():
        torch.testing.assert_close(shown[name], matrix)


def test_one_row_is_framed_in_the_matrices_that_have_it():
    figure = plot_attention_flow(QUERY, KEY, VALUE, **WORDS, marked=2)
    framed = {
        axes.get_title().split()[0]: patch.get_y()
        for axes in figure.axes
        for patch in axes.patches
        if isinstance(patch, Rectangle)
    }
    assert framed == {"Q": 1.5, "scores": 1.5, "weights": 1.5, "output": 1.5}
    best = KEYS[WEIGHTS[2].argmax()]
    assert figure.get_label().endswith(
        f"The row of three is framed; its largest weight is that of {best}"
    )


PLANE_QUERY = torch.tensor([2.0, 0.0])
PLANE_KEY = torch.tensor([[2.0, -0.5], [0.0, 2.0], [1.0, 0.5]])
PLANE_VALUE = torch.tensor([[4.0, 0.0], [0.0, 1.0], [3.0, 4.0]])
PLANE_WEIGHTS = (PLANE_KEY @ PLANE_QUERY).softmax(dim=0)
FIGURE = plot_lookup(
    PLANE_QUERY, PLANE_KEY, PLANE_VALUE, words=["a", "b", "c"], features=["x", "y"]
)
MATCH, BARS, MIX = FIGURE.axes


def written(axes: Axes) -> set[str]:
    return {text.get_text() for text in axes.findobj(Text)}


def test_the_star_is_the_weighted_average_of_the_values():
    (star,) = (line for line in MIX.lines if line.get_marker() == "*")
    torch.testing.assert_close(
        torch.tensor(star.get_xydata()[0]).float(), PLANE_WEIGHTS @ PLANE_VALUE
    )


def test_every_word_has_its_score_and_its_weight_as_a_bar():
    said = {f"{weight:.3f}" for weight in PLANE_WEIGHTS}
    assert {"a: score 4.0", "b: score 0.0", "c: score 2.0"} | said <= written(BARS)
    bars = torch.tensor([bar.get_width() for bar in BARS.patches[len(PLANE_KEY) :]]).float()
    torch.testing.assert_close(bars, PLANE_WEIGHTS)


def test_the_points_have_their_names_and_the_query_its_features():
    assert {"query", "a", "b", "c", "x", "y"} <= written(MATCH)
    assert {"output", "a", "b", "c"} <= written(MIX)


def test_the_largest_weight_is_named_in_title_and_words():
    assert FIGURE.get_suptitle().endswith("inside the triangle of the values, nearest to a")
    assert "near the value of a" in FIGURE.get_label()


def test_more_than_three_values_have_a_hull():
    inside = torch.cat([PLANE_VALUE, PLANE_VALUE.mean(dim=0, keepdim=True)])
    figure = plot_lookup(
        PLANE_QUERY,
        torch.cat([PLANE_KEY, PLANE_KEY[:1]]),
        inside,
        words=list("abcd"),
        features=["x", "y"],
    )
    assert "inside the hull of the values" in figure.get_suptitle()
    plt.close(figure)
