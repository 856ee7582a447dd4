"""From scores to weights: two tables of numbers, one row framed in both."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, Rectangle
from torch import Tensor

from transformer_course.drawing.grid import (
    KEY_AXIS,
    QUERY_AXIS,
    draw_signed,
    draw_weights,
    label_grid,
    number_cells,
    one_decimal,
    require_weights,
)
from transformer_course.drawing.style import BLUE, VERMILION, literal, styled
from transformer_edu.model.refusals import require_whole

# In inches: a cell, the grids' left and lower edges, the gap between them, and what is above them.
WIDE, HIGH, LEFT, BELOW, GAP, ABOVE = 0.41, 0.36, 1.25, 1.15, 0.85, 0.8
PALENESS = 1.6  # of the scores' colors
SAME = 1e-3  # weights that differ less are those of a softmax


@styled
def plot_attention_rows(
    scores: Tensor,
    weights: Tensor,
    *,
    query_words: Sequence[str],
    key_words: Sequence[str],
    marked: int,
) -> Figure:
    """Draw scores and weights as tables with their numbers, one row framed.

    Negative scores are orange and positive ones purple. Weights have the colors of every attention
    map of the course. The frame has the color of the marked query in plot_marked_links.

    Args:
        scores: Shape (query, key), divided by the root.
        weights: Shape (query, key); an arrow goes to them if they are the softmax of each row.
        query_words: One per query.
        key_words: One per key.
        marked: Which query's row is framed.

    Returns:
        A new figure; its label says what the marked row attends to most.
    """
    require_weights(weights, query_words, key_words)
    rows, columns = weights.shape
    require_whole("marked", marked, minimum=0, maximum=rows - 1)
    size = LEFT + 2 * WIDE * columns + GAP + 0.1, BELOW + HIGH * rows + ABOVE
    figure = plt.figure(figsize=size, layout="none")
    lefts = LEFT, LEFT + WIDE * columns + GAP
    left, right = (
        figure.add_axes(
            (x / size[0], BELOW / size[1], WIDE * columns / size[0], HIGH * rows / size[1])
        )
        for x in lefts
    )
    draw_signed(left, scores, paleness=PALENESS)
    number_cells(left, scores.detach().float().cpu().numpy(), one_decimal)
    label_grid(left, query_words, key_words)
    draw_weights(right, weights, query_words, key_words)
    right.set_aspect("auto")
    best = int(weights[marked].argmax())
    for axes, name in ((left, "scores, divided by √d_k"), (right, "attention weights")):
        _frame_row(axes, marked, best)
        axes.set_title(name, fontsize=13)
        axes.set_xlabel(KEY_AXIS)
    left.set_ylabel(QUERY_AXIS)
    right.set_yticks([])
    query, key = literal(query_words[marked]), literal(key_words[best])
    shown, said = "Scores and weights", "scores and attention weights"
    if torch.allclose(scores.float().softmax(dim=-1), weights.float(), atol=SAME):
        shown = "Each row of scores becomes a row of weights"
        said = "scores and the attention weights that a softmax makes of each row"
        middle = (BELOW + HIGH * (rows - marked - 0.5)) / size[1]
        ends = lefts[1] - GAP + 0.08, lefts[1] - 0.08
        arrow = {"arrowstyle": "-|>", "mutation_scale": 16, "color": BLUE, "linewidth": 2}
        figure.add_artist(FancyArrowPatch(*((x / size[0], middle) for x in ends), **arrow))
        figure.text(
            sum(ends) / 2 / size[0], middle + 0.02, "softmax", ha="center", color=BLUE, fontsize=11
        )
    most = f"{query} attends most to {key}"
    if weights[marked].max() == weights[marked].min():
        most = f"{query} attends to all equally"
    title = f"{shown}: {most}"
    figure.text(0.01, 0.985, title, va="top", fontsize=14)
    figure.set_label(
        f"two tables, {said}. The row of {query_words[marked]} is framed: "
        f"the score of {key_words[best]} is {scores[marked, best]:.1f}, "
        f"and its weight {weights[marked, best]:.2f}"
    )
    return figure


def _frame_row(axes: Axes, row: int, column: int) -> None:
    """Frame a row, and write its word and the word of one column in bold."""
    axes.add_patch(
        Rectangle(
            (-0.5, row - 0.5),
            axes.images[0].get_array().shape[1],
            1,
            fill=False,
            edgecolor=VERMILION,
            linewidth=2.5,
            clip_on=False,
            zorder=5,
        )
    )
    axes.get_yticklabels()[row].set_weight("bold")
    axes.get_xticklabels()[column].set_weight("bold")
