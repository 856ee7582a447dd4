"""A lookup by attention in the plane: a query among keys, and the output among values."""

from collections.abc import Sequence
from itertools import combinations

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from transformer_edu.teaching.style import BLACK, BLUE, GREEN, PALE, VERMILION, literal, styled


@styled
def plot_lookup(
    query: Tensor, key: Tensor, value: Tensor, *, words: Sequence[str], features: Sequence[str]
) -> Figure:
    """Draw one query with its keys on the left, and the values with their average on the right.

    Unscaled: the weights are softmax(key @ query). The figure's label says it in words.

    Args:
        query: Shape (2,).
        key: Shape (key, 2), at least three.
        value: Shape (key, 2).
        words: One per key.
        features: What the two numbers of queries and keys stand for.

    Returns:
        A new figure of two panels.
    """
    scores = key @ query
    weights = scores.softmax(dim=0)
    output = weights @ value
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.2))
    _draw_match(
        left,
        query,
        key,
        [f"{literal(w)}: score {s:.0f}" for w, s in zip(words, scores, strict=True)],
    )
    left.set_xlabel(literal(features[0]))
    left.set_ylabel(literal(features[1]))
    _draw_mix(right, value, weights, output, words)
    best = words[int(weights.argmax())]
    figure.suptitle(
        f"The output is inside the {_shape(words)}, nearest to {literal(best)}", x=0.01, ha="left"
    )
    mixed = ", ".join(f"{weight:.3f} {word}" for word, weight in zip(words, weights, strict=True))
    figure.set_label(
        f"left: a query and its keys; right: the {_shape(words)} of the values, and inside it, "
        f"near the value of {best}, their average with the weights {mixed}"
    )
    return figure


def _shape(words: Sequence[str]) -> str:
    """What the values of these words are the corners of."""
    return "triangle" if len(words) == 3 else "hull"


def _draw_match(axes: Axes, query: Tensor, key: Tensor, labels: Sequence[str]) -> None:
    """The query as an arrow, the keys as points with their scores."""
    axes.axhline(0, color=PALE, linewidth=1, marker="", zorder=0)
    axes.axvline(0, color=PALE, linewidth=1, marker="", zorder=0)
    arrow = {"arrowstyle": "-|>", "color": VERMILION, "linewidth": 2.5, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", query.tolist(), (0, 0), arrowprops=arrow)
    axes.annotate(
        "query of it",
        query.tolist(),
        (0, 8),
        textcoords="offset points",
        color=VERMILION,
        ha="right",
    )
    for (x, y), label in zip(key.tolist(), labels, strict=True):
        axes.plot(x, y, "o", color=BLUE, markersize=9)
        down = y < 0
        axes.annotate(
            label,
            (x, y),
            (0, -12 if down else 9),
            textcoords="offset points",
            ha="center" if x > 0 else "left",
            va="top" if down else "bottom",
            color=BLUE,
        )
    low, high = torch.cat([key, query[None], key.new_zeros(1, 2)]).aminmax(dim=0)
    axes.set(xlim=(low[0] - 0.4, high[0] + 1), ylim=(low[1] - 0.8, high[1] + 0.6))
    axes.set_title("query and keys")
    axes.set_aspect("equal")
    axes.title.set_fontsize(13)


def _draw_mix(
    axes: Axes, value: Tensor, weights: Tensor, output: Tensor, words: Sequence[str]
) -> None:
    """The values as corners of a triangle, and the output where the weights put it."""
    for corners in combinations(value.tolist(), 3):  # all triangles together are the hull
        axes.fill(*zip(*corners, strict=True), color=PALE, zorder=0)
    for (x, y), weight, word in zip(value.tolist(), weights.tolist(), words, strict=True):
        axes.plot(
            [x, output[0]], [y, output[1]], color=BLACK, marker="", linewidth=0.5 + 6 * weight
        )
        axes.plot(x, y, "s", color=GREEN, markersize=10)
        above = y > value[:, 1].mean()
        axes.annotate(
            f"{literal(word)}: weight {weight:.3f}",
            (x, y),
            (0, 11 if above else -13),
            textcoords="offset points",
            ha="center" if x > value[:, 0].min() else "left",
            va="bottom" if above else "top",
            color=GREEN,
        )
    axes.plot(*output.tolist(), "*", color=VERMILION, markersize=20, zorder=5)
    axes.annotate("output", output.tolist(), (12, 10), textcoords="offset points", color=VERMILION)
    axes.margins(0.28)
    axes.set(xlabel="value, first number", ylabel="second number")
    axes.set_title("values and output", fontsize=13)
