"""Words keep their positions, and products their curves."""

import pytest
import torch

from transformer_course.drawing.style import BLACK, VERMILION
from transformer_course.positional_encoding.position_charts import (
    plot_position_products,
    plot_readings,
)
from transformer_course.positional_encoding.position_scores import Reading
from transformer_edu.model.embeddings import sinusoidal_positions


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


def test_products_are_even_along_a_diagonal_only_with_both_of_a_pair():
    table = sinusoidal_positions(9, 16)
    figure = plot_position_products({"both": table, "sines": table[:, 0::2]})
    both, sines = (torch.tensor(axes.images[0].get_array()) for axes in figure.axes[:2])
    torch.testing.assert_close(both.diagonal(2), both[0, 2].expand(7), atol=1e-5, rtol=0)
    assert sines.diagonal(2).std() > 0.1
    words = figure.get_label()
    assert "both: the same along" in words and "sines: not the same along" in words


def test_zeros_are_the_same_everywhere_and_what_is_no_table_is_refused():
    figure = plot_position_products({"zeros": torch.zeros(3, 4)})
    assert "zeros: the same along" in figure.get_label()
    with pytest.raises(ValueError, match=r"tables of shape .* got {'x': \(1, 3, 4\)}"):
        plot_position_products({"x": torch.zeros(1, 3, 4)})
    with pytest.raises(ValueError, match="tables of shape .* got none"):
        plot_position_products({})
