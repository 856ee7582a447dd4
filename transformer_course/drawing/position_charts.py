"""Positions: words with their numbers, clock faces for the pairs, and products of positions."""

import math
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
    GRAY,
    PALE,
    VERMILION,
    literal,
    styled,
    title_above,
)
from transformer_course.looking.position_scores import Reading

FACE = 0.86  # inches that a clock face takes
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
    axes.text(-0.1, y - 0.45, "position", ha="right", va="center", color=GRAY, fontsize=11)
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
def plot_clocks(words: Sequence[str], *, d_model: int) -> Figure:
    """Draw the encoding of a sentence as clock faces: a column for each word, a row for each pair.

    A hand ends at (sine, cosine), so it points up at position 0 and turns clockwise.

    Args:
        words: The sentence; the first is at position 0.
        d_model: Width of the encoding; a face for every two numbers.

    Returns:
        A new figure; its label says how far the hands turn from word to word.
    """
    pairs, columns = d_model // 2, len(words)
    frequencies = [10_000 ** (-2 * pair / d_model) for pair in range(pairs)]
    figure, grid = plt.subplots(
        pairs, columns, figsize=(FACE * columns + 1.1, FACE * pairs + 1), squeeze=False
    )
    for pair, frequency in enumerate(frequencies):
        for position in range(columns):
            axes = grid[pair, position]
            _draw_face(axes)
            _draw_hand(axes, position * frequency, BLUE, "o")
        name = f"pair {pair}\nω = {frequency:g}"
        grid[pair, 0].text(-1.5, 0, name, ha="right", va="center", fontsize=11)
    for position, word in enumerate(words):
        grid[0, position].set_title(f"{position}\n{literal(word)}", fontsize=12, loc="center")
    title_above(figure, "Every position is a set of clocks; upper hands turn faster")
    turns = ", ".join(f"{frequency:g}" for frequency in frequencies)
    figure.set_label(
        f"a column of {pairs} clock faces for each of {columns} words; from word to word their "
        f"hands turn by {turns} radians"
    )
    return figure


@styled
def plot_turning_hands(position: int, shift: int, *, d_model: int) -> Figure:
    """Draw the hands of two positions on each pair's clock face, with the angle between them.

    Args:
        position: The first position, p.
        shift: How much further the second one is, k.
        d_model: Width of the encoding; a face for every two numbers.

    Returns:
        A new figure.
    """
    pairs = d_model // 2
    # Placed by hand: matplotlib's own layout takes longer than the drawing.
    figure = plt.figure(figsize=(2.2 * pairs, 3.2), layout="none")
    for pair in range(pairs):
        frequency = 10_000 ** (-2 * pair / d_model)
        axes = figure.add_axes(((pair + 0.05) / pairs, 0.13, 0.9 / pairs, 0.6))
        _draw_face(axes)
        _draw_hand(axes, position * frequency, BLACK, "o", name=f"position {position}")
        later = position + shift
        _draw_hand(axes, later * frequency, VERMILION, "D", name=f"position {later}")
        axes.set_title(f"pair {pair}", fontsize=12, loc="center")
        axes.text(0, -1.25, f"{shift * frequency:g} radians", ha="center", va="top", fontsize=12)
    handles, names = axes.get_legend_handles_labels()
    figure.legend(handles, names, loc="upper right", ncols=2, fontsize=11)
    title_above(figure, f"{shift} positions further: each hand turns by a fixed angle")
    return figure


def _draw_face(axes: Axes) -> None:
    """A clock face without numbers."""
    axes.add_patch(plt.Circle((0, 0), 1, facecolor="white", edgecolor=GRAY, linewidth=1.2))
    axes.plot([0, 0], [0.88, 1], color=GRAY, linewidth=1.2, marker="")
    axes.set(xlim=(-1.12, 1.12), ylim=(-1.12, 1.12), aspect="equal")
    axes.set_axis_off()


def _draw_hand(axes: Axes, angle: float, color: str, tip: str, *, name: str = "_") -> None:
    """A hand that ends at (sine, cosine) of an angle."""
    end = math.sin(angle), math.cos(angle)
    axes.plot([0, end[0]], [0, end[1]], color=color, linewidth=2, marker="")
    axes.plot(*end, tip, color=color, markersize=5, label=name, clip_on=False)


@styled
def plot_position_products(tables: Mapping[str, Tensor]) -> Figure:
    """Draw the dot product of every two positions, divided by that of a position with itself.

    Args:
        tables: Encodings of shape (position, width), by the name above the picture.

    Returns:
        A new figure with a panel for each table; its label says where a product depends on the
        distance of the positions alone.
    """
    figure, grid = plt.subplots(
        1, len(tables), figsize=(4.6 * len(tables) + 0.8, 4.3), squeeze=False, sharey=True
    )
    said = []
    for axes, (name, table) in zip(grid.flat, tables.items(), strict=True):
        products = (table @ table.T).detach().float().cpu()
        products = products / products.diagonal().max()
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
