"""Attention and masks as pictures. Every function returns its figure.

In maps of masked attention a weight of 0 and a hidden cell do not look alike: hidden is hatched.
"""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from torch import Tensor

from transformer_course.drawing.grid import (
    KEY_AXIS,
    QUERY_AXIS,
    TURNED_SIZE,
    draw_weights,
    hatch,
    label_grid,
    placed_axes,
    require_weights,
    wrap_title,
)
from transformer_course.drawing.style import BLUE, PALE, literal, styled, title_above
from transformer_course.looking.found_heads import BatchHead

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
    axes = _draw_head(attention_weights, query_tokens, key_tokens)
    if mask is not None:
        hatch(axes, ~mask.expand(attention_weights.shape).cpu())
    axes.set_title(wrap_title(axes, title), pad=TITLE_PAD)
    return axes.figure


def _draw_head(weights: Tensor, query_tokens: Sequence[str], key_tokens: Sequence[str]) -> Axes:
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
    size = (0.7 + side * len(masks), 1.1 + side)
    figure, grid = plt.subplots(1, len(masks), figsize=size, sharey=True, squeeze=False)
    for axes, (name, mask) in zip(grid[0], masks.items(), strict=True):
        _draw_mask(axes, mask, query_tokens, key_tokens)
        axes.set_title(name, fontsize=13)
    title_above(figure, title)
    figure.get_layout_engine().set(h_pad=0.1)
    figure.supxlabel(KEY_AXIS, fontsize=13)
    figure.supylabel(QUERY_AXIS, fontsize=13)
    return figure


def _draw_mask(
    axes: Axes, mask: Tensor, query_tokens: Sequence[str], key_tokens: Sequence[str]
) -> None:
    """One mask, white lines between its cells and below the hatching."""
    rows, columns = len(query_tokens), len(key_tokens)
    allowed = mask.expand(rows, columns).cpu()
    axes.imshow(allowed.numpy(), cmap=ListedColormap([PALE, BLUE]), vmin=0, vmax=1)
    hatch(axes, ~allowed)
    axes.set_yticks(np.arange(rows) + 0.5, minor=True)
    axes.set_xticks(np.arange(columns) + 0.5, minor=True)
    axes.set_axisbelow(True)
    axes.grid(which="minor", color="white", linewidth=0.8, marker="")
    axes.tick_params(which="minor", length=0)
    label_grid(axes, query_tokens, key_tokens)


HIDDEN_COLOR = ListedColormap([PALE])


@styled
def plot_masked_heads(heads: Mapping[str, tuple[BatchHead, int]]) -> Figure:
    """Draw heads with their masks next to each other, on one scale from 0 to 1.

    Args:
        heads: By what is hidden: a head, and which sentence of its batch is drawn.

    Returns:
        A new figure with one panel for each head; its label says what is hidden.
    """
    figure, grid = plt.subplots(1, len(heads), figsize=(0.9 + 4.5 * len(heads), 4.9), squeeze=False)
    counts = []
    for axes, (name, (head, row)) in zip(grid[0], heads.items(), strict=True):
        weights, words, mask = head.attention_weights()[row], head.words[row], head.mask[row]
        image = draw_weights(axes, weights, words, words, numbered=False)
        _hide(axes, mask.expand(weights.shape))
        axes.set_title(literal(name, longest=None), fontsize=13)
        axes.set(xlabel=KEY_AXIS, ylabel=QUERY_AXIS)
        counts.append(f"{name}: {int((~mask.expand(weights.shape)).sum())} of {weights.numel()}")
    figure.colorbar(image, ax=grid, label="attention weight", ticks=BAR_TICKS, shrink=0.7)
    title_above(figure, "Hatched cells are hidden: the row must not attend to the column")
    figure.set_label(
        f"attention maps with hatched cells, which are hidden. {', '.join(counts)} cells"
    )
    return figure


@styled
def plot_padding_share(
    weights: Tensor, words: Sequence[str], *, real: Tensor, mask: Tensor | None = None
) -> Figure:
    """Draw self-attention in a padded sentence; the title and the label say what padding gets.

    Args:
        weights: Shape (query, key).
        words: Of the rows and of the columns.
        real: True where a position holds a word and no padding, shape (position,).
        mask: True where a query may attend to a key; the other cells are hatched. None hides none.

    Returns:
        A new figure.
    """
    share = weights[real][:, ~real].sum(dim=-1).mean().item()
    axes = _draw_head(weights, words, words)
    if mask is not None:
        _hide(axes, mask.expand(weights.shape))
    title = f"The words give {share:.0%} of their attention to padding"
    axes.set_title(title, pad=TITLE_PAD)
    axes.figure.set_label(f"square map of attention weights: {title}")
    return axes.figure


def _hide(axes: Axes, mask: Tensor) -> None:
    """Cover the hidden cells of a map and remove their numbers; the mask is (query, key)."""
    hidden = ~mask.cpu()
    cover = hidden.float().numpy()
    axes.imshow(cover, cmap=HIDDEN_COLOR, vmin=0, vmax=1, alpha=cover, zorder=1)
    for number in list(axes.texts):
        column, row = (round(place) for place in number.get_position())
        if hidden[row, column]:
            number.remove()
    hatch(axes, hidden)
