"""Vectors, lines and bars: what is large, what grows. Every function returns its figure."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from transformer_edu.teaching.style import BLUE, SIGNED_COLOURS, literal, new_axes, styled


def require_table(name: str, table: Tensor) -> None:
    """Refuse, with a ValueError, what is not a grid of finite numbers."""
    if table.dim() != 2 or table.numel() == 0 or not table.isfinite().all():
        raise ValueError(
            f"{name} must be a grid (row, column) of finite numbers, got {tuple(table.shape)}"
        )


@styled
def plot_values(
    values: Tensor,
    *,
    row_label: str,
    column_label: str,
    title: str,
    row_names: Sequence[str] | None = None,
    axes: Axes | None = None,
) -> Figure:
    """Draw signed numbers as a grid: orange is negative, white zero, purple positive.

    Args:
        values: Shape (row, column).
        row_label: What a row is.
        column_label: What a column is.
        title: What the reader should see, as a sentence.
        row_names: One label per row; numbers when None.
        axes: Where to draw; a new figure when None.

    Returns:
        The figure drawn on.

    Raises:
        ValueError: If values is not a grid of finite numbers, or the names do not fit.
    """
    require_table("values", values)
    if row_names is not None and len(row_names) != len(values):
        raise ValueError(f"row_names must name {len(values)} rows, got {len(row_names)}")
    numbers = values.detach().float().cpu().numpy()
    axes = new_axes(axes, 7, min(1.6 + 0.4 * len(numbers), 5))
    largest = float(abs(numbers).max()) or 1.0
    image = axes.imshow(numbers, cmap=SIGNED_COLOURS, vmin=-largest, vmax=largest, aspect="auto")
    axes.figure.colorbar(image, ax=axes, label="value")
    if row_names is not None:
        axes.set_yticks(range(len(row_names)), [literal(name) for name in row_names])
    axes.set_title(title)
    axes.set_xlabel(column_label)
    axes.set_ylabel(row_label)
    return axes.figure


@styled
def plot_lines(
    lines: Mapping[str, Sequence[float]],
    *,
    x: Sequence[float],
    x_label: str,
    y_label: str,
    title: str,
    log_x: bool = False,
    axes: Axes | None = None,
) -> Figure:
    """Draw one line per name over common x values, each with its own color and marker.

    Args:
        lines: The y values by name; as many as there are x values.
        x: Where they belong.
        x_label: What x is, with its unit.
        y_label: What y is, with its unit.
        title: What the reader should see, as a sentence.
        log_x: Whether equal steps along x multiply.
        axes: Where to draw; a new figure when None.

    Returns:
        The figure drawn on.
    """
    axes = new_axes(axes, 7, 3.6)
    for name, y in lines.items():
        axes.plot(x, y, label=literal(name, longest=None), markevery=max(1, len(x) // 12))
    if log_x:
        axes.set_xscale("log", base=2)
        axes.set_xticks(list(x), [f"{value:g}" for value in x])
        axes.minorticks_off()
    if len(lines) > 1:
        axes.legend()
    axes.set_title(title)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    return axes.figure


@styled
def plot_bars(
    values: Mapping[str, float],
    *,
    y_label: str,
    title: str,
    number: str = "{:.2f}",
    top: float | None = None,
    axes: Axes | None = None,
) -> Figure:
    """Draw one bar per name with its number on it.

    Args:
        values: Heights by name.
        y_label: What a height is, with its unit.
        title: What the reader should see, as a sentence.
        number: How a height is written on its bar.
        top: The end of the scale; chosen by the largest bar when None.
        axes: Where to draw; a new figure when None.

    Returns:
        The figure drawn on.
    """
    axes = new_axes(axes, min(2.5 + 1.3 * len(values), 8), 3.4)
    bars = axes.bar(
        [literal(name, longest=None) for name in values], list(values.values()), color=BLUE
    )
    axes.bar_label(bars, labels=[number.format(value) for value in values.values()], padding=2)
    axes.margins(y=0.1)  # room for the number on the largest bar
    if top is not None:
        axes.set_ylim(0, top * 1.08)
    axes.set_title(title)
    axes.set_ylabel(y_label)
    return axes.figure
