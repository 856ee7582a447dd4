"""Two judgements of a model side by side: fed as in training, and writing alone.

Used in notebooks/08_decoder.ipynb.
"""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from transformer_edu.teaching.style import BLUE, VERMILION, literal, new_axes, styled
from transformer_edu.training.evaluation import Evaluation

BAR_WIDTH, GAP = 0.38, 0.02


@styled
def plot_scores(
    evaluations: Mapping[str, Evaluation], *, title: str, axes: Axes | None = None
) -> Figure:
    """Draw token accuracy and greedy exact match of several models as pairs of bars.

    The left bar of a pair is the share of tokens that are right when the model is fed as in
    training; the right one, hatched, is the share of sequences that are right when it writes
    alone.

    Args:
        evaluations: One for each model, by its name.
        title: What the reader should see, as a sentence.
        axes: Where to draw; a new figure when None.

    Returns:
        The figure drawn on.

    Raises:
        ValueError: If there are no evaluations.
    """
    if not evaluations:
        raise ValueError("evaluations must hold at least one model, got none")
    axes = new_axes(axes, min(3.5 + 1.6 * len(evaluations), 9), 3.6)
    middle = np.arange(len(evaluations))
    step = (BAR_WIDTH + GAP) / 2
    for side, label, colour, hatch, scores in (
        (-step, "tokens, fed as in training", BLUE, None, _tokens(evaluations)),
        (step, "sequences, written alone", VERMILION, "//", _alone(evaluations)),
    ):
        style = {"color": colour, "hatch": hatch, "edgecolor": "white", "linewidth": 0}
        bars = axes.bar(middle + side, scores, BAR_WIDTH, label=label, **style)
        axes.bar_label(bars, [f"{score:.2f}" for score in scores], padding=2)
    axes.set_xticks(middle, [literal(name) for name in evaluations])
    axes.set(ylim=(0, 1.12), ylabel="share that is right")
    axes.set_yticks([0, 0.5, 1])
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    axes.set_title(title)
    return axes.figure


def _tokens(evaluations: Mapping[str, Evaluation]) -> list[float]:
    return [each.token_accuracy for each in evaluations.values()]


def _alone(evaluations: Mapping[str, Evaluation]) -> list[float]:
    return [each.exact_match for each in evaluations.values()]
