"""Rows of numbers before and after layer normalization."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from transformer_course.drawing.grid import (
    as_array,
    draw_signed,
    number_axis,
    number_cells,
    one_decimal,
)
from transformer_course.drawing.style import literal, styled, title_above


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
