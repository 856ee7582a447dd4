"""Vectors, lines and bars show what they are given."""

import numpy as np
import pytest
import torch

from transformer_edu.teaching.figures.charts import plot_bars, plot_lines, plot_values

LINE_LABELS = {"x_label": "step", "y_label": "loss (nats)", "title": "It falls"}
VALUE_LABELS = {
    "row_label": "token",
    "column_label": "dimension",
    "title": "Every word is a vector",
}


def test_white_is_zero_and_the_scale_is_symmetric():
    axes = plot_values(torch.tensor([[1.0, -3.0], [0.0, 2.0], [0.5, 0.0]]), **VALUE_LABELS).axes[0]
    assert axes.images[0].get_clim() == (-3, 3)


@pytest.mark.parametrize(
    "values", [torch.ones(3), torch.tensor([[float("nan")]]), torch.ones(0, 2)]
)
def test_what_is_no_grid_of_numbers_is_refused(values):
    with pytest.raises(ValueError, match="must be a grid .row, column. of finite numbers"):
        plot_values(values, **VALUE_LABELS)


def test_names_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="row_names must name 2 rows, got 1"):
        plot_values(torch.ones(2, 3), **VALUE_LABELS, row_names=["the"])


def test_every_line_is_drawn_in_its_own_color():
    axes = plot_lines({"a": [3, 2, 1], "b": [1, 1, 1]}, x=[0, 1, 2], **LINE_LABELS).axes[0]
    first, second = axes.lines
    np.testing.assert_array_equal(first.get_ydata(), [3, 2, 1])
    assert first.get_color() != second.get_color()
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a", "b"]


def test_every_bar_carries_its_number():
    axes = plot_bars(
        {"with": 1.0, "without": 0.25}, y_label="exact match", title="Masks matter"
    ).axes[0]
    assert [text.get_text() for text in axes.texts] == ["1.00", "0.25"]
    assert [bar.get_height() for bar in axes.patches] == [1.0, 0.25]
