"""Attention from its inputs to its output: links between words, matrices with arrows, a lookup."""

import math
from collections.abc import Sequence
from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Rectangle
from torch import Tensor

from transformer_course.drawing.style import (
    BLACK,
    BLUE,
    GREEN,
    PALE,
    SIGNED_COLORS,
    VERMILION,
    WEIGHT_COLORS,
    literal,
    styled,
    title_above,
)
from transformer_edu.model.attention import scaled_dot_product_attention

QUIET, QUIET_WORDS = "#9AA5B1", "#5C7084"  # beside the marked ones
FAINTEST = 0.04  # weights below it are not drawn
# In inches: the figure; left, bottom, width and height of each matrix; arrows and their words.
SIZE = (9.8, 5.9)
PLACES = {
    "Q": (0.95, 1.0, 1.5, 1.85),
    "Kᵀ": (3.15, 3.75, 1.5, 1.5),
    "scores": (3.15, 1.0, 1.5, 1.85),
    "weights": (5.75, 1.0, 1.5, 1.85),
    "V": (8.0, 3.75, 1.5, 1.5),
    "output": (8.0, 1.0, 1.5, 1.85),
}
MIDDLE = 1.925  # of the lower row
ARROWS = [
    ((2.5, MIDDLE), (3.1, MIDDLE), ""),
    ((3.9, 3.7), (3.9, 3.15), ""),
    ((4.7, MIDDLE), (5.7, MIDDLE), "softmax\nof each row"),
    ((7.3, MIDDLE), (7.95, MIDDLE), ""),
    ((8.75, 3.7), (8.75, 3.15), ""),
]


@styled
def plot_marked_links(
    attention_weights: Tensor,
    *,
    query_words: Sequence[str],
    key_words: Sequence[str],
    marked: int,
) -> Figure:
    """Draw which words are attended to, one query in color and the others in grey.

    The title, and the figure's label, name the key with the largest weight.

    Args:
        attention_weights: Weights of one head, shape (query, key).
        query_words: The lower row.
        key_words: The upper row.
        marked: Which query is drawn in color.

    Returns:
        A new figure.
    """
    weights = attention_weights.detach().float().cpu().numpy()
    figure, axes = plt.subplots(figsize=(9, 3.4))
    upper, lower = (_places(words) for words in (key_words, query_words))
    best = int(weights[marked].argmax())
    for (query, key), weight in np.ndenumerate(weights):
        if weight > FAINTEST:
            is_marked = query == marked
            axes.plot(
                [lower[query], upper[key]],
                [0.18, 0.82],
                color=VERMILION if is_marked else QUIET,
                linewidth=0.5 + 9 * weight if is_marked else 4 * weight,
                alpha=1.0 if is_marked else 0.55,
                marker="",
                zorder=2 if is_marked else 1,
                solid_capstyle="round",
            )
    _write_row(axes, "English input", upper, key_words, y=0.91, strong=best)
    _write_row(axes, "next German word", lower, query_words, y=0.09, strong=marked)
    axes.set(xlim=(0, 1), ylim=(-0.08, 1.08))
    axes.set_axis_off()
    query, key = literal(query_words[marked]), literal(key_words[best])
    axes.set_title(f"About to write {query}, the translator attends most to {key}")
    figure.set_label(describe_marked_links(attention_weights, query_words, key_words, marked))
    return figure


def describe_marked_links(
    attention_weights: Tensor, query_words: Sequence[str], key_words: Sequence[str], marked: int
) -> str:
    """What plot_marked_links shows, in words.

    Args:
        attention_weights, query_words, key_words, marked: As for plot_marked_links.
    """
    best = int(attention_weights[marked].argmax())
    return (
        "lines from every German word to the English words that it attends to, thicker for larger "
        f"weights; the thickest line of {query_words[marked]} goes to {key_words[best]}"
    )


def _write_row(
    axes: Axes, name: str, places: list[float], words: Sequence[str], *, y: float, strong: int
) -> None:
    """One row of words, one of them in color, and outside of it what the row is."""
    axes.text(
        0, y + (0.11 if y > 0.5 else -0.11), name, color=QUIET_WORDS, va="center", fontsize=12
    )
    for place, (x, word) in enumerate(zip(places, words, strict=True)):
        style = {"weight": "bold", "color": VERMILION} if place == strong else {}
        axes.text(x, y, literal(word), ha="center", va="center", fontsize=13, **style)


def _places(words: Sequence[str]) -> list[float]:
    """Where the middle of each word is along a row from 0 to 1, longer words with more room."""
    widths = np.array([len(word) + 3 for word in words], dtype=float)
    ends = widths.cumsum() / widths.sum()
    return (ends - widths / widths.sum() / 2).tolist()


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


@styled
def plot_lookup(
    query: Tensor, key: Tensor, value: Tensor, *, words: Sequence[str], features: Sequence[str]
) -> Figure:
    """Draw a query among its keys, the scores and weights, and their average of the values.

    Unscaled: the weights are softmax(key @ query). The figure's label says it in words.

    Args:
        query: Shape (2,).
        key: Shape (key, 2), at least three.
        value: Shape (key, 2).
        words: One per key.
        features: What the two numbers of queries and keys stand for.

    Returns:
        A new figure of three panels.
    """
    scores = key @ query
    weights = scores.softmax(dim=0)
    output = weights @ value
    figure, (left, middle, right) = plt.subplots(
        1, 3, figsize=(9.6, 3.8), width_ratios=(3, 1.7, 3), layout="constrained"
    )
    _draw_match(left, query, key, words)
    left.set(xlabel=literal(features[0]), ylabel=literal(features[1]))
    _draw_weights(middle, scores, weights, words)
    _draw_mix(right, value, weights, output, words)
    best = words[int(weights.argmax())]
    shape = "triangle" if len(words) == 3 else "hull"
    title_above(
        figure, f"The output is inside the {shape} of the values, nearest to {literal(best)}"
    )
    mixed = ", ".join(f"{weight:.3f} {word}" for word, weight in zip(words, weights, strict=True))
    figure.set_label(
        f"left: a query and its keys; right: the {shape} of the values, and inside it, "
        f"near the value of {best}, their average with the weights {mixed}"
    )
    return figure


def _draw_match(axes: Axes, query: Tensor, key: Tensor, words: Sequence[str]) -> None:
    """The query as an arrow, the keys as points."""
    for line in (axes.axhline, axes.axvline):
        line(0, color=PALE, linewidth=1, marker="", zorder=0)
    arrow = {"arrowstyle": "-|>", "color": VERMILION, "linewidth": 2.5, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", query.tolist(), (0, 0), arrowprops=arrow)
    _name(axes, "query", query.tolist(), VERMILION)
    for place, word in zip(key.tolist(), words, strict=True):
        axes.plot([0, place[0]], [0, place[1]], color=BLUE, linewidth=1, marker="")
        axes.plot(*place, "o", color=BLUE, markersize=8)
        _name(axes, word, place, BLUE, below=place[1] < 0)
    _leave_room(axes, torch.cat([key, query[None], key.new_zeros(1, 2)]))
    axes.set_title("query and keys", fontsize=13)


def _draw_weights(axes: Axes, scores: Tensor, weights: Tensor, words: Sequence[str]) -> None:
    """For each word its score, and its weight as a bar."""
    rows = range(len(words))
    axes.barh(rows, [1] * len(words), height=0.28, color=PALE)
    axes.barh(rows, weights.tolist(), height=0.28, color=BLUE)
    for row, word, score, weight in zip(rows, words, scores, weights, strict=True):
        axes.text(0, row - 0.25, f"{literal(word)}: score {score:.1f}", fontsize=11)
        axes.text(1.04, row, f"{weight:.3f}", fontsize=11, va="center")
    axes.set(xlim=(0, 1.5), ylim=(len(words) - 0.6, -0.6))
    axes.set_axis_off()
    axes.set_title("scores and weights", fontsize=13)


def _draw_mix(
    axes: Axes, value: Tensor, weights: Tensor, output: Tensor, words: Sequence[str]
) -> None:
    """The values as corners, and the output where the weights put it."""
    for corners in combinations(value.tolist(), 3):  # all triangles together are the hull
        axes.fill(*zip(*corners, strict=True), color=PALE, zorder=0)
    for place, weight, word in zip(value.tolist(), weights.tolist(), words, strict=True):
        ends = zip(place, output.tolist(), strict=True)
        axes.plot(*ends, color=BLACK, marker="", linewidth=0.5 + 6 * weight)
        axes.plot(*place, "s", color=GREEN, markersize=9)
        _name(axes, word, place, GREEN, below=place[1] < value[:, 1].mean())
    axes.plot(*output.tolist(), "*", color=VERMILION, markersize=20, zorder=5)
    _name(axes, "output", output.tolist(), VERMILION)
    _leave_room(axes, value)
    axes.set_title("values and output", fontsize=13)


def _leave_room(axes: Axes, points: Tensor) -> None:
    """Show these points, shape (point, 2), with room for their names, one unit as long as another.

    The panel is square, whatever the points are.
    """
    low, high = points.aminmax(dim=0)
    half = 0.68 * (high - low).max()
    (left, bottom), (right, top) = (low + high) / 2 - half, (low + high) / 2 + half
    axes.set(xlim=(left, right), ylim=(bottom, top))
    axes.set_aspect("equal")


def _name(
    axes: Axes, word: str, place: Sequence[float], color: str, *, below: bool = False
) -> None:
    """A word above its point, or below."""
    way = {"xytext": (0, -11), "va": "top"} if below else {"xytext": (0, 11)}
    axes.annotate(literal(word), place, textcoords="offset points", color=color, ha="center", **way)
