"""The explorer of lesson 12 is a thin shell: every state of its controls draws and describes."""

from functools import partial

import ipywidgets as widgets
import matplotlib.pyplot as plt
import pytest

from experiments.benchmark.explorer_samples import made_box
from tests.published import caught_explorers
from transformer_course.generation import beam_explorer as live_beams
from transformer_course.generation.beam_explorer import ALPHAS, WIDTHS, explore_beams
from transformer_course.generation.table_model import TableModel
from transformer_edu.generation.beam import beam_search

TABLE = {
    "": {"up": 0.5, "down": 0.3, "</s>": 0.2},
    "up": {"up": 0.25, "down": 0.75},
    "up down": {"</s>": 0.6, "up": 0.4},
}
MODEL = TableModel(TABLE)
TOKENS = MODEL.vocabulary.tokens


@pytest.fixture
def explored(monkeypatch) -> list[tuple]:
    return caught_explorers(monkeypatch, live_beams)


def test_every_state_of_the_controls_is_drawn_and_described(explored):
    explore_beams(MODEL, MODEL.source_ids, tokens=TOKENS, width=2, alpha=0.0)
    ((draw, alt, controls),) = explored
    first = {name: control.value for name, control in controls.items()}
    for name, control in controls.items():
        assert control.description
        for value in _values(control):
            draw(**(first | {name: value}))
            assert alt(**(first | {name: value}))
            plt.close("all")


def _values(control: widgets.ValueWidget) -> list:
    if isinstance(control, widgets.IntSlider):
        return [control.min, control.max]
    return [option[1] if isinstance(option, tuple) else option for option in control.options]


def test_the_sliders_start_where_they_are_told(explored):
    explore_beams(MODEL, MODEL.source_ids, tokens=TOKENS, width=3, alpha=0.6)
    ((_, _, beams),) = explored
    assert (beams["width"].value, beams["alpha"].value) == (3, 0.6)


@pytest.mark.parametrize(("width", "alpha"), [(100, 0.0), (0, 0.0), (2, 5.0)])
def test_a_start_that_no_slider_has_is_refused(width, alpha):
    with pytest.raises(ValueError, match="must be one of"):
        explore_beams(MODEL, MODEL.source_ids, tokens=TOKENS, width=width, alpha=alpha)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("alpha", [ALPHAS[0], ALPHAS[-1]])
def test_the_tree_names_what_beam_search_returns(explored, width, alpha):
    explore_beams(MODEL, MODEL.source_ids, tokens=TOKENS, width=width, alpha=alpha)
    ((tree, _, controls),) = explored
    ((best,),) = beam_search(MODEL, MODEL.source_ids, width=width, alpha=alpha)
    words = " ".join(MODEL.vocabulary.decode(best.token_ids))
    title = tree(step=controls["step"].max, width=width, alpha=alpha).axes[0].get_title(loc="left")
    assert title == f"Width {width}, α = {alpha:g}: “{words}” wins"


class Endless(TableModel):
    """After every beginning comes what comes first."""

    def decode(self, target_ids, memory, *, source_mask=None):
        return self._rows[()].expand(*target_ids.shape, -1)


def test_nothing_wins_where_the_best_has_not_finished(explored):
    model = Endless({"": {"on": 0.9, "</s>": 0.1}})
    tokens = model.vocabulary.tokens
    explore_beams(model, model.source_ids, tokens=tokens, width=2, alpha=1.0)
    ((draw, _, controls),) = explored
    ((best,),) = beam_search(model, model.source_ids, width=2, alpha=1.0)
    last = controls["step"].max
    title = draw(step=last, width=2, alpha=1.0).axes[0].get_title(loc="left")
    assert not best.finished and title == f"Width 2, α = 1, step {last} of {last}"


def test_tokens_that_do_not_reach_to_every_id_are_refused(explored):
    with pytest.raises(ValueError, match=r"tokens must hold the token of every id, up to 5, got 4"):
        explore_beams(MODEL, MODEL.source_ids, tokens=TOKENS[:4], width=2, alpha=0.0)


@pytest.fixture
def lengths() -> dict[tuple[int, float], int]:
    """How many steps the search of every width and alpha has."""
    found = {}
    for width in WIDTHS:
        for alpha in ALPHAS:
            steps = []
            search = {"width": width, "alpha": alpha, "after_step": steps.append}
            beam_search(MODEL, MODEL.source_ids, **search)
            found[width, alpha] = len(steps)
    return found


def test_the_slider_of_steps_ends_where_the_search_does(explored, lengths):
    assert len(set(lengths.values())) > 1
    explore_beams(MODEL, MODEL.source_ids, tokens=TOKENS, width=2, alpha=0.0)
    ((draw, _, controls),) = explored
    step, width, alpha = (controls[name] for name in ("step", "width", "alpha"))
    for width.value, alpha.value in lengths:
        last = lengths[width.value, alpha.value]
        assert (step.value, step.max) == (last, last)
        title = draw(step=last, width=width.value, alpha=alpha.value).axes[0].get_title("left")
        assert title.endswith("wins")
        plt.close("all")


def test_an_early_step_stays_chosen_while_it_exists(explored, lengths):
    longest, shortest = (choose(lengths, key=lengths.get) for choose in (max, min))
    explore_beams(MODEL, MODEL.source_ids, tokens=TOKENS, width=longest[0], alpha=longest[1])
    ((_, _, controls),) = explored
    step, width, alpha = (controls[name] for name in ("step", "width", "alpha"))
    for early in range(1, lengths[longest]):
        width.value, alpha.value = longest
        step.value = early
        width.value, alpha.value = shortest
        assert step.value == min(early, lengths[shortest])


def test_a_different_search_is_drawn_once():
    box = made_box(
        partial(explore_beams, MODEL, MODEL.source_ids, tokens=TOKENS, width=1, alpha=1.0)
    )
    step, width, _, picture = box.children
    pictures = []
    picture.observe(lambda change: pictures.append(change.new), "value")
    lasts = {step.value}
    for width.value in WIDTHS[1:]:
        lasts.add(step.value)
        assert f"step {step.value} of {step.value}" in picture.value
    assert len(lasts) > 1
    assert len(pictures) == len(WIDTHS) - 1
    step.value -= 1
    assert len(pictures) == len(WIDTHS)


def test_before_the_last_step_the_tree_does_not_tell_the_winner(explored):
    explore_beams(MODEL, MODEL.source_ids, tokens=TOKENS, width=2, alpha=0.0)
    ((draw, _, _),) = explored
    title = draw(step=1, width=2, alpha=0.0).axes[0].get_title(loc="left")
    assert title.startswith("Width 2, α = 0, step 1 of ")


def test_nothing_is_searched_while_a_slider_is_moved(explored, monkeypatch):
    explore_beams(MODEL, MODEL.source_ids, tokens=TOKENS, width=2, alpha=0.0)
    ((draw, _, _),) = explored
    monkeypatch.setattr(MODEL, "encode", None)
    draw(step=2, width=4, alpha=1.0)
