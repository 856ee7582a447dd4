"""Every figure of lesson 11 has its title and says in words what it shows."""

import pytest

from tests.room_figures import assert_it_says_what_it_shows
from transformer_course.diagnosis.figures import load_trained, plot_learning, plot_observations
from transformer_course.diagnosis.observations import CHANGES
from transformer_edu.training.evaluation import Evaluation

EVALUATIONS = [Evaluation(25, 1.0, 0.5, 0.0), Evaluation(50, 0.5, 0.95, 0.25)]


def test_the_figure_of_a_training_says_what_it_shows():
    figure = plot_learning(EVALUATIONS)
    assert_it_says_what_it_shows(figure)
    assert figure.get_label() == "Correct tokens: 0.95, correct numbers: 0.25"


def test_one_of_the_stored_models_is_healthy():
    trained = load_trained()
    assert [runs.variant for runs in trained].count("correct") == 1
    assert len({runs.variant for runs in trained}) == 6


def test_observations_are_squares_with_a_cross_where_an_answer_moved():
    seen = dict.fromkeys(CHANGES, [False, True, True])
    still = dict.fromkeys(CHANGES, [False] * 3)
    figure = plot_observations({"patient 1": seen, "patient 2": still}, title="Two patients")
    first, second = figure.axes
    assert len(first.texts) == 2 * len(CHANGES)
    assert not second.texts
    assert (first.images[0].get_array() > 0).tolist() == [[False, True, True]] * len(CHANGES)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["patient 1", "patient 2"]


def test_a_training_that_ended_before_its_first_evaluation_is_refused():
    with pytest.raises(ValueError, match="evaluations.* got none"):
        plot_learning([])
