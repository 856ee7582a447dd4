"""A number for every head of every attention: small grids of layer and head, side by side.

Used in notebooks/16_looking_inside.ipynb.
"""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle
from torch import Tensor

from transformer_edu.teaching.figures.grid import (
    as_array,
    number_axis,
)
from transformer_edu.teaching.style import (
    BLUE,
    GREEN,
    PURPLE,
    VERMILION,
    WEIGHT_COLORS,
    literal,
    styled,
    title_above,
)

Grids = Mapping[str, Mapping[str, Tensor]]


@styled
def plot_head_grids(grids: Grids, *, label: str, title: str) -> Figure:
    """Draw a number for every head: many small grids, a row for each layer, a column for each head.

    Args:
        grids: By row of the figure, then by column: numbers of shape (layer, head). All share
            one scale, from 0 to the largest, or to 1 where none is above 0. What is below 0 has
            the color of 0; where a row lacks a column, its place stays empty.
        label: What the numbers are, for the color bar.
        title: What the reader should see, as a sentence.

    Returns:
        A new figure.
    """
    columns = list(dict.fromkeys(name for row in grids.values() for name in row))
    largest = max(float(grid.detach().max()) for row in grids.values() for grid in row.values())
    top = largest if largest > 0 else 1.0
    height = 0.8 + max(1.5 * len(grids), 2)
    figure, places = plt.subplots(len(grids), len(columns), figsize=(8, height), squeeze=False)
    for row, line in zip(grids.values(), places, strict=True):
        for column, axes in zip(columns, line, strict=True):
            if column in row:
                image = _draw_grid(axes, row[column], top=top)
            else:
                axes.set_axis_off()
    _name_layers_and_heads(grids, columns, places)
    figure.supxlabel("head", fontsize=13)
    figure.colorbar(image, ax=places, label=label, fraction=0.03)
    title_above(figure, title)
    return figure


def describe_head_grids(grids: Grids) -> str:
    """The largest number of each grid and its head in words, for the alternative text.

    Args:
        grids: As for plot_head_grids.
    """
    said = []
    for name, row in grids.items():
        for what, grid in row.items():
            layer, head = divmod(int(grid.argmax()), grid.size(1))
            where = f"{name}, {what}" if name else what
            said.append(f"{where}: most {grid.max():z.2f}, layer {layer + 1}, head {head + 1}")
    return "; ".join(said)


def _draw_grid(axes: Axes, grid: Tensor, *, top: float) -> AxesImage:
    """One grid of heads, its axes still without labels."""
    axes.set_xticks([])
    axes.set_yticks([])
    axes.tick_params(length=0)
    return axes.imshow(as_array(grid), cmap=WEIGHT_COLORS, vmin=0, vmax=top)


def _name_layers_and_heads(grids: Grids, columns: list[str], places: np.ndarray) -> None:
    """Number the layers at a row's first grid, the heads at a column's last."""
    for (name, row), line in zip(grids.items(), places, strict=True):
        axes, grid = next((line[i], row[what]) for i, what in enumerate(columns) if what in row)
        axes.set_ylabel(f"{literal(name, longest=None)}\nlayer" if name else "layer")
        number_axis(axes.yaxis, len(grid))
    for column, stack in zip(columns, places.T, strict=True):
        stack[0].set_title(literal(column, longest=None), fontsize=12, loc="center")
        there = [
            (axes, row) for axes, row in zip(stack, grids.values(), strict=True) if column in row
        ]
        axes, row = there[-1]
        number_axis(axes.xaxis, row[column].size(1))


WORD_COLORS = (BLUE, VERMILION, GREEN, PURPLE)
CELL = 0.5  # inches
HEAD_GAP = 0.8  # between two heads, in cells
CAPTION_ROOM = 1.1  # above the cells, in cells


@styled
def plot_head_split(
    splits: Mapping[str, Tensor], *, tokens: Sequence[str], d_model: int, title: str
) -> Figure:
    """Draw where each number of each word went, in one panel per way of splitting.

    Number the cells of the projected matrix (position, d_model) row by row from 0, and pass the
    split of that matrix. Every cell keeps the color and the first letter of its word and its place
    in the word's vector, so that a number in a wrong row is visible.

    Args:
        splits: By name, the numbers 0 … position · d_model - 1 as (head, position, d_head), or
            unsplit as (position, d_model).
        tokens: The words, at most four, with different first letters.
        d_model: Numbers in each word's vector.
        title: What the reader should see, as a sentence.

    Returns:
        A new figure.
    """
    # As lists (head, position, number); an unsplit matrix is a single head.
    blocks = {
        name: (split if split.dim() == 3 else split.unsqueeze(0)).tolist()
        for name, split in splits.items()
    }
    widths = [sum(len(head[0]) + HEAD_GAP for head in heads) for heads in blocks.values()]
    size = (CELL * (sum(widths) + 2 * len(widths)), CELL * (len(tokens) + CAPTION_ROOM + 2))
    figure, row = plt.subplots(1, len(blocks), figsize=size, width_ratios=widths, squeeze=False)
    for axes, (name, heads) in zip(row[0], blocks.items(), strict=True):
        _draw_split(axes, name, heads, tokens, d_model)
    title_above(figure, title)
    return figure


def _draw_split(
    axes: Axes, name: str, heads: list[list[list[int]]], tokens: Sequence[str], d_model: int
) -> None:
    """One panel: the heads side by side, a row for each position."""
    left = 0.0
    for number, head in enumerate(heads, start=1):
        width = len(head[0])
        if len(heads) > 1:
            axes.text(left + width / 2, -0.25, f"head {number}", ha="center", fontsize=12)
        for position, cells in enumerate(head):
            for column, cell in enumerate(cells):
                word, place = divmod(cell, d_model)
                _draw_cell(axes, left + column, position, tokens[word], place, WORD_COLORS[word])
        left += width + HEAD_GAP
    axes.set(xlim=(-0.05, left - HEAD_GAP + 0.05), ylim=(len(tokens) + 0.05, 0.3 - CAPTION_ROOM))
    axes.set_aspect("equal")
    axes.set_yticks(
        [position + 0.5 for position in range(len(tokens))], [literal(token) for token in tokens]
    )
    axes.set_xticks([])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_title(name, fontsize=13)
    axes.set_xlabel("component")


def _draw_cell(axes: Axes, left: float, position: int, token: str, place: int, color: str) -> None:
    axes.add_patch(Rectangle((left, position), 1, 1, facecolor=color, edgecolor="white", lw=2))
    name = literal(token[0] + str(place + 1))
    at = (left + 0.5, position + 0.52)
    axes.text(*at, name, ha="center", va="center", color="white", fontsize=12, weight="bold")
