"""A lookup shows its matches, its weights and its mix."""

import matplotlib.pyplot as plt
import pytest
import torch
from matplotlib.axes import Axes
from matplotlib.text import Text

from transformer_course.attention.live_lookup import plot_lookup

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


def test_the_value_nearest_to_the_output_is_named_in_title_and_words():
    assert FIGURE.get_suptitle().endswith("inside the triangle of the values, nearest to a")
    assert "nearest to the value of a" in FIGURE.get_label()
    far = torch.tensor([[40.0, 0.0], [0.0, 1.0], [0.0, 2.0]])
    query = PLANE_QUERY / 20  # the first weight is the largest, and its value is far away
    other = plot_lookup(query, PLANE_KEY, far, words="abc", features="xy")
    assert (PLANE_KEY @ query).argmax() == 0 and other.get_suptitle().endswith("nearest to b")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"words": "abcd"}, "words must be one for each of 3 keys, got 4"),
        ({"value": PLANE_VALUE[:2]}, "value must be one for each of 3 keys, got 2"),
        ({"query": PLANE_QUERY * torch.nan}, "query, key and value must be finite"),
        (
            {"key": PLANE_KEY[:0], "value": PLANE_VALUE[:0], "words": ""},
            "key must hold at least one vector, got none",
        ),
        ({"key": torch.ones(3, 3)}, r"of two numbers, got \(2,\), \(3, 3\) and \(3, 2\)"),
    ],
)
def test_vectors_that_cannot_be_drawn_are_refused(changed, message):
    given = {"query": PLANE_QUERY, "key": PLANE_KEY, "value": PLANE_VALUE, "words": "abc"}
    with pytest.raises(ValueError, match=message):
        plot_lookup(**given | changed, features=["x", "y"])


def test_whole_numbers_are_drawn_like_others():
    value = torch.tensor([[4, 0], [0, 1], [3, 4]])
    figure = plot_lookup(PLANE_QUERY, PLANE_KEY, value, words="abc", features="xy")
    assert figure.get_label() == FIGURE.get_label()


def test_of_more_than_three_values_no_shape_is_named():
    inside = torch.cat([PLANE_VALUE, PLANE_VALUE.mean(dim=0, keepdim=True)])
    figure = plot_lookup(
        PLANE_QUERY,
        torch.cat([PLANE_KEY, PLANE_KEY[:1]]),
        inside,
        words=list("abcd"),
        features=["x", "y"],
    )
    assert "The output is among the values" in figure.get_suptitle()
    plt.close(figure)


@pytest.mark.parametrize(
    ("changed", "title"),
    [
        ({"query": PLANE_QUERY * 1000}, "The output is the value of a"),
        ({"value": torch.ones(3, 2)}, "The output is the value of a and b and c"),
        (
            {"value": torch.tensor([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])},
            "The output is among the values, nearest to a",
        ),
    ],
)
def test_an_output_at_a_value_and_values_on_a_line_are_not_inside_a_triangle(changed, title):
    given = {"query": PLANE_QUERY, "key": PLANE_KEY, "value": PLANE_VALUE, "words": "abc"}
    assert plot_lookup(**given | changed, features=["x", "y"]).get_suptitle() == title
