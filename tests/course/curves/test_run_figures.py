"""Runs are drawn with all their seeds, on common scales, and their ends are told in words."""

import numpy as np
import pytest

from transformer_course.curves.run_figures import (
    describe_progress,
    describe_runs,
    generated_table,
    plot_losses,
    plot_progress,
    plot_runs,
    plot_schedules,
    plot_scores,
    plot_symptoms,
    run_table,
)
from transformer_course.curves.stored_runs import Glance, SeedRun, StoredRuns
from transformer_edu.training.config import inverse_square_root
from transformer_edu.training.evaluation import Evaluation

GLANCE = Glance(
    source=("$a$", "b", "c"),
    target=("c", "b"),
    written=("c",),
    head=1,
    weights=((0.0, 0.0, 1.0), (0.0, 0.75, 0.25), (0.5, 0.25, 0.25)),
)


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
    return StoredRuns(variant=variant, settings={}, runs=runs, glance=GLANCE)


def panels(figure):
    """Loss, scores and attention of the symptoms, three lists from left to right."""
    count = (len(figure.axes) - 1) // 3  # the last is the color bar
    return [figure.axes[row * count : (row + 1) * count] for row in range(3)]


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


def test_the_words_and_the_table_hold_smallest_and_largest():
    runs = [stored("a"), stored("same", losses=(1.0, 1.0))]
    said = "a: loss 0.10 – 0.30, exact match 1.00; same: loss 0.10, exact match 1.00"
    assert describe_runs(runs) == said
    lines = run_table(runs).splitlines()
    assert lines[0].split() == ["loss", "token", "accuracy", "exact", "match"]
    assert lines[1].split() == ["a", "0.10", "–", "0.30", "0.60", "–", "0.80", "1.00"]
    assert lines[2].split() == ["same", "0.10", "0.60", "1.00"]
    assert len({len(line) for line in lines}) == 1


def test_the_losses_of_a_run_keep_their_place_while_it_goes_on():
    axes = plot_losses([4.0, 2.5], {}, steps=50, title="t").axes[0]
    assert axes.lines[0].get_xydata().tolist() == [[1.0, 4.0], [2.0, 2.5]]
    assert axes.get_xlim() == (0, 50)


def test_a_level_is_a_dashed_line_with_its_name_and_number():
    figure = plot_losses([4.0, 2.5], {"ln $V$": 4.159}, steps=2, title="Learning")
    losses, level = figure.axes[0].lines
    assert level.get_ydata() == [4.159, 4.159]
    assert level.get_linestyle() == "--"
    assert level.get_color() != losses.get_color()
    assert [text.get_text() for text in figure.axes[0].texts] == [r"ln \$V\$ = 4.16"]
    assert figure.get_label() == "Learning. The loss of 2 of 2 steps; ln $V$ is 4.16"


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


GOOD = Evaluation(step=3, loss=0.1, token_accuracy=0.9, exact_match=0.75)
BAD = Evaluation(step=3, loss=0.0, token_accuracy=1.0, exact_match=0.0)


def test_each_model_has_a_bar_for_tokens_and_one_for_what_it_writes_alone():
    axes = plot_scores({"shifted": GOOD, "not $shifted$": BAD}, title="t").axes[0]
    tokens, alone = axes.containers
    assert [bar.get_height() for bar in tokens] == [0.9, 1.0]
    assert [bar.get_height() for bar in alone] == [0.75, 0.0]
    assert (tokens[0].get_hatch(), alone[0].get_hatch()) == (None, "//")
    assert [text.get_text() for text in axes.texts] == ["0.90", "1.00", "0.75", "0.00"]
    names = [label.get_text() for label in axes.get_xticklabels()]
    assert names == ["shifted", r"not \$shifted\$"]
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["tokens (teacher forcing)", "sequences (exact match)"]


def test_every_schedule_runs_from_step_one_to_the_last_and_marks_its_peak():
    choices = [(512, 4000), (64, 1000)]
    axes = plot_schedules(choices).axes[0]
    names = [text.get_text() for text in axes.get_legend().get_texts()]
    assert names == ["d_model 512, warm-up 4,000", "d_model 64, warm-up 1,000"]
    assert [note.get_text() for note in axes.texts] == ["0.0007", "0.004"]
    for line, note, (d_model, warmup_steps) in zip(axes.lines, axes.texts, choices, strict=True):
        x, rates = line.get_xdata().tolist(), line.get_ydata().tolist()
        assert (x[0], x[-1]) == (1, 20_000) and x == sorted(set(x))
        assert note.xy == (warmup_steps, max(rates)) and x[rates.index(max(rates))] == warmup_steps
        for step, rate in zip(x, rates, strict=True):
            assert rate == inverse_square_root(step, d_model=d_model, warmup_steps=warmup_steps)


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
