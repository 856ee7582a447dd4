"""The figure of lesson 12 has its title and its words, and the clearest sentence is found."""

from tests.room_figures import assert_it_says_what_it_shows
from transformer_course.generation.figures import clearest_text, plot_translator_beam
from transformer_course.generation.table_model import TableModel
from transformer_edu.generation.beam import beam_search
from transformer_edu.generation.hypotheses import Hypothesis


def test_a_figure_says_what_it_shows():
    model, steps = TableModel({"": {"it": 0.6, "there": 0.4}, "it": {"is": 0.7, "was": 0.3}}), []
    beam_search(model, model.source_ids, width=3, after_step=steps.append)
    assert_it_says_what_it_shows(plot_translator_beam(steps, tokens=model.vocabulary.tokens))


def hypothesis(log_probability: float, score: float) -> Hypothesis:
    return Hypothesis(token_ids=[4], log_probability=log_probability, score=score, finished=True)


def test_the_clearest_text_has_both_margins():
    translations = {
        "the empty one is less probable": hypothesis(-2.0, -1.0),
        "both margins": hypothesis(-9.0, -5.0),
        "the empty one wins with the penalty, too": hypothesis(-9.0, -8.0),
    }
    empty = dict(zip(translations, (-3.0, -7.0, -7.0), strict=True))
    assert clearest_text(translations, empty) == "both margins"
