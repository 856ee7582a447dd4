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
    "plot_it": partial(figures.plot_it, WEIGHTS, WORDS),
    "plot_rows": partial(figures.plot_rows, WEIGHTS, HEAD, "it"),
    "plot_word": partial(figures.plot_word, HEAD, "it"),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_says_what_it_shows(name):
    assert_it_says_what_it_shows(FIGURES[name]())


def test_a_word_that_the_head_does_not_read_is_refused():
    with pytest.raises(ValueError, match="word must be one of the, it, tired, got 'guitar'"):
        figures.plot_word(HEAD, "guitar")


def test_the_title_names_the_word_with_the_largest_weight_of_it():
    assert "it gives 80% of its attention to the" in figures.plot_it(WEIGHTS, WORDS).get_label()


def test_the_scores_are_those_of_the_head_divided_by_the_root():
    scores = torch.tensor(figures.plot_rows(WEIGHTS, HEAD, "it").axes[0].images[0].get_array())
    torch.testing.assert_close(scores, POINTS @ POINTS.T / 2**0.5)
