"""The symptom gallery: loss, scores and cross-attention of several variants, side by side.

Used in notebooks/10_training.ipynb.
"""

from collections.abc import Sequence
from textwrap import fill

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from transformer_edu.model.vocabulary import SPECIAL_TOKENS, START_ID
from transformer_edu.teaching.figures.grid import KEY_AXIS, QUERY_AXIS, draw_weights
from transformer_edu.teaching.figures.runs import draw_band
from transformer_edu.teaching.style import literal, styled
from transformer_edu.training.runs.stored_runs import Glance, StoredRuns

MOST_VARIANTS = 4
LETTERS = 16  # of a column's heading, in one line
BETWEEN_COLUMNS = -0.08  # of a column's width: the middle of a sheet without a middle column


@styled
def plot_symptoms(variants: Sequence[StoredRuns], *, title: str) -> Figure:
    """Draw for each variant a column: its loss, its two scores, and where its decoder looks.

    The scores are token accuracy after true prefixes, and exact match when the model writes
    alone. The attention is one head of the last cross-attention on one held-out pair.

    Args:
        variants: One to four.
        title: What the reader should see, as a sentence.

    Returns:
        A new figure; the rows share their scales.

    Raises:
        ValueError: If there are no variants or more than four.
    """
    if not 0 < len(variants) <= MOST_VARIANTS:
        raise ValueError(f"variants must be 1 to {MOST_VARIANTS}, got {len(variants)}")
    size = (1.6 + 1.75 * len(variants), 5.6)
    figure, grid = plt.subplots(
        3, len(variants), figsize=size, squeeze=False, height_ratios=(1, 1, 1.8), sharey="row"
    )
    for each, (loss, scores, attention) in zip(variants, grid.T, strict=True):
        draw_band(loss, each, "loss")
        loss.set_title(fill(literal(each.variant, longest=None), LETTERS), fontsize=13)
        loss.tick_params(labelbottom=False)  # the steps stand below the scores
        draw_band(scores, each, "token_accuracy", name="tokens, after true prefixes")
        draw_band(scores, each, "exact_match", name="sequences, written alone", place=1)
        image = _draw_glance(attention, each.glance)
    highest = grid[0, 0].get_ylim()[1]
    grid[0, 0].set(ylabel="loss", ylim=(0, 1.05 * highest))  # room for the first marker
    grid[1, 0].set(ylabel="share right", ylim=(-0.04, 1.04), yticks=(0, 0.5, 1))
    grid[2, 0].set_ylabel(QUERY_AXIS)
    middle = len(variants) // 2
    centre = 0.5 if len(variants) % 2 else BETWEEN_COLUMNS
    grid[1, middle].set_xlabel("training step", x=centre)
    grid[2, middle].set_xlabel(KEY_AXIS, x=centre)
    figure.colorbar(image, ax=grid[2], label="attention weight", shrink=0.8)
    handles, labels = grid[1, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2)
    figure.suptitle(title, fontsize=14, x=0.01, ha="left")
    return figure


def _draw_glance(axes: Axes, glance: Glance) -> AxesImage:
    """The attention of one pair; the labels stand upright, for the columns are narrow."""
    given = [SPECIAL_TOKENS[START_ID], *glance.target]
    weights = torch.tensor(glance.weights, device="cpu")
    image = draw_weights(axes, weights, given, glance.source, numbered=False)
    names = [literal(token) for token in glance.source]
    axes.set_xticks(
        range(len(names)),
        names,
        rotation=90,
        ha="center",
        va="top",
        fontsize=11,
        rotation_mode="default",
    )
    axes.tick_params(axis="y", labelsize=11)
    return image


def written_table(variants: Sequence[StoredRuns]) -> str:
    """What each variant writes alone for its held-out source, and what is asked for, to print."""
    width = max(len(each.variant) for each in variants)
    lines = [f"{'asked for':{width}}  {' '.join(variants[0].glance.target)}"]
    lines += [
        f"{each.variant:{width}}  {' '.join(each.glance.written) or '(nothing)'}"
        for each in variants
    ]
    return "\n".join(lines)
