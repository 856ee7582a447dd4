"""What vectors say: how alike they are, and whole tables of them side by side."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import torch.nn.functional as F
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from transformer_edu.teaching.style import SIGNED_COLOURS, literal, new_axes, styled

LARGEST_NUMBERED_GRID = 8  # in larger grids the numbers would collide


@styled
def plot_similarities(
    vectors: Tensor,
    *,
    item: str,
    title: str,
    names: Sequence[str] | None = None,
    axes: Axes | None = None,
) -> Figure:
    """Draw the cosine of every two vectors, always on the scale from -1 to 1.

    Purple vectors point the same way, orange ones in opposite ways, white ones have nothing in
    common.

    Args:
        vectors: Shape (vector, width).
        item: What a vector stands for, such as "word": the label of both axes.
        title: What the reader should see, as a sentence.
        names: One label per vector; numbers when None.
        axes: Where to draw; a new figure when None.

    Returns:
        The figure drawn on.

    Raises:
        ValueError: If vectors is not a grid of finite numbers, or the names do not fit.
    """
    _require_table("vectors", vectors)
    if names is not None and len(names) != len(vectors):
        raise ValueError(f"names must name {len(vectors)} vectors, got {len(names)}")
    directions = F.normalize(vectors.detach().float().cpu(), dim=-1)
    cosines = (directions @ directions.T).numpy()
    axes = new_axes(axes, 6, 4.6)
    image = axes.imshow(cosines, cmap=SIGNED_COLOURS, vmin=-1, vmax=1)
    axes.figure.colorbar(image, ax=axes, label="cosine", ticks=[-1, -0.5, 0, 0.5, 1])
    if names is not None:
        labels = [literal(name) for name in names]
        axes.set_xticks(range(len(names)), labels, rotation=45, ha="right", rotation_mode="anchor")
        axes.set_yticks(range(len(names)), labels)
    if len(cosines) <= LARGEST_NUMBERED_GRID:
        for (row, column), cosine in np.ndenumerate(cosines):
            colour = "white" if abs(cosine) > 0.6 else "black"
            number = f"{cosine:z.1f}"  # z: no minus before a zero
            axes.text(column, row, number, ha="center", va="center", c=colour, fontsize=11)
    axes.set_title(title)
    axes.set_xlabel(item)
    axes.set_ylabel(item)
    return axes.figure


@styled
def plot_tables(
    tables: Mapping[str, Tensor], *, row_label: str, column_label: str, title: str
) -> Figure:
    """Draw tables of signed numbers side by side, each on its own scale around white zero.

    Args:
        tables: Shape (row, column) each, by the sentence that stands above it.
        row_label: What a row is.
        column_label: What a column is.
        title: What the reader should see, as a sentence.

    Returns:
        A new figure.

    Raises:
        ValueError: If there are no tables, or one is not a grid of finite numbers.
    """
    if not tables:
        raise ValueError("tables must hold at least one table, got none")
    for name, table in tables.items():
        _require_table(f"table {name!r}", table)
    figure, grid = plt.subplots(1, len(tables), figsize=(9, 4), squeeze=False, sharey=True)
    for axes, (name, table) in zip(grid.flat, tables.items(), strict=True):
        numbers = table.detach().float().cpu().numpy()
        largest = float(abs(numbers).max()) or 1.0
        image = axes.imshow(
            numbers, cmap=SIGNED_COLOURS, vmin=-largest, vmax=largest, aspect="auto"
        )
        figure.colorbar(image, ax=axes, label="value")
        axes.set_title(literal(name), fontsize=13)
        axes.set_xlabel(column_label)
        axes.yaxis.get_major_locator().set_params(integer=True)
    grid[0, 0].set_ylabel(row_label)
    figure.suptitle(title, fontsize=14, x=0.02, ha="left")
    return figure


def _require_table(name: str, table: Tensor) -> None:
    if table.dim() != 2 or table.numel() == 0 or not table.isfinite().all():
        raise ValueError(
            f"{name} must be a grid (row, column) of finite numbers, got {tuple(table.shape)}"
        )
