"""The attention viewer's first state as a figure: for viewers that show neither page nor script."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from torch import from_numpy

from transformer_edu.teaching.figures.attention import plot_attention
from transformer_edu.teaching.inspect.attention_maps import AttentionMap, Side
from transformer_edu.teaching.style import BLUE, literal, styled
from transformer_edu.teaching.viewer.page import SIZES

ROW, TALLEST, TITLE = 0.27, 12.0, 1.0  # inches: for a token, for all of them, above them
LEFT, RIGHT = 0.0, 2.6  # inches: where the lines begin and end
MOST_HATCHED = 50**2  # cells; to hatch more takes seconds
POINTS = 72  # to the inch


def plot_still(attention_map: AttentionMap, head: int, view: str, title: str) -> Figure:
    """Draw one head, counted from 0, as lines or as a grid.

    Args:
        attention_map: The layer.
        head: Which of its heads.
        view: ``"lines"`` or ``"grid"``.
        title: What stands above; it may have two lines.

    Returns:
        A new figure.
    """
    weights = attention_map.weights[head]
    queries, keys = attention_map.queries, attention_map.keys
    if view == "lines":
        return _plot_lines(weights, queries, keys, title)
    return plot_attention(
        from_numpy(weights),
        query_tokens=queries.rows(),
        key_tokens=keys.tokens,
        title=_literal_lines(title),
        mask=from_numpy(weights > 0) if weights.size <= MOST_HATCHED else None,
    )


@styled
def _plot_lines(weights: np.ndarray, queries: Side, keys: Side, title: str) -> Figure:
    """Queries on the left, keys on the right, as in the viewer."""
    longest = max(weights.shape)
    height = min(ROW * longest, TALLEST)
    size = min(12, 0.62 * POINTS * height / longest)
    figure, axes = plt.subplots(figsize=(6.5, height + TITLE))
    for place in np.argsort(weights, axis=None, kind="stable"):
        query, key = divmod(int(place), weights.shape[1])
        if weights[query, key] >= SIZES["faintest"]:
            _link(axes, query, key, float(weights[query, key]))
    sides = ((queries.rows(), LEFT - 0.07, "right"), (keys.tokens, RIGHT + 0.07, "left"))
    for labels, x, anchor in sides:
        style = {"ha": anchor, "va": "center", "fontsize": size}
        for index, label in enumerate(labels):
            axes.text(x, index, literal(label, longest=None), **style)
    for x, anchor, text in ((LEFT, "right", queries.heading), (RIGHT, "left", "keys")):
        axes.text(x, -1, text, ha=anchor, va="center", fontsize=11, style="italic")
    axes.set(xlim=(LEFT - 1.9, RIGHT + 1.9), ylim=(longest - 0.4, -1.5))
    axes.set_axis_off()
    axes.set_title(_literal_lines(title))
    return figure


def _literal_lines(title: str) -> str:
    return "\n".join(literal(line, longest=None) for line in title.splitlines())


def _link(axes: Axes, query: int, key: int, weight: float) -> None:
    middle = (LEFT + RIGHT) / 2
    way = [(LEFT, query), (middle, query), (middle, key), (RIGHT, key)]
    axes.add_patch(
        PathPatch(
            Path(way, [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]),
            facecolor="none",
            edgecolor=BLUE,
            alpha=0.15 + 0.75 * weight,
            linewidth=(SIZES["thin"] + SIZES["thick"] * weight) * 0.75,
            capstyle="round",
        )
    )
