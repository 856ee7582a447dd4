"""Attention and masks as pictures. Every function draws on axes and returns the figure."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from torch import Tensor

from transformer_edu.teaching.figures.grid import (
    KEY_AXIS,
    QUERY_AXIS,
    draw_weights,
    grid_axes,
    hatch,
    label_grid,
    placed_axes,
    require_grid,
    require_weights,
    wrap_title,
)
from transformer_edu.teaching.style import BLUE, literal, new_axes, styled

BAR_TICKS = (0, 0.5, 1)  # a small grid's bar has no room for more
TITLE_PAD = 10  # points: the color bar's uppermost number needs some of them


@styled
def plot_attention(
    attention_weights: Tensor,
    *,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    title: str,
    mask: Tensor | None = None,
    axes: Axes | None = None,
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
        axes: Where to draw; a new figure when None.

    Returns:
        The figure drawn on.

    Raises:
        ValueError: If the labels do not fit, a weight is not from 0 to 1, or the grid is too large.
    """
    bar = ticks = None
    if axes is None:
        axes, bar = placed_axes(query_tokens, key_tokens)
        title, ticks = wrap_title(axes, title), BAR_TICKS
    image = draw_weights(axes, attention_weights, query_tokens, key_tokens)
    if mask is not None:
        hatch(axes, ~mask.expand(attention_weights.shape).cpu())
    axes.figure.colorbar(image, cax=bar, ax=axes, label="attention weight", ticks=ticks)
    axes.set_title(title, pad=TITLE_PAD)
    axes.set_xlabel(KEY_AXIS)
    axes.set_ylabel(QUERY_AXIS)
    return axes.figure


@styled
def plot_heads(
    attention_weights: Tensor,
    *,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    title: str,
) -> Figure:
    """Draw every head of one layer side by side, on one scale from 0 to 1.

    Args:
        attention_weights: Weights of one sentence, shape (heads, query, key).
        query_tokens: Labels for the rows.
        key_tokens: Labels for the columns.
        title: What the reader should see, as a sentence.

    Returns:
        A new figure, at most four heads to a row.

    Raises:
        ValueError: As for plot_attention.
    """
    columns = min(4, len(attention_weights))
    rows = -(-len(attention_weights) // columns)
    head_height = 0.45 + 1.6 * len(query_tokens) / max(len(key_tokens), 1)
    width, height = 2.6 + 1.6 * columns, 1.3 + rows * head_height
    figure, grid = plt.subplots(
        rows, columns, figsize=(width, min(height, 9)), squeeze=False, sharex=True, sharey=True
    )
    for head, axes in enumerate(grid.flat):
        if head >= len(attention_weights):
            axes.set_axis_off()
            continue
        image = draw_weights(
            axes, attention_weights[head], query_tokens, key_tokens, numbered=False
        )
        axes.set_title(f"head {head + 1}", fontsize=13)
    figure.colorbar(image, ax=grid, label="attention weight", shrink=0.8)
    figure.suptitle(title, fontsize=14, x=0.02, ha="left")
    figure.supxlabel(KEY_AXIS, fontsize=13)
    figure.supylabel(QUERY_AXIS, fontsize=13)
    return figure


@styled
def plot_mask(
    mask: Tensor,
    *,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    title: str,
    axes: Axes | None = None,
) -> Figure:
    """Draw a mask: filled where a query may attend, hatched where it may not.

    Args:
        mask: True where a query may attend to a key, broadcastable to (query, key).
        query_tokens: Labels for the rows.
        key_tokens: Labels for the columns.
        title: What the reader should see, as a sentence.
        axes: Where to draw; a new figure when None.

    Returns:
        The figure drawn on.

    Raises:
        ValueError: If there are no labels, or too many to read.
    """
    require_grid(query_tokens, key_tokens)
    shape = (len(query_tokens), len(key_tokens))
    allowed = mask.expand(shape).cpu()
    axes = grid_axes(axes, query_tokens, key_tokens, color_bar=False)
    axes.imshow(
        allowed.numpy(), cmap=ListedColormap(["white", BLUE]), vmin=0, vmax=1, aspect="equal"
    )
    hatch(axes, ~allowed)
    _separate_cells(axes, shape)
    label_grid(axes, query_tokens, key_tokens)
    axes.set_title(title)
    axes.set_xlabel(KEY_AXIS)
    axes.set_ylabel(QUERY_AXIS)
    return axes.figure


def _separate_cells(axes: Axes, shape: tuple[int, int]) -> None:
    """White lines between the cells, below the hatching."""
    axes.set_yticks(np.arange(shape[0]) + 0.5, minor=True)
    axes.set_xticks(np.arange(shape[1]) + 0.5, minor=True)
    axes.set_axisbelow(True)
    axes.grid(which="minor", color="white", linewidth=0.8, marker="")
    axes.tick_params(which="minor", length=0)


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
        ValueError: If the labels do not fit or a weight is not from 0 to 1.
    """
    weights = require_weights(attention_weights, query_tokens, key_tokens)
    longest = max(len(query_tokens), len(key_tokens))
    axes = new_axes(None, min(3 + 0.55 * longest, 9.5), 3.2)
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
    axes.text(-0.01, 0.86, "query", ha="right", va="center", fontsize=12, style="italic")
    axes.text(-0.01, 0.14, "key", ha="right", va="center", fontsize=12, style="italic")
    axes.set(xlim=(-0.12, 1.02), ylim=(0, 1))
    axes.set_axis_off()
    axes.set_title(title)
    return axes.figure


@styled
def plot_mask_row(
    masks: Mapping[str, Tensor],
    *,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    title: str,
) -> Figure:
    """Draw masks next to each other: filled where a query may attend, hatched where not.

    Args:
        masks: By name, each broadcastable to (query, key).
        query_tokens: Labels for the rows.
        key_tokens: Labels for the columns.
        title: What the reader should see, as a sentence.

    Returns:
        A new figure with one panel per mask.
    """
    side = 0.8 + 0.42 * max(len(key_tokens), len(query_tokens))
    figure, grid = plt.subplots(
        1,
        len(masks),
        figsize=(0.7 + side * len(masks), 1.1 + side),
        sharey=True,
        squeeze=False,
    )
    for axes, (name, mask) in zip(grid[0], masks.items(), strict=True):
        plot_mask(mask, query_tokens=query_tokens, key_tokens=key_tokens, title=name, axes=axes)
        axes.set_title(name, fontsize=13)
        axes.set(xlabel="", ylabel="")
    figure.suptitle(title, fontsize=14, x=0.01, ha="left")
    figure.get_layout_engine().set(h_pad=0.1)
    figure.supxlabel(KEY_AXIS, fontsize=13)
    figure.supylabel(QUERY_AXIS, fontsize=13)
    return figure
