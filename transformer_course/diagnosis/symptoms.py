"""The symptoms of stored runs: their curves, a look at the attention, what they write."""

from collections.abc import Sequence
from textwrap import fill

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from transformer_course.curves.run_figures import EXACT_MATCH, TEACHER_FORCING, add_head, draw_seeds
from transformer_course.curves.stored_runs import Glance, StoredRuns
from transformer_course.drawing.grid import KEY_AXIS, QUERY_AXIS, draw_weights
from transformer_course.drawing.style import literal, styled
from transformer_edu.model.special_ids import SPECIAL_TOKENS, START_ID

LETTERS = 16  # of a column's heading, in one line
BETWEEN_COLUMNS = -0.08  # of a column's width: the middle of a sheet without a middle column


@styled
def plot_symptoms(variants: Sequence[StoredRuns], *, title: str) -> Figure:
    """Draw for each variant a column: loss, token accuracy and exact match, cross-attention.

    The attention is one head of the last cross-attention on one held-out pair.

    Args:
        variants: At most four.
        title: What the reader should see, as a sentence.

    Returns:
        A new figure; the rows share their scales.
    """
    size = (1.6 + 1.75 * len(variants), 5.6)
    figure, grid = plt.subplots(
        3, len(variants), figsize=size, squeeze=False, height_ratios=(1, 1, 1.8), sharey="row"
    )
    for each, (loss, scores, attention) in zip(variants, grid.T, strict=True):
        draw_seeds(loss, each, "loss", name=each.variant)
        loss.set_title(fill(literal(each.variant, longest=None), LETTERS), fontsize=13)
        loss.tick_params(labelbottom=False)  # the scores below name the steps
        draw_seeds(scores, each, "token_accuracy", name=TEACHER_FORCING)
        draw_seeds(scores, each, "exact_match", name=EXACT_MATCH, place=1)
        for line in (*loss.lines, *scores.lines):
            line.set_clip_on(False)  # markers at 0 and at 1 stay whole
        image = _draw_glance(attention, each.glance)
    highest = grid[0, 0].get_ylim()[1]
    grid[0, 0].set(ylabel="loss", ylim=(0, 1.05 * highest))  # room for the first marker
    grid[1, 0].set(ylabel="fraction\ncorrect", ylim=(-0.04, 1.04), yticks=(0, 0.5, 1))
    grid[2, 0].set_ylabel(QUERY_AXIS)
    middle = len(variants) // 2
    center = 0.5 if len(variants) % 2 else BETWEEN_COLUMNS
    grid[1, middle].set_xlabel("training step", x=center)
    grid[2, middle].set_xlabel(KEY_AXIS, x=center)
    figure.colorbar(image, ax=grid[2], label="attention weight", shrink=0.8)
    add_head(figure, title, legend_of=grid[1, 0])
    return figure


def _draw_glance(axes: Axes, glance: Glance) -> AxesImage:
    """The attention of one pair; the labels stand upright because the columns are narrow."""
    given = [SPECIAL_TOKENS[START_ID], *glance.target]
    weights = torch.tensor(glance.weights, device="cpu")
    image = draw_weights(axes, weights, given, glance.source, numbered=False)
    upright = {"rotation": 90, "ha": "center", "va": "top", "rotation_mode": "default"}
    plt.setp(axes.get_xticklabels(), **upright)
    axes.tick_params(labelsize=11)
    return image


def generated_table(variants: Sequence[StoredRuns]) -> str:
    """What each variant generates for its held-out source, below the target, to print."""
    width = max(len(each.variant) for each in variants)
    lines = [f"{'target':{width}}  {' '.join(variants[0].glance.target)}"]
    lines += [
        f"{each.variant:{width}}  {' '.join(each.glance.written) or '(nothing)'}"
        for each in variants
    ]
    return "\n".join(lines)
