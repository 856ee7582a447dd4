"""Attention from its inputs to its output: matrices with arrows."""

import math
from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Rectangle
from torch import Tensor

from transformer_course.drawing.marked_links import QUIET
from transformer_course.drawing.style import (
    BLUE,
    GREEN,
    SIGNED_COLORS,
    WEIGHT_COLORS,
    literal,
    styled,
)
from transformer_edu.model.attention import scaled_dot_product_attention

# In inches: the figure; left, bottom, width and height of each matrix; arrows and their words.
SIZE = (9.8, 7.6)
PLACES = {
    "Q": (0.95, 2.7, 1.5, 1.85),
    "Kᵀ": (3.15, 5.45, 1.5, 1.5),
    "scores": (3.15, 2.7, 1.5, 1.85),
    "weights": (5.75, 2.7, 1.5, 1.85),
    "V": (8.0, 5.45, 1.5, 1.5),
    "output": (8.0, 2.7, 1.5, 1.85),
}
MIDDLE = 3.625  # of the lower row
ARROWS = [
    ((2.5, MIDDLE), (3.1, MIDDLE), ""),
    ((3.9, 5.4), (3.9, 4.85), ""),
    ((4.7, MIDDLE), (5.7, MIDDLE), "softmax\nof each row"),
    ((7.3, MIDDLE), (7.95, MIDDLE), ""),
    ((8.75, 5.4), (8.75, 4.85), ""),
]
# The numbers of the framed row: the names of the rows end at, the numbers begin and end at.
NAMES, NUMBERS, LINE = 0.95, (1.05, 9.6), 0.33
FEW = 4  # numbers of the query and of the output, which have too many


@styled
def plot_attention_flow(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    query_words: Sequence[str],
    key_words: Sequence[str],
    marked: int,
) -> Figure:
    """Draw softmax(Q Kᵀ / √d_k) V as matrices with arrows, and one query's row marked in each.

    The numbers of the marked row stand below: all scores and weights, and the first of the others.
    Signed numbers are orange below zero and purple above it, each matrix on its own scale; the
    frame and the marked words are green.
    Weights have the colors of every attention map of the course.

    Args:
        query: Shape (query, d_k).
        key: Shape (key, d_k).
        value: Shape (key, d_v).
        query_words: One per query.
        key_words: One per key.
        marked: Which query's row is framed.

    Returns:
        A new figure; its label says what the marked row attends to most.
    """
    output, weights = scaled_dot_product_attention(query, key, value)
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    figure = plt.figure(figsize=SIZE, layout="none")
    matrices = {"Q": query, "Kᵀ": key.transpose(-2, -1), "scores": scores}
    matrices |= {"weights": weights, "V": value, "output": output}
    axes = {name: _draw_matrix(figure, name, matrix) for name, matrix in matrices.items()}
    best = int(weights[marked].argmax())
    _name_axis(axes["Q"].yaxis, query_words, marked)
    _name_axis(axes["V"].yaxis, key_words, best)
    for name in ("scores", "weights"):
        _name_axis(axes[name].xaxis, key_words, best, rotation=90)
    for name in ("Q", "scores", "weights", "output"):
        _frame_row(axes[name], marked, matrices[name].size(1))
    for start, end, words in ARROWS:
        _connect(figure, start, end, words)
    row = {name: matrices[name][marked].tolist() for name in ("Q", "scores", "weights", "output")}
    _write_row(figure, row, key_words, best)
    names = literal(query_words[marked]), literal(key_words[best])
    title = f"Follow one row from left to right: {names[0]} attends most to {names[1]}"
    figure.text(0.01, 0.985, title, va="top", fontsize=14)
    figure.set_label(
        "six matrices: Q on the left and K transposed above give the scores, a softmax of each row "
        "gives the weights, and the weights with V above give the output. The row of "
        f"{query_words[marked]} is framed; its largest weight is that of {key_words[best]}"
    )
    return figure


def _draw_matrix(figure: Figure, name: str, matrix: Tensor) -> Axes:
    """One matrix as colors in its place, with its name and shape above it."""
    left, bottom, width, height = PLACES[name]
    axes = figure.add_axes((left / SIZE[0], bottom / SIZE[1], width / SIZE[0], height / SIZE[1]))
    numbers = matrix.detach().float().cpu().numpy()
    most = abs(numbers).max()
    scale = {"cmap": SIGNED_COLORS, "vmin": -most, "vmax": most}
    if name == "weights":
        scale = {"cmap": WEIGHT_COLORS, "vmin": 0, "vmax": 1}
    axes.imshow(numbers, aspect="auto", **scale)
    axes.set_title(f"{name}  {matrix.size(0)} × {matrix.size(1)}", fontsize=12, loc="center", pad=4)
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(True)
    axes.spines[:].set(color=QUIET, linewidth=0.8)
    axes.tick_params(length=0)
    return axes


def _name_axis(axis: Axis, words: Sequence[str], strong: int, *, rotation: float = 0) -> None:
    """Name the rows or columns of a matrix, one of them in color."""
    axis.set_ticks(range(len(words)), [literal(word) for word in words])
    axis.set_tick_params(labelsize=10, rotation=rotation)
    axis.get_ticklabels()[strong].set(color=GREEN, weight="bold")


def _frame_row(axes: Axes, row: int, columns: int) -> None:
    axes.add_patch(
        Rectangle(
            (-0.5, row - 0.5),
            columns,
            1,
            fill=False,
            edgecolor=GREEN,
            linewidth=2.5,
            clip_on=False,
            zorder=5,
        )
    )


def _write_row(
    figure: Figure, row: Mapping[str, Sequence[float]], key_words: Sequence[str], best: int
) -> None:
    """The numbers of the framed row, in a green frame: a column for each key."""
    left, right = NUMBERS
    wide, middle = (right - left) / len(key_words), (left + right) / 2

    def write(x: float, line: int, words: str, **style: str) -> None:
        place = x / SIZE[0], (1.75 - LINE * line) / SIZE[1]
        figure.text(*place, words, va="center", fontsize=11.5, **style)

    for line, name in enumerate(("", "scores", "weights")):
        write(NAMES, line, name or "keys", ha="right", weight="bold" if not name else "normal")
        for column, word in enumerate(key_words):
            said = _number(row[name][column]) if name else literal(word)
            style = {"color": GREEN, "weight": "bold"} if column == best else {}
            write(left + wide * (column + 0.5), line, said, ha="center", **style)
    for x, name in ((left, "Q"), (middle, "output")):
        first = "  ".join(map(_number, row[name][:FEW]))
        write(x, 3, f"{name}:  {first}  …  ({len(row[name])} numbers)", ha="left")
    corner, size = (0.06, 1.75 - 3.6 * LINE), (SIZE[0] - 0.12, 4.2 * LINE)
    figure.add_artist(
        Rectangle(
            (corner[0] / SIZE[0], corner[1] / SIZE[1]),
            size[0] / SIZE[0],
            size[1] / SIZE[1],
            fill=False,
            edgecolor=GREEN,
            linewidth=2.5,
        )
    )


def _number(number: float) -> str:
    return f"{number:z.2f}".replace("-", "−")


def _connect(
    figure: Figure, start: tuple[float, float], end: tuple[float, float], words: str
) -> None:
    """An arrow between two points in inches, with words above its middle."""
    points = [(x / SIZE[0], y / SIZE[1]) for x, y in (start, end)]
    figure.add_artist(
        FancyArrowPatch(*points, arrowstyle="-|>", mutation_scale=16, color=BLUE, linewidth=2)
    )
    if words:
        x, y = ((a + b) / 2 for a, b in zip(*points, strict=True))
        figure.text(x, y + 0.02, words, ha="center", va="bottom", color=BLUE, fontsize=10.5)
