"""The figure of lesson 12 has its title and its words."""

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
