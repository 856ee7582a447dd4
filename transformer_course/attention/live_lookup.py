"""A lookup from its query to its output, still and under the hand."""

from collections.abc import Sequence
from itertools import combinations

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from transformer_course.drawing.style import (
    BLACK,
    BLUE,
    GREEN,
    PALE,
    VERMILION,
    literal,
    require_one_each,
    styled,
    title_above,
)
from transformer_course.viewer.live import show_live

# What the reader finds in the plane: hand-made vectors, as in the lesson.
PLANE_WORDS, PLANE_FEATURES = ("animal", "street", "tired", "cross"), ("alive", "does not move")
PLANE_QUERY = [1.2, 0.6]
PLANE_KEY = [[2.4, -0.8], [-0.8, 2.0], [0.7, 1.3], [-1.5, -1.0]]
PLANE_VALUE = [[2.2, -1.6], [-2.0, -1.4], [1.6, 2.0], [-1.4, 1.8]]
NEAR = 1e-5  # places that are closer to each other are drawn as one
PLANE_WIDTHS = (2, 8, 32, 128, 512)  # twice a square each: scores grow by whole numbers


def show_plane_live() -> None:
    """Let the reader move a query, four keys and four values, and widen the vectors."""
    numbers = {"query": PLANE_QUERY, "key": PLANE_KEY, "value": PLANE_VALUE}
    names = {"words": PLANE_WORDS, "features": PLANE_FEATURES}
    tensors = {name: torch.tensor(each) for name, each in numbers.items()}
    show_live(
        __file__,
        {**numbers, **names, "widths": PLANE_WIDTHS, "extent": 3},
        title="A query among keys, and the output among values",
        still=plot_lookup(**tensors, **names),
        height=540,
        phone_height=870,
    )


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
    require_one_each(len(key), "keys", words=words, value=value)
    if {tuple(each.shape[-1:]) for each in (query, key, value)} != {(2,)}:
        got = f"{(*query.shape,)}, {(*key.shape,)} and {(*value.shape,)}"
        raise ValueError(f"query, key and value must hold vectors of two numbers, got {got}")
    if not len(key):
        raise ValueError("key must hold at least one vector, got none")
    if not all(each.isfinite().all() for each in (query, key, value)):
        raise ValueError("query, key and value must be finite, got infinite numbers or NaN")
    query, key, value = query.float(), key.float(), value.float()  # whole numbers, too
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
    distances = (value - output).norm(dim=-1)
    close = (distances <= distances.min() + NEAR).tolist()  # perhaps several
    nearest = " and ".join(word for word, is_near in zip(words, close, strict=True) if is_near)
    is_triangle = len(words) == 3 and torch.linalg.matrix_rank(value[1:] - value[0]) == 2
    where = "inside the triangle of" if is_triangle else "among"
    title = f"The output is {where} the values, nearest to {literal(nearest)}"
    if distances.min() < NEAR:
        title = f"The output is the value of {literal(nearest)}"
    title_above(figure, title)
    mixed = ", ".join(f"{weight:.3f} {word}" for word, weight in zip(words, weights, strict=True))
    figure.set_label(
        f"left: a query and its keys; right: the output, {where} the values and nearest to the "
        f"value of {nearest}: their average with the weights {mixed}"
    )
    return figure


def _draw_match(axes: Axes, query: Tensor, key: Tensor, words: Sequence[str]) -> None:
    """The query as an arrow, the keys as points."""
    for line in (axes.axhline, axes.axvline):
        line(0, color=PALE, linewidth=1, marker="", zorder=0)
    arrow = {"arrowstyle": "-|>", "color": VERMILION, "linewidth": 2.5, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", query.tolist(), (0, 0), arrowprops=arrow)
    _name(axes, "query", query.tolist())
    for place, word in zip(key.tolist(), words, strict=True):
        axes.plot([0, place[0]], [0, place[1]], color=BLUE, linewidth=1, marker="")
        axes.plot(*place, "o", color=BLUE, markersize=8)
        _name(axes, word, place, below=place[1] < 0)
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
    for corners in combinations(value.tolist(), 3):  # all triangles together are what they can mix
        axes.fill(*zip(*corners, strict=True), color=PALE, zorder=0)
    for place, weight, word in zip(value.tolist(), weights.tolist(), words, strict=True):
        ends = zip(place, output.tolist(), strict=True)
        axes.plot(*ends, color=BLACK, marker="", linewidth=0.5 + 6 * weight)
        axes.plot(*place, "s", color=GREEN, markersize=9)
        _name(axes, word, place, below=place[1] < value[:, 1].mean())
    axes.plot(*output.tolist(), "*", color=VERMILION, markersize=20, zorder=5)
    _name(axes, "output", output.tolist())
    _leave_room(axes, value)
    axes.set_title("values and output", fontsize=13)


def _leave_room(axes: Axes, points: Tensor) -> None:
    """Show these points, shape (point, 2), with room for their names, one unit as long as another.

    The panel is square, whatever the points are.
    """
    low, high = points.aminmax(dim=0)
    half = 0.68 * ((high - low).max() or 1)  # equal points have no distance
    (left, bottom), (right, top) = (low + high) / 2 - half, (low + high) / 2 + half
    axes.set(xlim=(left, right), ylim=(bottom, top))
    axes.set_aspect("equal")


def _name(axes: Axes, word: str, place: Sequence[float], *, below: bool = False) -> None:
    """A word above its point, or below."""
    way = {"xytext": (0, -11), "va": "top"} if below else {"xytext": (0, 11)}
    axes.annotate(literal(word), place, textcoords="offset points", ha="center", **way)
