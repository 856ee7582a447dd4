"""A figure of lesson 12 with its title and words, and the sentence that another one is about.

Used in notebooks/12_generation.ipynb.
"""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from transformer_course.generation.search_tree import describe_beam_tree, plot_beam_tree
from transformer_edu.generation.hypotheses import BeamStep, Hypothesis


def plot_translator_beam(steps: Sequence[BeamStep], *, tokens: Sequence[str]) -> Figure:
    """Draw the tree of a beam of 3 over the translator's tokens.

    Args:
        steps: The records of the search, from its first step on.
        tokens: The token of every id.
    """
    figure = plot_beam_tree(steps, tokens=tokens, title="A beam of 3 in the real translator")
    figure.set_label(describe_beam_tree(steps, tokens=tokens))
    return figure


def clearest_text(translations: Mapping[str, Hypothesis], empty: Mapping[str, float]) -> str:
    """The text that shows best what the length penalty does.

    Its empty translation is more probable than the translation of a beam, but has a lower score.
    Of both margins the smaller one is as large as possible.

    Args:
        translations: What a beam with a length penalty found, by the text.
        empty: The log-probability of the empty translation, by the same texts.
    """

    def margin(text: str) -> float:
        best = translations[text]
        return min(empty[text] - best.log_probability, best.score - empty[text])

    return max(translations, key=margin)
