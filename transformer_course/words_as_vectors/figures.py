"""The figures of lesson 01, each with its title and its alternative text."""

from collections.abc import Sequence

from matplotlib.figure import Figure
from torch import Tensor

from transformer_course.drawing import course_map
from transformer_course.drawing.charts import plot_lines
from transformer_course.looking.recording import WORD_START
from transformer_course.words_as_vectors.vector_pictures import (
    nearest,
    plot_neighbors,
    plot_similarities,
    plot_tables,
)
from transformer_edu.generation.translator import Translator
from transformer_edu.training.state import TrainingRun

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
    """
    table = translator.model.source_embedding.table.weight
    tokens = translator.tokenizer.tokens(range(len(table)))
    words = [
        token_id
        for token_id, token in enumerate(tokens)
        if token.startswith(WORD_START) and len(token) > SHORTEST
    ]
    names = [token.strip(WORD_START) or token for token in tokens]
    asked = translator.tokenizer.encode(text)
    return plot_neighbors(nearest(table, asked, tokens=names, count=4, among=words))


def plot_nouns(vectors: Tensor, nouns: Sequence[str], when: str) -> Figure:
    """Draw the cosine of every two nouns.

    Args:
        vectors: Shape (noun, width).
        nouns: One per vector.
        when: Such as "before training".
    """
    title = f"Cosines of six nouns {when}"
    figure = plot_similarities(vectors, names=nouns, item="word", title=title)
    figure.set_label(f"grid of cosines. {title}")
    return figure


def plot_sums(narrow: Tensor, standard: Tensor) -> Figure:
    """Draw one word plus the encodings of its positions, for two tables of embeddings.

    Args:
        narrow: The word from N(0, 1/64), times √64; shape (position, d_model).
        standard: The word from N(0, 1), times √64; the same shape.
    """
    figure = plot_tables(
        {"N(0, 1/64) × √64": narrow, "N(0, 1) × √64": standard},
        row_label="position",
        column_label="number within the vector",
        title="One word at twenty positions: only on the left do the rows differ visibly",
    )
    figure.set_label("left: the first numbers change with the position; right: all rows look alike")
    return figure


def plot_learning(
    narrow: TrainingRun, standard: TrainingRun, longer: TrainingRun | None = None
) -> Figure:
    """Draw how models learn whose embeddings start differently: the exact match of each evaluation.

    Args:
        narrow: The training from N(0, 1/32).
        standard: The training from N(0, 1); without longer, the title is about it.
        longer: The training from N(0, 1) with longer positions, if there is one.
    """
    runs = {"N(0, 1/32)": narrow, "N(0, 1)": standard}
    last = standard.evaluations[-1]
    curves = "two learning curves"
    title = f"The start from N(0, 1) reaches {last.exact_match:.0%} in {last.step} steps"
    if longer is not None:
        runs["N(0, 1), longer positions"] = longer
        second = longer.evaluations[1]
        curves = "three curves"
        title = f"With longer positions: {second.exact_match:.0%} after {second.step} steps"
    figure = plot_lines(
        {name: [each.exact_match for each in run.evaluations] for name, run in runs.items()},
        x=[each.step for each in narrow.evaluations],
        x_label="training step",
        y_label="exact match",
        title=title,
    )
    figure.set_label(f"{curves}. {title}")
    return figure
