"""Words have their place in every layer."""

import pytest
import torch

from tests.hatching import hatched_corners
from transformer_course.encoder.layer_maps import plot_by_layer, plot_one_word

KINDS = ["k", "k", "m", "m"]
START = torch.ones(4, 3)
SPREAD = torch.tensor([[0.0, 3.0, 1.0], [0.0, 5.0, 1.0], [6.0, 0.0, 1.0], [6.1, 0.0, 1.0]])
MIXED = SPREAD[[0, 2, 1, 3]]
FIGURE = plot_one_word(
    torch.stack([START, MIXED, SPREAD]), word="w", labels=["a", "b", "c", "d"], kinds=KINDS
)


def words(axes):
    return [text.get_text() for text in axes.texts]


def test_equal_vectors_are_one_point_and_the_others_have_their_labels():
    before, *after = FIGURE.axes[:3]
    assert words(before) == ["all 4"] and len(before.lines) == 1
    for axes in after:
        assert sorted(words(axes)) == ["a", "b", "c", "d"]
        assert sum(len(line.get_xdata()) for line in axes.lines) == 4


def test_the_title_says_whether_the_kinds_are_apart_at_the_end():
    assert FIGURE.get_suptitle() == "w: one point before layer 1; at the end, k and m are apart"
    vectors = torch.stack([START, SPREAD, MIXED])
    mixed = plot_one_word(vectors, word="w", labels=list("abcd"), kinds=KINDS)
    assert mixed.get_suptitle().endswith("are mixed") and mixed.get_label().endswith("are mixed")


def test_the_first_point_is_at_the_left_at_the_end():
    end = FIGURE.axes[2]
    places = {line.get_label(): line.get_xdata() for line in end.lines}
    assert max(places["k"]) < min(places["m"])


def test_labels_of_one_kind_are_a_tenth_of_the_height_apart_or_more():
    points = [y for axes in FIGURE.axes[:3] for line in axes.lines for y in line.get_ydata()]
    gap = (max(points) - min(points)) / 10
    for axes in FIGURE.axes[1:3]:
        place = {text.get_text(): text.xyann[1] for text in axes.texts}
        for one, other in ("ab", "cd"):
            assert abs(place[one] - place[other]) > 0.999 * gap
    y = FIGURE.axes[2].lines[1].get_ydata()
    assert abs(y[0] - y[1]) < gap  # here the points themselves are closer


def test_numbers_are_written_in_per_cent_and_only_zero_is_hatched():
    shares = torch.tensor([[0.995, 0.005, 0.0], [0.5, 0.3, 0.2]])
    panels = {"upper": shares, "lower": shares}
    labels = {"words": ["a", "b", "c"], "rows": ["input", "layer 1"], "bar": "b"}
    figure = plot_by_layer(panels, title="t", **labels)
    for axes, name in zip(figure.axes, panels, strict=False):
        assert axes.get_title("left") == name
        assert words(axes) == ["100%", "< 1%", "0", "50%", "30%", "20%"]
        assert hatched_corners(axes) == [(1.5, -0.5)]
        assert [label.get_text() for label in axes.get_yticklabels()] == labels["rows"]


@pytest.mark.parametrize(("end", "extend"), [(1.0, "neither"), (0.25, "max")])
def test_the_color_bar_says_whether_numbers_are_beyond_its_end(end, extend):
    labels = {"words": ["a", "b"], "rows": ["r"], "bar": "b", "title": "t"}
    figure = plot_by_layer({"": torch.tensor([[0.5, 0.1]])}, **labels, end=end)
    image = figure.axes[0].images[0]
    assert image.colorbar.extend == extend and image.get_clim() == (0, end)
    assert image.colorbar.formatter(0.5) == "50%"  # as in the cells


def test_sentences_of_one_kind_are_not_apart_and_equal_points_are_counted_once():
    vectors = torch.stack([SPREAD[[0, 0, 2, 2]], SPREAD])
    figure = plot_one_word(vectors, word="w", labels=list("abcd"), kinds=["k"] * 4)
    title = "w: 2 points before layer 1; at the end, k: 4 points"
    assert figure.get_suptitle() == title and figure.get_label().endswith("k: 4 points")


@pytest.mark.parametrize(
    ("kinds", "message"),
    [
        ("abcd", "two sentences of at most 3 kinds, got a, b, c, d"),
        ("ab", "kinds must be one for each of 4 sentences, got 2"),
    ],
)
def test_kinds_that_cannot_be_drawn_are_refused(kinds, message):
    vectors = torch.stack([START, SPREAD])
    with pytest.raises(ValueError, match=message):
        plot_one_word(vectors, word="w", labels=list("abcd"), kinds=kinds)
    with pytest.raises(ValueError, match="at least two sentences"):
        plot_one_word(vectors[:, :1], word="w", labels="a", kinds="a")
