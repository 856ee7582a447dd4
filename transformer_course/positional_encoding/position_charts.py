"""Words with their positions, the products of positions, and one grid of signed numbers."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch
from torch import Tensor

from transformer_course.drawing.grid import draw_signed
from transformer_course.drawing.style import (
    BLACK,
    BLUE,
    PALE,
    VERMILION,
    literal,
    require_one_each,
    styled,
    title_above,
)
from transformer_course.positional_encoding.position_scores import Reading

ROW, WORD = 1.25, 0.15  # inches of a sentence and of a letter


@styled
def plot_readings(readings: Sequence[Reading], *, title: str) -> Figure:
    """Draw sentences as boxes with the position of each word below it, and their translations.

    Positions that differ from the order of the words are in color. The figure's label does not
    tell the translations.

    Args:
        readings: From top to bottom.
        title: What the reader should see, as a sentence.

    Returns:
        A new figure.
    """
    width = max(sum(WORD * len(word) + 0.55 for word in each.words) for each in readings)
    figure, axes = plt.subplots(figsize=(width + 3.9, 0.4 + ROW * len(readings)))
    for row, reading in enumerate(readings):
        _draw_reading(axes, reading, y=-ROW * row, right=width)
    axes.set(xlim=(-1, width + 3.3), ylim=(-ROW * len(readings) + 0.45, 0.55), aspect="equal")
    axes.set_axis_off()
    title_above(figure, title)
    figure.set_label(
        f"{len(readings)} sentences as rows of words, each word with its position, each sentence "
        "with its translation"
    )
    return figure


def _draw_reading(axes: Axes, reading: Reading, *, y: float, right: float) -> None:
    """One sentence and its translation; y is the middle of its words."""
    x = 0.0
    axes.text(-0.1, y - 0.45, "position", ha="right", va="center", fontsize=11)
    for place, word in enumerate(reading.words):
        wide = WORD * len(word) + 0.35
        axes.add_patch(
            FancyBboxPatch((x, y - 0.2), wide, 0.4, boxstyle="round,pad=0.03", fc=PALE, ec="none")
        )
        axes.text(x + wide / 2, y, literal(word), ha="center", va="center", fontsize=13)
        position = None if reading.positions is None else reading.positions[place]
        moved = position not in (place, None)
        style = {"color": VERMILION, "weight": "bold"} if moved else {"color": BLACK}
        number = "–" if position is None else str(position)
        axes.text(x + wide / 2, y - 0.45, number, ha="center", va="center", fontsize=12, **style)
        x += wide + 0.2
    arrow = {"arrowstyle": "-|>", "color": BLUE, "linewidth": 2}
    axes.annotate("", (right + 0.45, y), (right, y), arrowprops=arrow)
    axes.text(right + 0.55, y, literal(reading.translation, longest=40), va="center", fontsize=13)


@styled
def plot_position_products(tables: Mapping[str, Tensor]) -> Figure:
    """Draw the dot product of every two positions, divided by that of a position with itself.

    Args:
        tables: Encodings of shape (position, width), by the name above the picture.

    Returns:
        A new figure with a panel for each table; its label says where a product depends on the
        distance of the positions alone.
    """
    shapes = {name: tuple(table.shape) for name, table in tables.items()}
    if not shapes or any(len(each) != 2 or 0 in each for each in shapes.values()):
        wanted = "tables of shape (position, width)"
        raise ValueError(f"tables must hold {wanted}, got {shapes or 'none'}")
    figure, grid = plt.subplots(
        1, len(tables), figsize=(4.6 * len(tables) + 0.8, 4.3), squeeze=False, sharey=True
    )
    said = []
    for axes, (name, table) in zip(grid.flat, tables.items(), strict=True):
        products = (table @ table.T).detach().float().cpu()
        products = products / (float(products.diagonal().max()) or 1.0)
        image = draw_signed(axes, products, largest=1.0)
        axes.set_aspect("equal")
        axes.set_title(literal(name), fontsize=13)
        axes.set_xlabel("position")
        stripes = [products.diagonal(k) for k in range(len(products))]
        even = all(float(each.max() - each.min()) < 1e-3 for each in stripes)
        said.append(f"{name}: {'the same' if even else 'not the same'} along each diagonal")
    grid[0, 0].set_ylabel("position")
    figure.colorbar(image, ax=grid.ravel().tolist(), label="dot product (largest = 1)")
    title_above(figure, "Dot product of every two positions")
    figure.set_label(f"dot products of positions. {'; '.join(said)}")
    return figure


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
        require_one_each(len(values), "rows", row_names=row_names)
        axes.set_yticks(range(len(values)), [literal(name) for name in row_names])
    axes.set_title(title)
    axes.set(xlabel=column_label, ylabel=row_label)
    return figure
