"""Every figure of lesson 05 has its title and says in words what it shows."""

from functools import partial

import pytest
import torch

from tests.room_figures import assert_it_says_what_it_shows
from transformer_course.positional_encoding import figures
from transformer_course.positional_encoding.position_scores import Reading
from transformer_edu.model.embeddings import sinusoidal_positions
from transformer_edu.training.evaluation import Evaluation
from transformer_edu.training.state import TrainingRun

WORDS = ["a", "dog", "runs"]
USUAL, EXCHANGED = Reading(WORDS, [0, 1, 2], "Ein Hund"), Reading(WORDS, [2, 1, 0], "Ein Mann")
WITHOUT = Reading(WORDS, None, "Hund ein")
NUMBER = "2 sentences without positions"
RUN = TrainingRun(evaluations=[Evaluation(100, 1.0, 0.5, 0.25), Evaluation(200, 0.5, 1.0, 0.75)])
FIGURES = {
    "plot_learning": partial(figures.plot_learning, {"A": RUN, "B": RUN}),
    "plot_sentences": partial(figures.plot_sentences, [USUAL]),
    "plot_waves": partial(figures.plot_waves, torch.eye(4)),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_says_what_it_shows(name):
    assert_it_says_what_it_shows(FIGURES[name]())


@pytest.mark.parametrize(
    ("readings", "title"),
    [
        (
            [USUAL, USUAL._replace(words=["runs", "A", "dog"])],
            "The same words in a different order",
        ),
        ([USUAL, USUAL._replace(words=["a", "cat", "runs"])], "2 sentences, 1 translation"),
        ([USUAL, WITHOUT], "2 sentences, 2 translations"),
        ([EXCHANGED], "It writes: Ein Mann"),
        ([WITHOUT, WITHOUT], f"{NUMBER}, 1 translation"),
        ([WITHOUT, WITHOUT._replace(translation="Ein Hund")], f"{NUMBER}, 2 translations"),
    ],
)
def test_the_title_follows_from_the_positions(readings, title):
    assert figures.plot_sentences(readings).get_suptitle() == title


@pytest.mark.parametrize("order", ["interleaved", "halves"])
def test_waves_are_named_where_the_table_has_them(order):
    figure = figures.plot_waves(sinusoidal_positions(50, 32, order=order))
    title, is_waves = figure.axes[0].get_title(loc="left"), order == "interleaved"
    assert (title == "Fast waves on the left, slow ones on the right") == is_waves
    assert ("hardly" in figure.get_label(), len(figure.axes[0].texts)) == (is_waves, is_waves)


def test_the_title_of_curves_with_one_evaluation_has_this_one():
    run = TrainingRun(evaluations=RUN.evaluations[:1])
    title = figures.plot_learning({"A": run}).axes[0].get_title(loc="left")
    assert title == "Exact match after 100 steps: A 25%"


def test_the_title_of_the_curves_has_the_second_evaluation_of_each():
    title = figures.plot_learning({"A": RUN, "B": RUN}).axes[0].get_title(loc="left")
    assert title == "Exact match after 200 steps: A 75%, B 75%"


def test_a_training_that_ended_before_its_first_evaluation_is_refused():
    with pytest.raises(ValueError, match="evaluations.* got none"):
        figures.plot_learning({"mine": TrainingRun()})


def test_a_single_reading_needs_no_list():
    assert figures.plot_sentences(USUAL).get_suptitle() == "It writes: Ein Hund"


@pytest.mark.parametrize(("size", "title"), [((1, 32), "1 position"), ((50, 2), "50 positions")])
def test_one_position_and_one_pair_have_no_fast_and_slow_waves(size, title):
    axes = figures.plot_waves(sinusoidal_positions(*size)).axes[0]
    assert axes.get_title(loc="left") == title and not axes.texts


def test_without_slow_waves_there_is_no_line():
    assert not figures.plot_waves(sinusoidal_positions(500, 8)).axes[0].texts


def test_trainings_that_are_evaluated_after_other_steps_are_refused():
    shorter = TrainingRun(evaluations=RUN.evaluations[:1])
    with pytest.raises(ValueError, match=r"the same steps, got .*'B': \[100\]"):
        figures.plot_learning({"A": RUN, "B": shorter})
    with pytest.raises(ValueError, match="the same steps, got none"):
        figures.plot_learning({})
