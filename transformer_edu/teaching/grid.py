"""The grid under every picture of attention: rows are queries, columns are keys."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.image import AxesImage
from torch import Tensor

from transformer_edu.teaching.style import WEIGHT_COLOURS, literal, new_axes

LARGEST_NUMBERED_GRID = 10  # in larger grids the numbers would collide
LARGEST_GRID = 400  # beyond this no cell could be told from its neighbour
LARGEST_NUMBER_OF_LABELS = 40  # along one axis; in larger grids every second, third … is named
HIDDEN_EDGE = "#8A94A0"  # grey hatching for cells that may not be looked at
QUERY_AXIS, KEY_AXIS = "query: who looks", "key: who is looked at"


def draw_weights(
    axes: Axes,
    attention_weights: Tensor,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    *,
    numbered: bool = True,
) -> AxesImage:
    """One grid of weights with its labels, and its numbers where they fit."""
    weights = require_weights(attention_weights, query_tokens, key_tokens)
    image = axes.imshow(weights, cmap=WEIGHT_COLOURS, vmin=0, vmax=1)
    label_grid(axes, query_tokens, key_tokens)
    if numbered and max(weights.shape) <= LARGEST_NUMBERED_GRID:
        for (row, column), weight in np.ndenumerate(weights):
            colour = "black" if weight > 0.5 else "white"
            axes.text(column, row, f"{weight:.2f}", ha="center", va="center", c=colour, fontsize=11)
    return image


def require_weights(
    attention_weights: Tensor, query_tokens: Sequence[str], key_tokens: Sequence[str]
) -> np.ndarray:
    """The weights as numbers, refused when they do not fit the tokens or are no weights."""
    require_grid(query_tokens, key_tokens)
    shape = (len(query_tokens), len(key_tokens))
    if tuple(attention_weights.shape) != shape:
        raise ValueError(
            f"attention_weights must have shape {shape} to fit the tokens, "
            f"got {tuple(attention_weights.shape)}"
        )
    weights = attention_weights.detach().float().cpu().numpy()
    outside = weights[~((weights >= 0) & (weights <= 1 + 1e-3))]
    if outside.size:
        raise ValueError(f"attention_weights must be from 0 to 1, got {outside[0]}")
    return weights


def require_grid(query_tokens: Sequence[str], key_tokens: Sequence[str]) -> None:
    """Refuse a grid without cells, or with more than anybody could see, with a ValueError."""
    for name, tokens in (("query_tokens", query_tokens), ("key_tokens", key_tokens)):
        if not 0 < len(tokens) <= LARGEST_GRID:
            raise ValueError(f"{name} must be 1 to {LARGEST_GRID} tokens, got {len(tokens)}")


def grid_axes(
    axes: Axes | None,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    *,
    colour_bar: bool = True,
) -> Axes:
    """Axes with room for every cell and its label."""
    require_grid(query_tokens, key_tokens)
    width = 2.2 + (1.2 if colour_bar else 0) + 0.55 * len(key_tokens)
    return new_axes(axes, min(width, 9), min(1.6 + 0.5 * len(query_tokens), 8))


def label_grid(axes: Axes, query_tokens: Sequence[str], key_tokens: Sequence[str]) -> None:
    """Tokens on both axes, as many as can be read."""
    for tokens, set_ticks, options in (
        (key_tokens, axes.set_xticks, {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}),
        (query_tokens, axes.set_yticks, {}),
    ):
        every = -(-len(tokens) // LARGEST_NUMBER_OF_LABELS)
        shown = range(0, len(tokens), every)
        set_ticks(list(shown), [literal(tokens[index]) for index in shown], **options)
    axes.tick_params(length=0)


def hatch(axes: Axes, hidden: Tensor) -> None:
    """Strike out the cells that may not be looked at."""
    for row, column in hidden.nonzero().tolist():
        axes.add_patch(
            plt.Rectangle(
                (column - 0.5, row - 0.5),
                1,
                1,
                fill=False,
                hatch="///",
                edgecolor=HIDDEN_EDGE,
                linewidth=0.5,
            )
        )
