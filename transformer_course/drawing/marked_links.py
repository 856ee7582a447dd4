"""Attention as links between words, one word's links marked."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from transformer_course.drawing.grid import require_weights
from transformer_course.drawing.style import VERMILION, literal, styled
from transformer_edu.model.refusals import require_whole

QUIET, QUIET_WORDS = "#9AA5B1", "#5C7084"  # beside the marked ones
FAINTEST = 0.04  # weights below it are not drawn


@styled
def plot_marked_links(
    attention_weights: Tensor,
    *,
    query_words: Sequence[str],
    key_words: Sequence[str],
    marked: int,
) -> Figure:
    """Draw which words are attended to, one query in color and the others in grey.

    The title, and the figure's label, name the key with the largest weight.

    Args:
        attention_weights: Weights of one head, shape (query, key).
        query_words: The lower row.
        key_words: The upper row.
        marked: Which query is drawn in color.

    Returns:
        A new figure.
    """
    weights = require_weights(attention_weights, query_words, key_words)
    require_whole("marked", marked, minimum=0, maximum=len(weights) - 1)
    figure, axes = plt.subplots(figsize=(9, 3.4))
    upper, lower = (_places(words) for words in (key_words, query_words))
    best = int(weights[marked].argmax())
    for (query, key), weight in np.ndenumerate(weights):
        if weight > FAINTEST:
            is_marked = query == marked
            axes.plot(
                [lower[query], upper[key]],
                [0.18, 0.82],
                color=VERMILION if is_marked else QUIET,
                linewidth=8 * weight,
                alpha=1.0 if is_marked else 0.55,
                marker="",
                zorder=2 if is_marked else 1,
                solid_capstyle="round",
            )
    _write_row(axes, "English input", upper, key_words, y=0.91, strong=best)
    _write_row(axes, "next German word", lower, query_words, y=0.09, strong=marked)
    axes.set(xlim=(0, 1), ylim=(-0.08, 1.08))
    axes.set_axis_off()
    query, key = literal(query_words[marked]), literal(key_words[best])
    axes.set_title(f"About to write {query}, the translator attends most to {key}")
    figure.set_label(describe_marked_links(attention_weights, query_words, key_words, marked))
    return figure


def describe_marked_links(
    attention_weights: Tensor, query_words: Sequence[str], key_words: Sequence[str], marked: int
) -> str:
    """What plot_marked_links shows, in words.

    Args:
        attention_weights, query_words, key_words, marked: As for plot_marked_links.
    """
    best = int(attention_weights[marked].argmax())
    return (
        "lines from every German word to the English words that it attends to, thicker for larger "
        f"weights; the thickest line of {query_words[marked]} goes to {key_words[best]}"
    )


def _write_row(
    axes: Axes, name: str, places: list[float], words: Sequence[str], *, y: float, strong: int
) -> None:
    """One row of words, one of them in color, and outside of it what the row is."""
    axes.text(
        0, y + (0.11 if y > 0.5 else -0.11), name, color=QUIET_WORDS, va="center", fontsize=12
    )
    for place, (x, word) in enumerate(zip(places, words, strict=True)):
        style = {"weight": "bold", "color": VERMILION} if place == strong else {}
        axes.text(x, y, literal(word), ha="center", va="center", fontsize=13, **style)


def _places(words: Sequence[str]) -> list[float]:
    """Where the middle of each word is along a row from 0 to 1, longer words with more room."""
    widths = np.array([len(word) + 3 for word in words], dtype=float)
    ends = widths.cumsum() / widths.sum()
    return (ends - widths / widths.sum() / 2).tolist()
