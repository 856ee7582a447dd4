"""Positions as numbers, as clock hands and as products."""

import math

import pytest
import torch
from matplotlib.text import Text

from transformer_course.drawing.position_charts import (
    plot_clocks,
    plot_position_products,
    plot_readings,
    plot_turning_hands,
)
from transformer_course.drawing.style import BLACK, VERMILION
from transformer_course.looking.position_scores import Reading
from transformer_edu.model.embeddings import sinusoidal_positions


def tips(axes) -> list[tuple[float, float]]:
    """Where the hands of a face end."""
    return [tuple(line.get_xydata()[0]) for line in axes.lines if len(line.get_xydata()) == 1]


def test_only_positions_that_differ_from_the_order_are_in_color():
    readings = [
        Reading(["a", "b", "c"], [0, 2, 1], "moved"),
        Reading(["a", "b", "c"], None, "none"),
    ]
    figure = plot_readings(readings, title="t")
    colors = {each.get_text(): each.get_color() for each in figure.axes[0].texts}
    assert (colors["0"], colors["1"], colors["2"]) == (BLACK, VERMILION, VERMILION)
    assert [each.get_text() for each in figure.axes[0].texts].count("–") == 3
    assert not {"moved", "none"} & set(figure.get_label().split())


def test_a_hand_ends_at_the_sine_and_cosine_of_its_pair():
    words, d_model = ["a", "b", "c"], 4
    faces = list(plot_clocks(words, d_model=d_model).axes)
    table = sinusoidal_positions(3, d_model)
    assert len(faces) == 6
    for number, axes in enumerate(faces):
        pair, position = divmod(number, 3)
        expected = table[position, 2 * pair : 2 * pair + 2].tolist()
        assert tips(axes) == [pytest.approx(expected)]


def test_two_hands_of_a_face_are_as_far_apart_as_the_shift_says():
    figure = plot_turning_hands(7, 3, d_model=4)
    for axes, frequency in zip(figure.axes, (1, 0.01), strict=True):
        (x, y), (later_x, later_y) = tips(axes)
        assert x * later_x + y * later_y == pytest.approx(math.cos(3 * frequency))
        assert (x, y) == pytest.approx((math.sin(7 * frequency), math.cos(7 * frequency)))
    names = {each.get_text() for each in figure.findobj(Text)}
    assert {"position 7", "position 10", "3 radians", "0.03 radians"} <= names


def test_products_are_even_along_a_diagonal_only_with_both_of_a_pair():
    table = sinusoidal_positions(9, 16)
    figure = plot_position_products({"both": table, "sines": table[:, 0::2]})
    both, sines = (torch.tensor(axes.images[0].get_array()) for axes in figure.axes[:2])
    torch.testing.assert_close(both.diagonal(2), both[0, 2].expand(7), atol=1e-5, rtol=0)
    assert sines.diagonal(2).std() > 0.1
    words = figure.get_label()
    assert "both: the same along" in words and "sines: not the same along" in words
