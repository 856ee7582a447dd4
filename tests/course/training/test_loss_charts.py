"""Curves keep their names, scales and marks, and schedules their peak."""

import numpy as np

from tests.small_runs import stored
from transformer_course.training.checks import our_rate
from transformer_course.training.loss_charts import plot_losses, plot_runs, plot_schedules


def test_a_line_is_the_median_and_the_band_reaches_from_worst_to_best():
    axes = plot_runs([stored()], title="t").axes[0]
    assert axes.lines[0].get_xdata().tolist() == [10, 20]
    assert axes.lines[0].get_ydata().tolist() == [2.0, 0.2]
    corners = axes.collections[0].get_paths()[0].vertices
    assert {(10.0, 1.0), (10.0, 3.0), (20.0, 0.1)} <= set(map(tuple, np.round(corners, 6)))


def test_the_loss_begins_at_zero_and_the_exact_match_has_its_whole_scale():
    loss, exact = plot_runs([stored()], title="t").axes
    for axes, measure in ((loss, "loss"), (exact, "exact_match")):
        assert axes.lines[0].get_ydata().tolist() == np.median(stored().curves(measure), 0).tolist()
    assert loss.get_ylim()[0] == 0 and exact.get_ylim() == (-0.04, 1.04)


def test_names_may_be_shorter_than_the_variants():
    legend = plot_runs([stored("long")], title="t", names=["short"]).legends[0]
    assert [text.get_text() for text in legend.get_texts()] == ["short"]


def test_the_losses_of_a_run_keep_their_place_while_it_goes_on():
    axes = plot_losses({1: 4.0, 9: 2.5}, {}, steps=50, title="t").axes[0]
    assert axes.lines[0].get_xydata().tolist() == [[1.0, 4.0], [9.0, 2.5]]
    assert axes.get_xlim() == (0, 50)


def test_a_level_is_a_dashed_line_with_its_name_and_number():
    figure = plot_losses({1: 4.0, 2: 2.5}, {"ln $V$": 4.159}, steps=2, title="Learning")
    losses, level = figure.axes[0].lines
    assert level.get_ydata() == [4.159, 4.159]
    assert level.get_linestyle() == "--"
    assert level.get_color() != losses.get_color()
    assert [text.get_text() for text in figure.axes[0].texts] == [r"ln \$V\$ = 4.16"]
    assert figure.get_label() == "Learning. The loss of 2 of 2 steps; ln $V$ is 4.16"


def test_every_schedule_runs_from_step_one_to_the_last_and_marks_its_peak():
    choices = [(512, 4000), (64, 1000)]
    axes = plot_schedules(our_rate, choices).axes[0]
    names = [text.get_text() for text in axes.get_legend().get_texts()]
    assert names == ["d_model 512, warm-up 4,000", "d_model 64, warm-up 1,000"]
    assert [note.get_text() for note in axes.texts] == ["0.0007", "0.004"]
    for line, note, (d_model, warmup_steps) in zip(axes.lines, axes.texts, choices, strict=True):
        x, rates = line.get_xdata().tolist(), line.get_ydata().tolist()
        assert (x[0], x[-1]) == (1, 20_000) and x == sorted(set(x))
        assert note.xy == (warmup_steps, max(rates)) and x[rates.index(max(rates))] == warmup_steps
        for step, rate in zip(x, rates, strict=True):
            assert rate == our_rate(step, d_model, warmup_steps)
