"""Every figure of lesson 01 has its title and says in words what it shows."""

from functools import partial

import pytest
import torch

from tests.room_figures import assert_it_says_what_it_shows
from transformer_course.words_as_vectors import figures
from transformer_edu.training.evaluation import Evaluation
from transformer_edu.training.state import TrainingRun

ROWS = torch.eye(3)
RUN = TrainingRun(evaluations=[Evaluation(100, 1.0, 0.5, 0.25), Evaluation(200, 0.5, 1.0, 0.75)])
FIGURES = {
    "plot_learning": partial(figures.plot_learning, RUN, RUN),
    "plot_nouns": partial(figures.plot_nouns, ROWS, ["cat", "dog", "soup"], "after training"),
    "plot_sums": partial(figures.plot_sums, ROWS, ROWS),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_says_what_it_shows(name):
    assert_it_says_what_it_shows(FIGURES[name]())


def test_the_title_is_about_the_model_that_came_last():
    longer = TrainingRun(evaluations=RUN.evaluations[:1] * 2)
    assert "from N(0, 1) reaches 75% in 200" in figures.plot_learning(RUN, RUN).get_label()
    assert "positions: 25% after 100" in figures.plot_learning(RUN, RUN, longer).get_label()


def test_the_nearest_words_are_words_and_not_parts_of_words(translator):
    figure = figures.plot_nearest_words(translator, "man street")
    assert_it_says_what_it_shows(figure)
    drawn = [label.get_text() for axes in figure.axes for label in axes.get_yticklabels()]
    tokens = {f"▁{word}" for word in drawn}
    assert len(drawn) == 8
    assert tokens <= set(translator.tokenizer.tokens(range(len(translator.tokenizer))))
