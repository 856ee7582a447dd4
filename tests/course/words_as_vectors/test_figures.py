"""Every figure of lesson 01 has its title and says in words what it shows."""

from functools import partial

import pytest
import torch

from tests.room_figures import assert_it_says_what_it_shows
from transformer_course.words_as_vectors import figures

ROWS = torch.eye(3)
FIGURES = {
    "plot_nouns": partial(figures.plot_nouns, ROWS, ["cat", "dog", "soup"], "after training"),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_says_what_it_shows(name):
    assert_it_says_what_it_shows(FIGURES[name]())


def test_the_title_counts_the_nouns():
    assert "Cosines of 3 nouns" in FIGURES["plot_nouns"]().get_label()


def test_the_nearest_words_are_words_and_not_parts_of_words(translator):
    figure = figures.plot_nearest_words(translator, "man street")
    assert_it_says_what_it_shows(figure)
    drawn = [label.get_text() for axes in figure.axes for label in axes.get_yticklabels()]
    tokens = {f"▁{word}" for word in drawn}
    assert len(drawn) == 8
    with pytest.raises(ValueError, match="source must have at least one token, got ''"):
        figures.plot_nearest_words(translator, "")
    assert tokens <= set(translator.tokenizer.tokens(range(len(translator.tokenizer))))


def test_one_noun_is_counted_and_none_is_refused():
    assert "Cosines of 1 noun now" in figures.plot_nouns(ROWS[:1], ["cat"], "now").get_label()
    with pytest.raises(ValueError, match="nouns must hold at least one word, got none"):
        figures.plot_nouns(ROWS[:0], [], "now")
