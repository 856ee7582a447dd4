"""The figures of lesson 02, each with its title and its alternative text."""

import math
from collections.abc import Sequence

from matplotlib.figure import Figure
from torch import Tensor

from transformer_course.attention.flow import plot_attention_rows
from transformer_course.attention.links import plot_links
from transformer_course.attention.live_lookup import plot_lookup
from transformer_course.drawing import course_map
from transformer_course.drawing.marked_links import plot_marked_links
from transformer_course.looking.found_heads import Head
from transformer_edu.model.refusals import require_choice


def show_map() -> None:
    """Show the map of the Transformer with every attention marked."""
    course_map.show_map("attention", title="Three boxes of the Transformer contain attention")


def plot_word(head: Head, word: str) -> Figure:
    """Draw which words a head attends to, one query in color.

    Args:
        head: Of cross-attention.
        word: One of its queries.
    """
    return plot_marked_links(head.attention_weights(), **_marked(head, word))


def plot_rows(weights: Tensor, head: Head, word: str) -> Figure:
    """Draw the scores and the weights of a head as tables with numbers, and one query's row framed.

    Args:
        weights: Shape (query, key).
        head: Gives the scores, and the rows and columns their words.
        word: The query whose row is framed.
    """
    scores = head.query_input @ head.w_query @ (head.key_input @ head.w_key).T
    scores = scores / math.sqrt(head.w_query.size(1))
    return plot_attention_rows(scores, weights, **_marked(head, word))


def _marked(head: Head, word: str) -> dict[str, object]:
    """The words of a head, and which query is marked."""
    require_choice("word", word, head.query_words)
    marked = head.query_words.index(word)
    return {"query_words": head.query_words, "key_words": head.key_words, "marked": marked}


def plot_average(query: Tensor, key: Tensor, value: Tensor, words: Sequence[str]) -> Figure:
    """Draw the query of *it*, its keys, and the average of the values.

    Args:
        query: Shape (2,): alive, does not move.
        key: Shape (key, 2).
        value: Shape (key, 2).
        words: One per key.
    """
    features = ["alive", "does not move"]
    return plot_lookup(query, key, value, words=words, features=features)


def plot_it(weights: Tensor, words: Sequence[str]) -> Figure:
    """Draw which words *it* attends to; the title names the one with the largest weight.

    Args:
        weights: Shape (word, word).
        words: Of the rows and of the columns; the last one makes the sentence clear.
    """
    it = words.index("it")
    best = words[weights[it].argmax()]
    title = f"too {words[-1]}: it gives {weights[it].max():.0%} of its attention to {best}"
    figure = plot_links(weights, query_tokens=words, key_tokens=words, title=title, only_query=it)
    figure.set_label(f"lines from it to the words of the sentence. {title}")
    return figure
