"""Lines and bars show what they are given."""

import numpy as np

from transformer_course.drawing.charts import plot_bars, plot_grouped_bars, plot_lines


def test_every_line_is_drawn_over_x_in_its_own_color():
    lines = {"a": [3, 2, 1], "b": [1, 1, 1]}
    axes = plot_lines(lines, x=[1, 2, 8], x_label="x", y_label="y", title="t").axes[0]
    for line, y in zip(axes.lines, lines.values(), strict=True):
        np.testing.assert_array_equal(line.get_data(), ([1, 2, 8], y))
    assert axes.lines[0].get_color() != axes.lines[1].get_color()
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a", "b"]


def test_every_bar_carries_its_number():
    bars = {"with": 1.0, "without": 0.25}
    axes = plot_bars(bars, y_label="y", title="t", number="{:.0%}", top=2).axes[0]
    assert [text.get_text() for text in axes.texts] == ["100%", "25%"]
    assert [bar.get_height() for bar in axes.patches] == [1.0, 0.25]
    assert axes.get_ylim()[1] > 2


def test_a_dashed_line_has_the_color_of_the_line_before_and_the_next_one_a_new_color():
    lines = {"a": [1, 2], "a, again": [2, 1], "b": [0, 1]}
    labels = {"x": [0, 1], "x_label": "x", "y_label": "y", "title": "t"}
    axes = plot_lines(lines, **labels, dashed=["a, again"], top=2).axes[0]
    first, again, other = axes.lines
    assert again.get_color() == first.get_color() != other.get_color()
    assert [line.get_linestyle() for line in axes.lines] == ["-", "--", "-"]
    assert (
        other.get_color()
        == plot_lines({"a": [1, 2], "b": [0, 1]}, **labels).axes[0].lines[1].get_color()
    )
    assert axes.get_ylim() == (0, 2.1)


def test_whole_numbers_along_x_get_whole_ticks():
    x = range(2, 21)  # where matplotlib would write 2.5, 5.0, 7.5 …
    axes = plot_lines({"a": x}, x=x, x_label="x", y_label="y", title="t").axes[0]
    assert all(tick == round(tick) for tick in axes.get_xticks())


def test_grouped_bars_have_a_bar_for_every_name_of_every_group():
    groups = {"first": {"one": 1.0, "two": 2.0}, "second": {"one": 3.0, "two": 4.0}}
    axes = plot_grouped_bars(groups, x_label="x", title="t").axes[0]
    assert [bar.get_width() for bar in axes.patches] == [1.0, 3.0, 2.0, 4.0]
    assert [text.get_text() for text in axes.texts] == ["1.00", "3.00", "2.00", "4.00"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["first", "second"]
    first, other = axes.patches[0].get_y(), axes.patches[2].get_y()
    assert first != other
