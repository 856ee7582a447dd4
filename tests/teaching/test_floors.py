"""Losses are drawn in blocks of steps, each with the floor that belongs to it."""

import pytest

from transformer_edu.teaching.floors import BLOCK, plot_floors

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
def test_what_cannot_be_drawn_is_refused(losses, floors, message):
    with pytest.raises(ValueError, match=message):
        plot_floors(losses, floors, title="t")
