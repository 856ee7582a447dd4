"""Loss and BLEU of several runs, each at its own steps."""

from functools import partial

import numpy as np
import pytest

from transformer_edu.teaching.progress import describe_progress, plot_progress

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
        assert axes.get_xlabel() == "training step"
    assert (losses.get_ylabel(), scores.get_ylabel()) == ("loss (nats per token)", "BLEU")


def test_runs_are_told_apart_by_more_than_colour_and_named_once():
    figure = plot_progress(RUNS, title="Both learn")
    first, second = figure.axes[0].lines
    assert first.get_marker() != second.get_marker()
    assert first.get_color() != second.get_color()
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["long", "short"]
    assert figure.get_suptitle() == "Both learn"


def test_the_words_tell_where_each_run_begins_and_ends():
    words = describe_progress(RUNS)
    assert "long: from step 500 to 1,500 the loss goes from 4.0 to 2.0, BLEU from 2 to 31" in words
    assert "short: from step 10 to 20 the loss goes from 1.0 to 0.1, BLEU from 50 to 99" in words


def test_names_are_drawn_literally_and_few_of_many_records_have_a_marker():
    many = [record | {"step": step} for record in LONG[:1] for step in range(1, 81)]
    figure = plot_progress({"$x$": many, "short": SHORT}, title="")
    figure.canvas.draw()
    assert figure.legends[0].get_texts()[0].get_text() == r"\$x\$"
    assert [line.get_markevery() for line in figure.axes[0].lines] == [10, 1]


def test_both_scales_begin_at_zero():
    assert [axes.get_ylim()[0] for axes in plot_progress(RUNS, title="").axes] == [0, 0]


@pytest.mark.parametrize(
    ("runs", "error", "message"),
    [
        ({}, ValueError, "runs must hold at least one run, got none"),
        ([LONG], TypeError, "runs must map names to records, got list"),
        ({1: LONG}, TypeError, "runs must have texts for names, got 1"),
        ({"long": LONG, "empty": []}, ValueError, "run 'empty' must have .* one record, got none"),
        ({"a": None}, TypeError, "run 'a' must be a list of records, got None"),
        ({"a": [3]}, TypeError, "run 'a' must hold records with names, got 3"),
        ({"a": [{"step": 1}]}, ValueError, "run 'a' must have a number for validation_loss, got"),
        ({"a": [LONG[0] | {"bleu": "41"}]}, ValueError, "must have a number for bleu, got '41'"),
    ],
    ids=["no run", "list", "number", "no record", "none", "no names", "no loss", "text"],
)
def test_what_are_no_runs_with_records_is_refused(runs, error, message):
    for function in (describe_progress, partial(plot_progress, title="")):
        with pytest.raises(error, match=message):
            function(runs)
