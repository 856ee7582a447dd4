"""Every explorer's drawing works without its controls and says what it shows."""

import itertools

import ipywidgets as widgets
import matplotlib.pyplot as plt
import pytest

from tests.published import caught_explorers
from transformer_edu.teaching.explorers import attention as explorers
from transformer_edu.teaching.explorers.attention import (
    describe_masks,
    describe_positions,
    draw_masks,
    draw_positions,
    explore_head_switches,
)


@pytest.fixture
def explored(monkeypatch) -> list[tuple]:
    return caught_explorers(monkeypatch, explorers)


def test_masks_combine_as_the_toggles_say():
    counts = {
        toggles: int(draw_masks(2, *toggles).axes[0].images[0].get_array().sum())
        for toggles in itertools.product([False, True], repeat=2)
    }
    # 6 positions, 2 of them padding: everything, the lower triangle, 4 columns, both.
    assert counts[(False, False)] == 36
    assert counts[(False, True)] == 21
    assert counts[(True, False)] == 24
    assert counts[(True, True)] == 18


def test_the_mask_is_told_in_words():
    assert "hiding padding and the future: 18 of 36" in describe_masks(2, True, True)
    assert "hiding nothing: 36 of 36" in describe_masks(2, False, False)


def test_the_turn_depends_on_the_shift_and_not_on_the_position():
    written = {
        tuple(text.get_text() for axes in draw_positions(p, 4).axes for text in axes.texts)
        for p in (0, 11, 30)
    }
    assert written == {("4 radians", "0.4 radians", "0.04 radians", "0.004 radians")}
    assert "differ by 2, 0.2, 0.02, 0.002 radians" in describe_positions(5, 2)


def test_every_explorer_draws_and_describes_every_state_of_its_controls(explored):
    explorers.explore_masks()
    explorers.explore_positions()
    explore_head_switches(lambda off: {"both": 1 - len(off) / 2}, num_heads=2)
    assert len(explored) == 3
    for draw, alt, controls in explored:
        for name, control in controls.items():
            assert control.description
            first = {other: widget.value for other, widget in controls.items()}
            for value in _ends(control):
                draw(**(first | {name: value}))
                assert alt(**(first | {name: value}))
                plt.close("all")


def _ends(control: widgets.ValueWidget) -> list:
    if isinstance(control, widgets.IntSlider):
        return [control.min, control.max]
    return [False, True]


def test_a_head_without_its_tick_is_switched_off(explored):
    explore_head_switches(lambda off: {"before": 0.0 if 1 in off else 1.0}, num_heads=2)
    ((draw, alt, controls),) = explored
    assert [control.description for control in controls.values()] == [
        "head 1 is on",
        "head 2 is on",
    ]
    on, off = {"head_1": True, "head_2": True}, {"head_1": False, "head_2": True}
    (bar,) = draw(**off).axes[0].patches
    assert bar.get_height() == 0
    assert alt(**on) == "All heads are on: right more than nine times in ten: before"
    assert alt(**off) == "head 1 switched off: right more than nine times in ten: none"
