"""Runs are drawn with all their seeds, and their ends are told in words."""

from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pytest

from transformer_edu.teaching.figures.runs import (
    BLOCK,
    PAPER_AND_OTHERS,
    describe_progress,
    describe_runs,
    draw_band,
    plot_floors,
    plot_progress,
    plot_runs,
    plot_schedules,
    plot_scores,
    run_table,
    schedule_curve,
)
from transformer_edu.training.config import inverse_square_root
from transformer_edu.training.evaluation import Evaluation
from transformer_edu.training.runs.stored_runs import Glance, SeedRun, StoredRuns


def stored(variant: str = "no mask", *, losses: tuple[float, ...] = (3.0, 1.0, 2.0)) -> StoredRuns:
    """One seed for each loss; the second evaluation has a tenth of the first one's."""
    runs = tuple(
        SeedRun(
            seed=seed,
            evaluations=(
                Evaluation(10, loss, 0.25, 0.0),
                Evaluation(20, loss / 10, 0.5 + loss / 10, 1.0),
            ),
        )
        for seed, loss in enumerate(losses)
    )
    glance = Glance(source=("a",), target=(), written=(), head=0, weights=((1.0,),))
    return StoredRuns(variant=variant, settings={}, runs=runs, glance=glance)


def test_a_line_is_the_median_and_the_band_reaches_from_worst_to_best():
    _, axes = plt.subplots()
    draw_band(axes, stored(), "loss")
    assert axes.lines[0].get_xdata().tolist() == [10, 20]
    assert axes.lines[0].get_ydata().tolist() == [2.0, 0.2]
    corners = axes.collections[0].get_paths()[0].vertices
    assert {(10.0, 1.0), (10.0, 3.0), (20.0, 0.1)} <= set(map(tuple, np.round(corners, 6)))


def test_each_measure_has_its_panel_with_named_axes_and_a_scale():
    measures = ["loss", "token_accuracy", "exact_match"]
    figure = plot_runs([stored("a"), stored("b$x$")], title="t", measures=measures)
    assert [axes.get_ylabel() for axes in figure.axes] == [
        "loss (nats per token)",
        "token accuracy",
        "exact match",
    ]
    assert {axes.get_xlabel() for axes in figure.axes} == {"training step"}
    assert figure.axes[0].get_ylim()[0] == 0
    assert all(axes.get_ylim() == (-0.04, 1.04) for axes in figure.axes[1:])
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a", r"b\$x\$"]
    assert figure._suptitle.get_text() == "t"


def test_variants_differ_in_colour_and_in_marker():
    lines = plot_runs([stored(str(i)) for i in range(4)], title="t").axes[0].lines
    assert len({line.get_color() for line in lines}) == 4
    assert len({line.get_marker() for line in lines}) == 4


def test_names_may_be_shorter_than_the_variants():
    legend = plot_runs([stored("long")], title="t", names=["short"]).legends[0]
    assert [text.get_text() for text in legend.get_texts()] == ["short"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"variants": []}, "variants must be 1 to 5, got 0"),
        ({"variants": [stored()] * 6}, "variants must be 1 to 5, got 6"),
        ({"variants": [stored()], "names": ["a", "b"]}, "names must name 1 variants, got 2"),
        ({"variants": [stored()], "measures": ["speed"]}, r"got \['speed'\]"),
        ({"variants": [stored()], "measures": []}, r"measures must be of loss, .* got \[\]"),
    ],
)
def test_what_cannot_be_drawn_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        plot_runs(**arguments, title="t")


def test_the_words_and_the_table_hold_smallest_and_largest():
    runs = [stored("a"), stored("same", losses=(1.0, 1.0))]
    assert describe_runs(runs) == "a: loss 0.10 – 0.30, alone 1.00; same: loss 0.10, alone 1.00"
    lines = run_table(runs).splitlines()
    assert lines[0].split() == ["loss", "tokens", "right", "written", "alone"]
    assert lines[1].split() == ["a", "0.10", "–", "0.30", "0.60", "–", "0.80", "1.00"]
    assert lines[2].split() == ["same", "0.10", "0.60", "1.00"]
    assert len({len(line) for line in lines}) == 1


LOSSES = {"plain": [float(step) for step in range(25)], "smooth $x$": [2.0] * 30}


def test_a_point_is_the_mean_of_a_block_and_stands_at_its_end():
    line = plot_floors(LOSSES, {}, title="t").axes[0].lines[0]
    assert line.get_xdata().tolist() == [BLOCK, 2 * BLOCK]
    assert line.get_ydata().tolist() == [4.5, 14.5]


def test_a_floor_is_a_dashed_line_of_its_runs_colour_with_its_number():
    axes = plot_floors(LOSSES, {"smooth $x$": 0.594}, title="t").axes[0]
    plain, smooth, floor = axes.lines
    assert floor.get_ydata() == [0.594, 0.594]
    assert floor.get_linestyle() == "--"
    assert floor.get_color() == smooth.get_color() != plain.get_color()
    assert [text.get_text() for text in axes.texts] == ["floor 0.59"]


def test_everything_is_labelled_and_the_scale_begins_at_zero():
    axes = plot_floors(LOSSES, {}, title="what to see").axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("training step", "loss (nats per token)")
    assert axes.get_title(loc="left") == "what to see"
    assert axes.get_ylim()[0] == 0
    names = [text.get_text() for text in axes.get_legend().get_texts()]
    assert names == ["plain", r"smooth \$x\$"]


@pytest.mark.parametrize(
    ("losses", "floors", "message"),
    [
        ({}, {}, "losses must hold at least one run, got none"),
        ({"a": [1.0] * 9}, {}, "run 'a' must have at least 10 steps, got 9"),
        (LOSSES, {"other": 1.0}, "floors must be finite and of a run drawn, got 'other': 1.0"),
        (LOSSES, {"plain": float("nan")}, "floors must be finite .*, got 'plain': nan"),
    ],
)
def test_what_cannot_be_drawn_is_refused_as_floors(losses, floors, message):
    with pytest.raises(ValueError, match=message):
        plot_floors(losses, floors, title="t")


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


@pytest.mark.parametrize(
    ("d_model", "warmup_steps", "steps"),
    [(512, 4000, 20_000), (64, 30, 100), (8, 50, 20), (7, 1, 1)],
)
def test_a_curve_runs_from_step_one_to_the_last_through_its_peak(d_model, warmup_steps, steps):
    x, rates = schedule_curve(d_model, warmup_steps, steps=steps)
    assert (x[0], x[-1]) == (1, steps)
    assert x == sorted(set(x))
    assert x[rates.index(max(rates))] == min(warmup_steps, steps)
    assert len(x) <= 803
    for step, rate in zip(x, rates, strict=True):
        assert rate == inverse_square_root(step, d_model=d_model, warmup_steps=warmup_steps)


def test_every_choice_has_its_line_its_name_and_its_peak():
    axes = plot_schedules([(512, 4000), (64, 1000)], steps=9000).axes[0]
    names = [text.get_text() for text in axes.get_legend().get_texts()]
    assert names == ["d_model 512, warm-up 4,000", "d_model 64, warm-up 1,000"]
    for line, (d_model, warmup_steps) in zip(axes.lines, [(512, 4000), (64, 1000)], strict=True):
        x, rates = schedule_curve(d_model, warmup_steps, steps=9000)
        assert list(line.get_xdata()) == x
        assert list(line.get_ydata()) == rates
    peaks = [(note.get_text(), note.xy) for note in axes.texts]
    assert peaks == [("0.0007", (4000, (512 * 4000) ** -0.5)), ("0.004", (1000, 64000**-0.5))]
    assert axes.lines[0].get_marker() != axes.lines[1].get_marker()
    assert "step" in axes.get_xlabel()
    assert axes.get_ylabel() == "learning rate"


def test_a_peak_beyond_the_last_step_is_not_marked():
    axes = plot_schedules([(512, 4000)], steps=100).axes[0]
    assert not axes.texts


def test_it_draws_the_paper_s_model_unless_told_otherwise_and_on_axes_that_are_given():
    assert PAPER_AND_OTHERS[0] == (512, 4000)
    _, axes = plt.subplots()
    assert plot_schedules(title="Rates", axes=axes) is axes.figure
    assert len(axes.lines) == len(PAPER_AND_OTHERS)
    assert axes.get_title(loc="left") == "Rates"


@pytest.mark.parametrize(
    ("choices", "steps", "error", "message"),
    [
        ([], 10, ValueError, "choices must hold at least one pair of width and warm-up, got none"),
        ([(0, 4)], 10, ValueError, "d_model must be at least 1, got 0"),
        ([(8, 0)], 10, ValueError, "warmup_steps must be at least 1, got 0"),
        ([(8, 4)], 0, ValueError, "steps must be at least 1, got 0"),
        ([(8, 4)], 1.5, TypeError, "steps must be a whole number, got 1.5"),
        ([(8.5, 4)], 10, TypeError, "d_model must be a whole number, got 8.5"),
    ],
)
def test_rates_that_do_not_exist_are_refused(choices, steps, error, message):
    with pytest.raises(error, match=message):
        plot_schedules(choices, steps=steps)


GOOD = Evaluation(step=3, loss=0.1, token_accuracy=0.9, exact_match=0.75)
BAD = Evaluation(step=3, loss=0.0, token_accuracy=1.0, exact_match=0.0)


def test_each_model_has_a_bar_for_tokens_and_one_for_what_it_writes_alone():
    axes = plot_scores({"shifted": GOOD, "not $shifted$": BAD}, title="t").axes[0]
    tokens, alone = axes.containers
    assert [bar.get_height() for bar in tokens] == [0.9, 1.0]
    assert [bar.get_height() for bar in alone] == [0.75, 0.0]
    assert [text.get_text() for text in axes.texts] == ["0.90", "1.00", "0.75", "0.00"]
    names = [label.get_text() for label in axes.get_xticklabels()]
    assert names == ["shifted", r"not \$shifted\$"]
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["tokens, fed as in training", "sequences, written alone"]


def test_the_two_kinds_of_bars_differ_in_more_than_colour():
    tokens, alone = plot_scores({"a": GOOD}, title="t").axes[0].containers
    assert (tokens[0].get_hatch(), alone[0].get_hatch()) == (None, "//")


def test_nothing_to_draw_is_refused():
    with pytest.raises(ValueError, match="evaluations must hold at least one model, got none"):
        plot_scores({}, title="t")
