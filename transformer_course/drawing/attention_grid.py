"""One head's attention as a grid, and all heads side by side. Every function returns its figure."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from transformer_course.drawing.grid import (
    KEY_AXIS,
    QUERY_AXIS,
    TURNED_SIZE,
    draw_weights,
    hatch,
    placed_axes,
    wrap_title,
)
from transformer_course.drawing.style import literal, styled, title_above

BAR_TICKS = (0, 0.5, 1)  # a small grid's color bar has no room for more
TITLE_PAD = 10  # points: the color bar's uppermost number needs some of them


@styled
def plot_attention(
    attention_weights: Tensor,
    *,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    title: str,
    mask: Tensor | None = None,
) -> Figure:
    """Draw one head's attention as a grid: each row shows which keys one query attends to.

    The colors always run from 0 to 1, so that any two grids may be compared by eye.

    Args:
        attention_weights: Weights of one head, shape (query, key).
        query_tokens: Labels for the rows.
        key_tokens: Labels for the columns.
        title: What the reader should see, as a sentence.
        mask: True where a query may attend to a key, broadcastable to (query, key); the
            others are hatched.

    Returns:
        A new figure.

    Raises:
        ValueError: If the labels do not fit, or a weight is not from 0 to 1.
    """
    axes = draw_head(attention_weights, query_tokens, key_tokens)
    if mask is not None:
        hatch(axes, ~mask.expand(attention_weights.shape).cpu())
    axes.set_title(wrap_title(axes, title), pad=TITLE_PAD)
    return axes.figure


def draw_head(weights: Tensor, query_tokens: Sequence[str], key_tokens: Sequence[str]) -> Axes:
    """One head's grid with its color bar on a new figure."""
    axes, bar = placed_axes(query_tokens, key_tokens)
    image = draw_weights(axes, weights, query_tokens, key_tokens)
    axes.figure.colorbar(image, cax=bar, label="attention weight", ticks=BAR_TICKS)
    axes.set(xlabel=KEY_AXIS, ylabel=QUERY_AXIS)
    return axes


@styled
def plot_heads(
    attention_weights: Tensor,
    *,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    title: str,
    names: Sequence[str] | None = None,
) -> Figure:
    """Draw every head of one layer side by side, on one scale from 0 to 1.

    Args:
        attention_weights: Weights of one sentence, shape (heads, query, key).
        query_tokens: Labels for the rows.
        key_tokens: Labels for the columns.
        title: What the reader should see, as a sentence.
        names: What stands above each grid; the heads' numbers when None.

    Returns:
        A new figure, at most four heads to a row.

    Raises:
        ValueError: As for plot_attention.
    """
    columns = min(4, len(attention_weights))
    rows = -(-len(attention_weights) // columns)
    side = max(1.6, min(0.3 * len(key_tokens), 6.4 / columns))  # inches, of one grid
    head_height = 0.45 + side * len(query_tokens) / len(key_tokens)
    size = (2.6 + side * columns, min(1.3 + rows * head_height, 9))
    figure, grid = plt.subplots(
        rows, columns, figsize=size, squeeze=False, sharex=True, sharey=True
    )
    for axes in grid.flat[len(attention_weights) :]:
        axes.set_axis_off()
    names = names or [f"head {number + 1}" for number in range(len(attention_weights))]
    for axes, weights, name in zip(grid.flat, attention_weights, names, strict=False):
        image = draw_weights(axes, weights, query_tokens, key_tokens, numbered=False)
        axes.set_title(literal(name, longest=None), fontsize=13)
        axes.tick_params(axis="x", labelsize=min(12, TURNED_SIZE * side / len(key_tokens)))
    figure.colorbar(image, ax=grid, label="attention weight", shrink=0.8)
    title_above(figure, title)
    figure.supxlabel(KEY_AXIS, fontsize=13)
    figure.supylabel(QUERY_AXIS, fontsize=13)
    return figure
