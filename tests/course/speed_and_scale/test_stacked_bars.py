"""Parts of a bar stand side by side, and have their numbers."""

from transformer_course.speed_and_scale.stacked_bars import plot_stacked_bars


def test_stacked_bars_put_each_part_at_the_end_of_the_one_before_and_write_the_sum():
    bars = {"first": {"one": 1.0, "two": 2.0}, "second": {"one": 3.0, "two": 4.0}}
    figure = plot_stacked_bars(bars, x_label="x", title="t")
    axes = figure.axes[0]
    spans = [(bar.get_x(), bar.get_width()) for bar in axes.patches]
    assert spans == [(0.0, 1.0), (0.0, 3.0), (1.0, 2.0), (3.0, 4.0)]
    assert [text.get_text() for text in axes.texts] == ["3", "7"]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["one", "two"]
    assert figure.get_label() == "t. x: first: one 1, two 2; second: one 3, two 4"
