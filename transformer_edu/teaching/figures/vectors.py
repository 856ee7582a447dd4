"""Vectors as grids of signed numbers: tables, cosines and layer normalization."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import torch.nn.functional as F
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from transformer_edu.teaching.figures.grid import (
    as_array,
    draw_signed,
    number_axis,
    number_cells,
    one_decimal,
)
from transformer_edu.teaching.style import literal, styled, title_above

LARGEST_NUMBERED_GRID = 8  # in larger grids the numbers would collide


@styled
def plot_values(
    values: Tensor,
    *,
    row_label: str,
    column_label: str,
    title: str,
    row_names: Sequence[str] | None = None,
) -> Figure:
    """Draw signed numbers as a grid: orange is negative, white zero, purple positive.

    Args:
        values: Shape (row, column).
        row_label: What a row is.
        column_label: What a column is.
        title: What the reader should see, as a sentence.
        row_names: One label per row; numbers when None.

    Returns:
        A new figure.
    """
    figure, axes = plt.subplots(figsize=(7, min(1.6 + 0.4 * len(values), 5)))
    figure.colorbar(draw_signed(axes, values), ax=axes, label="value")
    if row_names is not None:
        axes.set_yticks(range(len(values)), [literal(name) for name in row_names])
    axes.set_title(title)
    axes.set(xlabel=column_label, ylabel=row_label)
    return figure


@styled
def plot_tables(
    tables: Mapping[str, Tensor], *, row_label: str, column_label: str, title: str
) -> Figure:
    """Draw tables of signed numbers side by side, each on its own scale around white zero.

    Args:
        tables: Shape (row, column) each, by the name above the table.
        row_label: What a row is.
        column_label: What a column is.
        title: What the reader should see, as a sentence.

    Returns:
        A new figure.
    """
    figure, grid = plt.subplots(1, len(tables), figsize=(9, 4), squeeze=False, sharey=True)
    for axes, (name, table) in zip(grid.flat, tables.items(), strict=True):
        figure.colorbar(draw_signed(axes, table), ax=axes, label="value")
        axes.set_title(literal(name), fontsize=13)
        axes.set_xlabel(column_label)
        axes.yaxis.get_major_locator().set_params(integer=True)
    grid[0, 0].set_ylabel(row_label)
    title_above(figure, title)
    return figure


@styled
def plot_similarities(vectors: Tensor, *, item: str, names: Sequence[str], title: str) -> Figure:
    """Draw the cosine of every two vectors, always on the scale from -1 to 1.

    Purple vectors point the same way, orange ones in opposite directions, white ones are
    orthogonal.

    Args:
        vectors: Shape (vector, width).
        item: What a vector stands for, such as "word": the label of both axes.
        names: One label per vector.
        title: What the reader should see, as a sentence.

    Returns:
        A new figure.
    """
    directions = F.normalize(vectors.detach().float().cpu(), dim=-1)
    cosines = directions @ directions.T
    figure, axes = plt.subplots(figsize=(6, 4.6))
    image = draw_signed(axes, cosines, largest=1.0)
    axes.set_aspect("equal")
    figure.colorbar(image, ax=axes, label="cosine", ticks=[-1, -0.5, 0, 0.5, 1])
    labels = [literal(name) for name in names]
    axes.set_xticks(range(len(vectors)), labels, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(vectors)), labels)
    if len(vectors) <= LARGEST_NUMBERED_GRID:
        number_cells(axes, as_array(cosines), one_decimal, is_dark=lambda x: abs(x) > 0.6)
    axes.set_title(title)
    axes.set(xlabel=item, ylabel=item)
    return figure


@styled
def plot_normalization(
    before: Tensor, after: Tensor, *, row_names: Sequence[str], title: str
) -> Figure:
    """Draw vectors before and after, one to a row, with each row's mean and standard deviation.

    Args:
        before: Shape (row, d_model); more than eight by eight numbers could not be read.
        after: The same shape.
        row_names: One label per row.
        title: What the reader should see, as a sentence.

    Returns:
        A new figure of two panels on one scale.
    """
    rows, columns = before.shape
    size = (min(3.4 + 1.3 * columns, 9), 1.7 + 0.45 * rows)
    figure, panels = plt.subplots(1, 2, figsize=size, sharey=True)
    largest = max(float(before.abs().max()), float(after.abs().max()))
    for axes, numbers, name in zip(panels, (before, after), ("before", "after"), strict=True):
        draw_signed(axes, numbers, largest=largest, paleness=1.6)
        number_cells(axes, as_array(numbers), one_decimal)
        number_axis(axes.xaxis, columns)
        _write_statistics(axes, numbers.detach().float())
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        axes.set_title(name, fontsize=13)
        axes.set_xlabel("component")
    panels[0].set_yticks(range(rows), [literal(name) for name in row_names])
    title_above(figure, title)
    return figure


def _write_statistics(axes: Axes, numbers: Tensor) -> None:
    """Mean and standard deviation of every row, at its right edge."""
    means, stds = numbers.mean(dim=1).tolist(), numbers.std(dim=1, correction=0).tolist()
    for row, (mean, std) in enumerate(zip(means, stds, strict=True)):
        words = f"mean {one_decimal(mean)}\nstd {one_decimal(std)}"
        place = (numbers.size(1) - 0.35, row)
        axes.text(*place, words, va="center", fontsize=11, linespacing=1.1)
