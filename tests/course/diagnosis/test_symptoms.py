"""Symptoms stand in columns with common scales, and what is written stands below its question."""

import pytest

from tests.small_runs import GLANCE, stored
from transformer_course.curves.stored_runs import Glance, StoredRuns
from transformer_course.diagnosis.symptoms import generated_table, plot_symptoms


def panels(figure):
    """Loss, scores and attention of the symptoms, three lists from left to right."""
    count = (len(figure.axes) - 1) // 3  # the last is the color bar
    return [figure.axes[row * count : (row + 1) * count] for row in range(3)]


def test_a_column_of_symptoms_holds_the_curves_and_the_map_of_one_variant():
    figure = plot_symptoms([stored("a"), stored("b", losses=(1.0,))], title="t")
    loss, scores, attention = panels(figure)
    assert [axes.lines[0].get_ydata().tolist() for axes in loss] == [[2.0, 0.2], [1.0, 0.1]]
    tokens, exact = scores[1].lines
    assert (tokens.get_ydata().tolist(), exact.get_ydata().tolist()) == ([0.25, 0.6], [0.0, 1.0])
    assert tokens.get_marker() != exact.get_marker()
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["tokens (teacher forcing)", "sequences (exact match)"]
    assert attention[0].images[0].get_array().tolist() == [list(row) for row in GLANCE.weights]
    rows = [label.get_text() for label in attention[0].get_yticklabels()]
    columns = [label.get_text() for label in attention[0].get_xticklabels()]
    assert (rows, columns) == (["<s>", "c", "b"], [r"\$a\$", "b", "c"])


def test_symptoms_have_common_scales_and_attention_runs_from_0_to_1():
    loss, scores, attention = panels(plot_symptoms([stored("a"), stored("b")], title="t"))
    assert loss[0].get_ylim() == loss[1].get_ylim()
    assert loss[0].get_ylim()[0] == 0
    assert {axes.get_ylim() for axes in scores} == {(-0.04, 1.04)}
    assert {axes.images[0].get_clim() for axes in attention} == {(0, 1)}


@pytest.mark.parametrize("count", [3, 4])
def test_the_name_of_an_axis_of_a_row_stands_once_in_the_middle(count):
    figure = plot_symptoms([stored("a")] * count, title="t")
    figure.draw_without_rendering()
    for row in panels(figure)[1:]:
        (label,) = [axes.xaxis.label for axes in row if axes.get_xlabel()]
        left, right = row[0].get_window_extent().x0, row[-1].get_window_extent().x1
        extent = label.get_window_extent()
        assert abs((extent.x0 + extent.x1) / 2 - (left + right) / 2) < 0.02 * (right - left)


def test_what_each_writes_stands_below_what_was_asked_for():
    empty = Glance(source=("a",), target=("c", "b"), written=(), head=0, weights=())
    silent = StoredRuns(variant="silent", settings={}, runs=stored().runs, glance=empty)
    lines = generated_table([stored("no positions"), silent]).splitlines()
    assert lines == ["target        c b", "no positions  c", "silent        (nothing)"]
