"""The drawn learning rates are equation 3, with their peaks marked."""

import matplotlib.pyplot as plt
import pytest

from transformer_edu.teaching.schedules import PAPER_AND_OTHERS, plot_schedules, schedule_curve
from transformer_edu.training.schedule import inverse_square_root


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
