"""The figure of lesson 12 has its title and its words."""

import pytest

from tests.room_figures import assert_it_says_what_it_shows
from transformer_course.generation.figures import plot_translator_beam
from transformer_course.generation.table_model import TableModel
from transformer_edu.generation.beam import beam_search


def test_a_figure_says_what_it_shows():
    model, steps = TableModel({"": {"it": 0.6, "there": 0.4}, "it": {"is": 0.7, "was": 0.3}}), []
    beam_search(model, model.source_ids, width=3, after_step=steps.append)
    figure = plot_translator_beam(steps, tokens=model.vocabulary.tokens)
    assert_it_says_what_it_shows(figure)
    assert figure.axes[0].get_title("left") == "A beam of 3 in the real translator"


def test_ids_without_a_token_are_refused():
    model, steps = TableModel({"": {"it": 0.6, "there": 0.4}}), []
    beam_search(model, model.source_ids, width=2, after_step=steps.append)
    with pytest.raises(ValueError, match="hold the token of every id, up to 5, got 3 tokens"):
        plot_translator_beam(steps, tokens=model.vocabulary.tokens[:3])


def test_a_search_without_records_is_refused():
    with pytest.raises(ValueError, match="steps must hold something to draw, got an empty list"):
        plot_translator_beam([], tokens=["a"])
