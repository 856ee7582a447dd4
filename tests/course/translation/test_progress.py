"""The curves of a translator keep their own steps and have their words."""

import numpy as np

from transformer_course.translation.progress import describe_progress, plot_progress

LONG = [
    {"step": 500, "validation_loss": 4.0, "bleu": 2.0, "tokens": 9},
    {"step": 1000, "validation_loss": 2.5, "bleu": 18.0, "tokens": 18},
    {"step": 1500, "validation_loss": 2.0, "bleu": 31.4, "tokens": 27},
]
SHORT = [
    {"step": 10, "validation_loss": 1.0, "bleu": 50.0},
    {"step": 20, "validation_loss": 0.1, "bleu": 99.0},
]
RUNS = {"long": LONG, "short": SHORT}


def test_each_run_has_its_own_steps_in_both_panels():
    losses, scores = plot_progress(RUNS, title="Both learn").axes
    for axes, measure in ((losses, "validation_loss"), (scores, "bleu")):
        for line, records in zip(axes.lines, RUNS.values(), strict=True):
            np.testing.assert_array_equal(line.get_xdata(), [each["step"] for each in records])
            np.testing.assert_array_equal(line.get_ydata(), [each[measure] for each in records])
        assert axes.get_xscale() == "log"


def test_the_words_tell_where_each_run_begins_and_ends():
    words = describe_progress(RUNS)
    assert "long: from step 500 to 1,500 the loss goes from 4.0 to 2.0, BLEU from 2 to 31" in words
    assert "short: from step 10 to 20 the loss goes from 1.0 to 0.1, BLEU from 50 to 99" in words


def test_only_round_steps_are_labeled():
    run = [{"step": step, "validation_loss": 1.0, "bleu": 9.0} for step in range(500, 8001, 500)]
    figure = plot_progress({"one": run}, title="It learns")
    figure.canvas.draw()
    for axis in (axes.xaxis for axes in figure.axes):
        low, high = axis.get_view_interval()
        ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
        said = {tick.label1.get_text() for tick in ticks if low <= tick.get_loc() <= high}
        assert said - {""} == {"500", "1,000", "2,000", "5,000"}
