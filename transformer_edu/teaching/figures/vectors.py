"""What vectors say: how alike they are, and whole tables of them side by side."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import torch.nn.functional as F
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from transformer_edu.teaching.figures.charts import require_table
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

    Purple vectors point the same way, orange ones in opposite directions, white ones are
    orthogonal.

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
    require_table("vectors", vectors)
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
            color = "white" if abs(cosine) > 0.6 else "black"
            number = f"{cosine:z.1f}"  # z: no minus before a zero
            axes.text(column, row, number, ha="center", va="center", c=color, fontsize=11)
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
        ValueError: If a table is not a grid of finite numbers.
    """
    for name, table in tables.items():
        require_table(f"table {name!r}", table)
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


LARGEST = 8  # rows or columns; beyond it the numbers could not be read


@styled
def plot_normalisation(
    before: Tensor, after: Tensor, *, row_names: Sequence[str], title: str
) -> Figure:
    """Draw vectors before and after, one to a row, with each row's mean and standard deviation.

    Args:
        before: Shape (row, d_model), at most eight by eight.
        after: The same shape.
        row_names: One label per row.
        title: What the reader should see, as a sentence.

    Returns:
        A new figure of two panels on one scale.

    Raises:
        ValueError: If the shapes or names do not fit, or there is too much to draw.
    """
    _require_rows(before, after, row_names)
    rows, columns = before.shape
    size = (min(3.4 + 1.3 * columns, 9), 1.7 + 0.45 * rows)
    figure, panels = plt.subplots(1, 2, figsize=size, sharey=True)
    largest = max(float(before.abs().max()), float(after.abs().max())) or 1.0
    for axes, numbers, name in zip(panels, (before, after), ("before", "after"), strict=True):
        _draw_rows(axes, numbers.detach().float().cpu().numpy(), largest)
        axes.set_title(name, fontsize=13)
        axes.set_xlabel("number in the vector")
    panels[0].set_yticks(range(rows), [literal(name) for name in row_names])
    figure.suptitle(title, fontsize=14, x=0.01, ha="left")
    return figure


def _draw_rows(axes: Axes, numbers: np.ndarray, largest: float) -> None:
    """One grid of numbers, and what its rows have in common at its right edge."""
    # 1.6: pale enough for black numbers.
    axes.imshow(
        numbers, cmap=SIGNED_COLOURS, vmin=-1.6 * largest, vmax=1.6 * largest, aspect="auto"
    )
    for (row, column), number in np.ndenumerate(numbers):
        axes.text(column, row, _written(number), ha="center", va="center", fontsize=11)
    for row, (mean, std) in enumerate(zip(numbers.mean(axis=1), numbers.std(axis=1), strict=True)):
        axes.text(
            numbers.shape[1] - 0.35,
            row,
            f"mean {_written(mean)}\nstd {_written(std)}",
            va="center",
            fontsize=11,
            linespacing=1.1,
        )
    axes.set_xticks(range(numbers.shape[1]), range(1, numbers.shape[1] + 1))
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def _written(number: float) -> str:
    return f"{number:.1f}".replace("-0.0", "0.0").replace("-", "−")


def _require_rows(before: Tensor, after: Tensor, row_names: Sequence[str]) -> None:
    if before.dim() != 2 or not all(0 < size <= LARGEST for size in before.shape):
        raise ValueError(
            f"before must be a grid of at most {LARGEST} by {LARGEST}, got {tuple(before.shape)}"
        )
    if after.shape != before.shape:
        raise ValueError(
            f"after must have the shape {tuple(before.shape)} of before, got {tuple(after.shape)}"
        )
    if len(row_names) != len(before):
        raise ValueError(f"row_names must name {len(before)} rows, got {len(row_names)}")


@styled
def plot_wavelengths(
    sine: Sequence[float],
    cosine: Sequence[float],
    *,
    title: str,
    longest_sequence: int | None = None,
) -> Figure:
    """Draw after how many positions every sine and cosine of an encoding repeats.

    Args:
        sine: Wavelength of each sine in positions, by pair.
        cosine: Wavelength of each pair's cosine.
        title: What the reader should see, as a sentence.
        longest_sequence: Draws a line at this length: waves far above it hardly change.

    Returns:
        A new figure, wavelengths on a logarithmic scale.

    Raises:
        ValueError: If a wavelength is not above 0, where the scale has no place.
    """
    if min(*sine, *cosine) <= 0:
        raise ValueError(f"wavelengths must be above 0, got {min(*sine, *cosine)}")
    figure, axes = plt.subplots(figsize=(7.5, 3.8))
    pairs = range(len(sine))
    every = max(1, len(sine) // 16)
    axes.plot(pairs, sine, label="sine", markevery=every)
    hollow = {"markersize": 10, "markerfacecolor": "none"}  # seen where both lines coincide
    axes.plot(pairs, cosine, linestyle="--", label="cosine", markevery=every, **hollow)
    if longest_sequence is not None:
        axes.axhline(longest_sequence, color="black", linestyle=":", marker="", linewidth=1.5)
        words = f"{longest_sequence} positions"
        axes.text(len(sine) - 1, longest_sequence * 0.8, words, ha="right", va="top", fontsize=12)
    axes.set_yscale("log")
    axes.legend()
    axes.set_title(title)
    axes.set_xlabel("pair i")
    axes.set_ylabel("wavelength (positions)")
    return figure
