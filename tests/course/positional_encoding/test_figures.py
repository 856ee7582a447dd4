"""Every figure of lesson 05 has its title and says in words what it shows."""

from functools import partial

import pytest
import torch

from tests.room_figures import assert_it_says_what_it_shows
from transformer_course.looking.one_head import Head
from transformer_course.looking.position_scores import Reading
from transformer_course.positional_encoding import figures

WORDS = ["a", "dog", "runs"]
READINGS = [Reading(WORDS, [0, 1, 2], "Ein Hund"), Reading(WORDS, None, "Hund ein")]
HEAD = Head("a head", WORDS, WORDS, *[torch.eye(3)] * 5, layer=1, number=1)
FIGURES = {
    "plot_exchanged": partial(figures.plot_exchanged, READINGS[0]),
    "plot_places": partial(figures.plot_places, {"with": [1.0, 1.0], "without": [0.2, 0.7]}),
    "plot_previous_words": partial(figures.plot_previous_words, HEAD, HEAD),
    "plot_usual": partial(figures.plot_usual, READINGS),
    "plot_waves": partial(figures.plot_waves, torch.eye(4)),
    "plot_without_positions": partial(figures.plot_without_positions, READINGS),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_says_what_it_shows(name):
    assert_it_says_what_it_shows(FIGURES[name]())


@pytest.mark.parametrize(("second", "count"), [(0, 1), (1, 2)])
def test_the_title_counts_the_different_translations(second, count):
    figure = figures.plot_without_positions([READINGS[0], READINGS[second]])
    assert figure.get_suptitle().endswith(str(count))
