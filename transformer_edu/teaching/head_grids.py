"""A number for every head of every attention: small grids of layer and head, side by side.

Used in notebooks/15_looking_inside.ipynb.
"""

import reprlib
from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from torch import Tensor

from transformer_edu.teaching.refusals import require_floats
from transformer_edu.teaching.style import WEIGHT_COLOURS, literal, styled

Grids = Mapping[str, Mapping[str, Tensor]]
MOST_IN_A_ROW, MOST_ROWS = 5, 4


@styled
def plot_head_grids(grids: Grids, *, label: str, title: str) -> Figure:
    """Draw a number for every head: many small grids, a row for each layer, a column for each head.

    Args:
        grids: By row of the figure, then by column: numbers of shape (layer, head). All share
            one scale, from 0 to the largest, or to 1 where none is above 0. What is below 0 has
            the colour of 0; where a row lacks a column, its place stays empty.
        label: What the numbers are, for the colour bar.
        title: What the reader should see, as a sentence.

    Returns:
        A new figure.

    Raises:
        TypeError: If grids maps no names to grids, or one is no tensor of floating-point numbers.
        ValueError: If there are no grids or too many, one is no grid of finite numbers, or grids
            of a row differ in shape or any two in their heads.
    """
    columns = _require_grids(grids)
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
    figure.suptitle(title, fontsize=14, x=0.01, ha="left")
    return figure


def describe_head_grids(grids: Grids) -> str:
    """The largest number of each grid and its head, in words: for the alternative text.

    Args:
        grids: As for plot_head_grids.

    Raises:
        TypeError, ValueError: As plot_head_grids.
    """
    _require_grids(grids)
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
    numbers = grid.detach().float().cpu().numpy()
    return axes.imshow(numbers, cmap=WEIGHT_COLOURS, vmin=0, vmax=top)


def _name_layers_and_heads(grids: Grids, columns: list[str], places: np.ndarray) -> None:
    """Number the layers at a row's first grid, the heads at a column's last."""
    for (name, row), line in zip(grids.items(), places, strict=True):
        axes, grid = next((line[i], row[what]) for i, what in enumerate(columns) if what in row)
        axes.set_ylabel(f"{literal(name, longest=None)}\nlayer" if name else "layer")
        axes.set_yticks(range(len(grid)), range(1, len(grid) + 1))
    for column, stack in zip(columns, places.T, strict=True):
        stack[0].set_title(literal(column, longest=None), fontsize=12, loc="center")
        there = [
            (axes, row) for axes, row in zip(stack, grids.values(), strict=True) if column in row
        ]
        axes, row = there[-1]
        axes.set_xticks(range(row[column].size(1)), range(1, row[column].size(1) + 1))


def _require_grids(grids: Grids) -> list[str]:
    """The names of the columns, in the order in which they come."""
    if not isinstance(grids, Mapping) or not all(
        isinstance(row, Mapping) for row in grids.values()
    ):
        raise TypeError(f"grids must map rows to grids by column, got {reprlib.repr(grids)}")
    for name in (*grids, *(what for row in grids.values() for what in row)):
        if not isinstance(name, str):
            raise TypeError(f"grids must have names for rows and columns, got {name!r}")
    if not 0 < len(grids) <= MOST_ROWS:
        raise ValueError(f"grids must have 1 to {MOST_ROWS} rows, got {len(grids)}")
    for name, row in grids.items():
        if len(row) == 0:
            raise ValueError(f"row {name!r} must have at least one grid, got none")
        for what, grid in row.items():
            _require_grid(what, grid)
        shapes = dict.fromkeys(tuple(grid.shape) for grid in row.values())
        if len(shapes) > 1:
            raise ValueError(f"row {name!r} must have grids of one shape, got {[*shapes]}")
    heads = dict.fromkeys(grid.size(1) for row in grids.values() for grid in row.values())
    if len(heads) > 1:
        raise ValueError(f"grids must have the same number of heads, got {[*heads]}")
    columns = list(dict.fromkeys(what for row in grids.values() for what in row))
    if len(columns) > MOST_IN_A_ROW:
        raise ValueError(f"grids must have at most {MOST_IN_A_ROW} columns, got {len(columns)}")
    return columns


def _require_grid(what: str, grid: Tensor) -> None:
    """Refuse what is no grid of finite numbers."""
    require_floats(f"grid {what!r}", grid)
    if grid.dim() != 2 or grid.numel() == 0:
        raise ValueError(f"grid {what!r} must have shape (layer, head), got {tuple(grid.shape)}")
    if not grid.isfinite().all():
        raise ValueError(f"grid {what!r} must be finite, got {grid[~grid.isfinite()][0].item()}")
