"""Redrawing is measured in every state of every control, and the control is left as it was."""

from types import SimpleNamespace

import ipywidgets as widgets
import matplotlib.pyplot as plt
import pytest
from matplotlib.figure import Figure

from experiments.benchmark import redraw as module
from experiments.benchmark.redraw import (
    ROUNDS,
    STATES,
    redraw_seconds,
    report_redraw,
    states,
)
from transformer_course.drawing.display import explore


class Clock:
    """A clock that only drawing moves."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def process_time(self) -> float:
        return self.seconds


@pytest.fixture
def clock(monkeypatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(module, "time", SimpleNamespace(process_time=made.process_time))
    return made


def test_every_picture_that_a_control_leads_to_is_counted_once_the_fastest_time(clock):
    slider, picture = widgets.IntSlider(value=2, min=1, max=4), widgets.HTML("2")
    drawn = []

    def redraw(change: dict) -> None:
        drawn.append(change["new"])
        picture.value = str(min(change["new"], 3))  # 3 and 4 look the same
        clock.seconds += change["new"] + (100 if len(drawn) in range(6, 11) else 0)

    slider.observe(redraw, "value")
    assert redraw_seconds(slider, picture, rounds=3) == [1, 2, 3]  # the second round was slow
    assert slider.value == 2
    assert drawn == [1, 2, 3, 4, 2] * 3


@pytest.mark.parametrize(
    ("control", "values"),
    [
        (widgets.IntSlider(min=1, max=3), [1, 2, 3]),
        (widgets.IntSlider(min=0, max=10), [0, 2, 4, 6, 8, 10]),
        (widgets.SelectionSlider(options=[("off", 0), ("1", 1)]), [0, 1]),
        (widgets.Checkbox(), [False, True]),
    ],
    ids=["few", "many", "named", "checkbox"],
)
def test_the_states_of_a_control_reach_from_its_first_to_its_last(control, values):
    assert states(control) == values
    assert len(values) <= STATES


@pytest.mark.parametrize("rounds", [None, 2])
def test_the_report_has_median_and_most_of_each_explorer_in_milliseconds(
    rounds, clock, monkeypatch
):
    drawn = []

    def draw(number: int, *, square: bool) -> Figure:
        drawn.append(number)
        clock.seconds += number**2 / 1000 if square else 0.03
        figure, axes = plt.subplots(figsize=(2, 1))
        axes.bar([0, 1], [number, square])
        return figure

    def sample() -> None:
        slider = widgets.IntSlider(value=1, min=1, max=5, description="number")
        box = widgets.Checkbox(value=True, description="square")
        explore(draw, lambda number, square: f"{number} {square}", number=slider, square=box)

    monkeypatch.setattr(module, "explorer_samples", lambda: {"explore_numbers": sample})
    first, table = report_redraw(rounds)
    assert first.startswith("CPU time of a new picture")
    heads, _, row = ([cell.strip() for cell in line.split("|")] for line in table.splitlines())
    assert heads[1:-1] == ["explorer", "pictures", "median, ms", "most, ms"]
    # 1, 4, 9, 16 and 25 ms for the squares, 30 and 1 ms for the checkbox
    assert row[1:-1] == ["explore_numbers", "7", "9", "30"]
    moves = 5 + 2  # the slider's way through its states and back, and the checkbox's
    assert len(drawn) == 1 + moves * (rounds or ROUNDS)


@pytest.mark.parametrize("rounds", [0, -1])
def test_no_rounds_are_refused(rounds):
    with pytest.raises(ValueError, match=f"rounds must be at least 1, got {rounds}"):
        redraw_seconds(widgets.IntSlider(), widgets.HTML(), rounds)
