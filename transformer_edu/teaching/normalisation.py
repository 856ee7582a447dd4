"""What a normalisation does to each word's vector, number by number.

Met in notebooks/06_feed_forward_add_and_norm.ipynb.
"""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from transformer_edu.teaching.style import SIGNED_COLOURS, literal, styled

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
