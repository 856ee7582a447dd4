"""Every figure of lesson 05 has its title and says in words what it shows."""

from functools import partial

import pytest
import torch

from tests.room_figures import assert_it_says_what_it_shows
from transformer_course.looking.found_heads import Head
from transformer_course.positional_encoding import figures
from transformer_course.positional_encoding.position_scores import Reading

WORDS = ["a", "dog", "runs"]
USUAL, EXCHANGED = Reading(WORDS, [0, 1, 2], "Ein Hund"), Reading(WORDS, [2, 1, 0], "Ein Mann")
WITHOUT = Reading(WORDS, None, "Hund ein")
NUMBER = "Different translations without positions"
HEAD = Head("a head", WORDS, WORDS, *[torch.eye(3)] * 5, layer=1, number=1)
FIGURES = {
    "plot_places": partial(figures.plot_places, {"with": [1.0, 1.0], "without": [0.2, 0.7]}),
    "plot_previous_words": partial(figures.plot_previous_words, HEAD, HEAD),
    "plot_sentences": partial(figures.plot_sentences, [USUAL]),
    "plot_waves": partial(figures.plot_waves, torch.eye(4)),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_says_what_it_shows(name):
    assert_it_says_what_it_shows(FIGURES[name]())


@pytest.mark.parametrize(
    ("readings", "title"),
    [
        ([USUAL, USUAL], "The same words in a different order"),
        ([EXCHANGED], "It writes: Ein Mann"),
        ([WITHOUT, WITHOUT], f"{NUMBER}: 1"),
        ([WITHOUT, WITHOUT._replace(translation="Ein Hund")], f"{NUMBER}: 2"),
    ],
)
def test_the_title_follows_from_the_positions(readings, title):
    assert figures.plot_sentences(readings).get_suptitle() == title
