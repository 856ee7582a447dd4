"""Redrawing is measured in every state of every control, and the control is left as it was."""

import ipywidgets as widgets
import pytest

from transformer_edu.benchmark.redraw import STATES, redraw_seconds, report_redraw, states
from transformer_edu.teaching import explorer_samples as samples
from transformer_edu.teaching.explorers import explore_masks


def test_every_picture_that_a_control_leads_to_is_counted_once():
    slider, picture = widgets.IntSlider(value=2, min=1, max=4), widgets.HTML("2")
    drawn = []

    def redraw(change: dict) -> None:
        drawn.append(change["new"])
        picture.value = str(min(change["new"], 3))  # 3 and 4 look the same

    slider.observe(redraw, "value")
    assert len(redraw_seconds(slider, picture, rounds=2)) == 3
    assert slider.value == 2
    assert drawn == [1, 2, 3, 4, 2, 1, 2, 3, 4, 2]


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


def test_the_report_has_a_row_for_each_explorer(monkeypatch):
    monkeypatch.setattr(samples, "explorer_samples", lambda: {"explore_masks": explore_masks})
    *_, table = report_redraw(rounds=1)
    heads, _, row = table.splitlines()
    assert "most, ms" in heads
    _, name, pictures, *_ = (cell.strip() for cell in row.split("|"))
    assert name == "explore_masks"
    assert int(pictures) == 5 + 2 + 2  # 0 to 4 padding tokens, two checkboxes
