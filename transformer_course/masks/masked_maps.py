"""Masks, and maps of masked attention: a weight of 0 and a hidden cell do not look alike."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from torch import Tensor

from transformer_course.drawing.attention_grid import BAR_TICKS
from transformer_course.drawing.grid import (
    KEY_AXIS,
    QUERY_AXIS,
    draw_weights,
    hatch,
    label_grid,
)
from transformer_course.drawing.style import BLUE, PALE, literal, styled, title_above
from transformer_course.masks.masked_heads import BatchHead


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


def _hide(axes: Axes, mask: Tensor) -> None:
    """Cover the hidden cells of a map; the mask is (query, key)."""
    hidden = ~mask.cpu()
    cover = hidden.float().numpy()
    axes.imshow(cover, cmap=HIDDEN_COLOR, vmin=0, vmax=1, alpha=cover, zorder=1)
    hatch(axes, hidden)
