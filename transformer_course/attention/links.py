"""Attention weights as links between words."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from torch import Tensor

from transformer_course.drawing.grid import (
    KEY_AXIS,
    QUERY_AXIS,
    require_weights,
)
from transformer_course.drawing.style import BLUE, literal, styled


@styled
def plot_links(
    attention_weights: Tensor,
    *,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    title: str,
    only_query: int | None = None,
) -> Figure:
    """Draw attention as lines from each query to the keys that it attends to.

    Args:
        attention_weights: Weights of one head, shape (query, key); a line's width is its weight.
        query_tokens: The upper row.
        key_tokens: The lower row.
        title: What the reader should see, as a sentence.
        only_query: Draw the lines of this query alone; of all when None.

    Returns:
        A new figure.

    Raises:
        ValueError: As for plot_attention.
    """
    weights = require_weights(attention_weights, query_tokens, key_tokens)
    longest = max(len(query_tokens), len(key_tokens))
    figure, axes = plt.subplots(figsize=(min(3 + 0.55 * longest, 9.5), 3.2))
    upper = np.linspace(0, 1, 2 * len(query_tokens) + 1)[1::2]
    lower = np.linspace(0, 1, 2 * len(key_tokens) + 1)[1::2]
    for (query, key), weight in np.ndenumerate(weights):
        if only_query in (None, query) and weight > 0.01:
            axes.plot(
                [upper[query], lower[key]],
                [0.86, 0.14],
                color=BLUE,
                alpha=float(0.15 + 0.85 * weight),
                linewidth=float(0.5 + 9 * weight),
                marker="",
                solid_capstyle="round",
            )
    for index, (x, token) in enumerate(zip(upper, query_tokens, strict=True)):
        weight = "bold" if index == only_query else "normal"
        axes.text(x, 0.9, literal(token), ha="center", va="bottom", fontsize=12, weight=weight)
    for x, token in zip(lower, key_tokens, strict=True):
        axes.text(x, 0.1, literal(token), ha="center", va="top", fontsize=12)
    for y, name in ((0.86, QUERY_AXIS), (0.14, KEY_AXIS)):
        axes.text(-0.01, y, name, ha="right", va="center", fontsize=12, style="italic")
    axes.set(xlim=(-0.12, 1.02), ylim=(0, 1))
    axes.set_axis_off()
    axes.set_title(title)
    return figure
