"""The figures of lesson 01, each with its title and its alternative text."""

from collections.abc import Sequence

from matplotlib.figure import Figure
from torch import Tensor

from transformer_course.drawing import course_map
from transformer_course.looking.recording import WORD_START, source_row
from transformer_course.words_as_vectors.vector_pictures import (
    nearest,
    plot_neighbors,
    plot_similarities,
)
from transformer_edu.generation.translator import Translator

SHORTEST = 3  # letters of a word that may be a neighbor


def show_map() -> None:
    """Show the map of the Transformer with the tokens and their embedding marked."""
    title = "Words become vectors at the bottom, on both sides"
    course_map.show_map(("tokens", "token embedding"), title=title)


def plot_nearest_words(translator: Translator, text: str) -> Figure:
    """Draw the four words whose vectors point most nearly the same way, for each token of a text.

    Args:
        translator: Its tokenizer is the package's.
        text: At most four tokens.

    Raises:
        ValueError: If text is empty.
    """
    table = translator.model.source_embedding.table.weight
    tokens = translator.tokenizer.tokens(range(len(table)))
    words = [
        token_id
        for token_id, token in enumerate(tokens)
        if token.startswith(WORD_START) and len(token) > SHORTEST
    ]
    names = [token.strip(WORD_START) or token for token in tokens]
    asked = source_row(translator, text)[0].tolist()
    return plot_neighbors(nearest(table, asked, tokens=names, count=4, among=words))


def plot_nouns(vectors: Tensor, nouns: Sequence[str], when: str) -> Figure:
    """Draw the cosine of every two nouns.

    Args:
        vectors: Shape (noun, width).
        nouns: One per vector.
        when: Such as "before training".
    """
    if not len(nouns):
        raise ValueError("nouns must hold at least one word, got none")
    title = f"Cosines of {len(nouns)} noun{'s' * (len(nouns) > 1)} {when}"
    figure = plot_similarities(vectors, names=nouns, item="word", title=title)
    figure.set_label(f"grid of cosines. {title}")
    return figure
