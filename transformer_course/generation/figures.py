"""A figure of lesson 12 with its title and words.

Used in notebooks/12_generation.ipynb.
"""

from collections.abc import Sequence

from matplotlib.figure import Figure

from transformer_course.generation.search_tree import (
    branches_by_step,
    describe_beam_tree,
    plot_beam_tree,
)
from transformer_edu.generation.hypotheses import BeamStep


def plot_translator_beam(steps: Sequence[BeamStep], *, tokens: Sequence[str]) -> Figure:
    """Draw the tree of a beam over the translator's tokens.

    Args:
        steps: The records of the search, from its first step on.
        tokens: The token of every id.
    """
    width = max(map(len, branches_by_step(steps)))
    title = f"A beam of {width} in the real translator"
    figure = plot_beam_tree(steps, tokens=tokens, title=title)
    figure.set_label(describe_beam_tree(steps, tokens=tokens))
    return figure
