"""Every figure of lesson 11 has its title and says in words what it shows."""

from functools import partial

import pytest

from tests.room_figures import assert_it_says_what_it_shows
from transformer_course.curves.stored_runs import load_runs
from transformer_course.diagnosis import figures
from transformer_course.diagnosis.checks import case_sheet
from transformer_edu.training.evaluation import Evaluation

EVALUATIONS = [Evaluation(25, 1.0, 0.5, 0.0), Evaluation(50, 0.5, 0.95, 0.25)]
DAMAGE = {"healthy": {-1: 1.0, 0: 0.5, 1: 0.75}, "patient": {-1: 0.25, 0: 1.0, 1: 1.0}}
HIGH = [load_runs("no positions"), load_runs("6+6 layers, no warm-up")]
FIGURES = {
    "plot_case_sheet": partial(figures.plot_case_sheet, case_sheet("DF")),
    "plot_damage": partial(figures.plot_damage, DAMAGE),
    "plot_high_losses": partial(figures.plot_high_losses, HIGH),
    "plot_learning": partial(figures.plot_learning, EVALUATIONS),
    "plot_suspects": partial(figures.plot_suspects, figures.load_suspects()),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_says_what_it_shows(name):
    assert_it_says_what_it_shows(FIGURES[name]())


def test_titles_name_what_they_are_about():
    assert (
        "tokens right: 0.95, numbers right: 0.25" in FIGURES["plot_learning"]().get_label().lower()
    )
    assert "healthy 1.00, patient 0.25" in FIGURES["plot_damage"]().get_label()
    assert "How D, F learned" in FIGURES["plot_case_sheet"]().get_suptitle()
    assert f"{HIGH[0].last[0].loss:.1f} and" in FIGURES["plot_high_losses"]().get_suptitle()


def test_a_nameless_table_has_the_numbers_and_no_name():
    suspects = figures.load_suspects()
    table = figures.nameless_table(suspects)
    assert [line[:7] for line in table.splitlines()[1:]] == [f"model {i}" for i in (1, 2, 3, 4)]
    assert not any(each.variant in table for each in suspects)
