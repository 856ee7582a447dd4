"""Attention maps of real sentences whose hidden cells are hatched light gray.

In a grid of weights, a weight of 0 and a hidden cell must not look alike. Here they do not.
"""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from torch import Tensor

from transformer_edu.teaching.figures.grid import (
    KEY_AXIS,
    QUERY_AXIS,
    draw_weights,
    hatch,
    placed_axes,
)
from transformer_edu.teaching.inspect.hidden_keys import BatchHead
from transformer_edu.teaching.style import PALE, literal, styled, title_above

TICKS = (0, 0.5, 1)
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
    figure.colorbar(image, ax=grid, label="attention weight", ticks=TICKS, shrink=0.7)
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
    axes, bar = placed_axes(words, words)
    image = draw_weights(axes, weights, words, words)
    if mask is not None:
        _hide(axes, mask.expand(weights.shape))
    axes.figure.colorbar(image, cax=bar, label="attention weight", ticks=TICKS)
    title = f"The words give {share:.0%} of their attention to padding"
    axes.set_title(title, pad=10)
    axes.set(xlabel=KEY_AXIS, ylabel=QUERY_AXIS)
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
