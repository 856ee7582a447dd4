"""Every figure of lesson 02 has its title and says in words what it shows."""

from functools import partial

import pytest
import torch

from tests.room_figures import assert_it_says_what_it_shows
from transformer_course.attention import figures
from transformer_course.looking.found_heads import Head

WORDS = ["the", "it", "tired"]
WEIGHTS = torch.tensor([[0.1, 0.2, 0.7], [0.8, 0.1, 0.1], [0.2, 0.6, 0.2]])
POINTS = torch.tensor([[2.0, -0.5], [0.0, 2.0], [1.0, 0.5]])
HEAD = Head("a head", WORDS, WORDS, POINTS, POINTS, *[torch.eye(2)] * 3, layer=1, number=1)
FIGURES = {
    "plot_average": partial(figures.plot_average, POINTS[0], POINTS, POINTS, WORDS),
    "plot_flow": partial(figures.plot_flow, POINTS, POINTS, POINTS, HEAD, "it"),
    "plot_it": partial(figures.plot_it, WEIGHTS, WORDS),
    "plot_previous_words": partial(figures.plot_previous_words, HEAD),
    "plot_word": partial(figures.plot_word, HEAD, "it"),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_says_what_it_shows(name):
    assert_it_says_what_it_shows(FIGURES[name]())


def test_the_title_names_the_word_with_the_largest_weight_of_it():
    assert "it gives 80% of its attention to the" in figures.plot_it(WEIGHTS, WORDS).get_label()


@pytest.mark.parametrize(("shift", "count"), [(1, 2), (0, 0)])
def test_the_title_counts_the_words_that_attend_most_to_the_word_before(shift, count):
    query = 9 * torch.eye(3).roll(shift, dims=0)
    head = Head("a head", WORDS, WORDS, query, *[torch.eye(3)] * 4, layer=1, number=1)
    assert f"{count} of 2 words" in figures.plot_previous_words(head).get_label()
