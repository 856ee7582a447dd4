"""Vectors, lines and bars show what they are given."""

import matplotlib.pyplot as plt
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


def test_rows_carry_their_names_literally():
    axes = plot_values(torch.ones(2, 3), **VALUE_LABELS, row_names=["the", "$5"]).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["the", r"\$5"]


@pytest.mark.parametrize(
    "values", [torch.ones(3), torch.tensor([[float("nan")]]), torch.ones(0, 2)]
)
def test_what_is_no_grid_of_numbers_is_refused(values):
    with pytest.raises(ValueError, match="must be a grid .row, column. of finite numbers"):
        plot_values(values, **VALUE_LABELS)


def test_names_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="row_names must name 2 rows, got 1"):
        plot_values(torch.ones(2, 3), **VALUE_LABELS, row_names=["the"])


def test_every_line_is_drawn_and_told_apart_by_more_than_colour():
    axes = plot_lines({"a": [3, 2, 1], "b": [1, 1, 1]}, x=[0, 1, 2], **LINE_LABELS).axes[0]
    first, second = axes.lines
    np.testing.assert_array_equal(first.get_ydata(), [3, 2, 1])
    assert first.get_marker() != second.get_marker()
    assert first.get_color() != second.get_color()
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a", "b"]


def test_a_line_of_another_length_is_refused():
    with pytest.raises(ValueError, match="line 'a' must have 3 values, got 2"):
        plot_lines({"a": [1, 2]}, x=[0, 1, 2], **LINE_LABELS)


def test_no_lines_and_no_bars_are_refused():
    with pytest.raises(ValueError, match="at least one line"):
        plot_lines({}, x=[], **LINE_LABELS)
    with pytest.raises(ValueError, match="at least one bar"):
        plot_bars({}, y_label="share", title="nothing")


def test_every_bar_carries_its_number():
    axes = plot_bars(
        {"with": 1.0, "without": 0.25}, y_label="exact match", title="Masks matter"
    ).axes[0]
    assert [text.get_text() for text in axes.texts] == ["1.00", "0.25"]
    assert [bar.get_height() for bar in axes.patches] == [1.0, 0.25]


def test_drawing_leaves_matplotlibs_settings_alone():
    before = dict(plt.rcParams)
    plot_bars({"one": 1.0}, y_label="share", title="one bar")
    assert dict(plt.rcParams) == before
