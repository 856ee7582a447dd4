"""Bars of the two scores: with teacher forcing, and as exact match."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from transformer_course.curves.run_figures import EXACT_MATCH, TEACHER_FORCING
from transformer_course.drawing.style import BLUE, VERMILION, literal, styled
from transformer_edu.training.evaluation import Evaluation

BAR_WIDTH, GAP = 0.38, 0.02


@styled
def plot_scores(evaluations: Mapping[str, Evaluation], *, title: str) -> Figure:
    """Draw token accuracy and exact match of several models as pairs of bars.

    The left bar of a pair is the fraction of correct tokens with teacher forcing; the right one,
    hatched, is the fraction of correct sequences when the model generates on its own.

    Args:
        evaluations: One for each model, by its name.
        title: What the reader should see, as a sentence.

    Returns:
        A new figure.
    """
    figure, axes = plt.subplots(figsize=(min(3.5 + 1.6 * len(evaluations), 9), 3.6))
    middle, step = np.arange(len(evaluations)), (BAR_WIDTH + GAP) / 2
    tokens = [each.token_accuracy for each in evaluations.values()]
    sequences = [each.exact_match for each in evaluations.values()]
    for side, label, color, hatch, heights in (
        (-step, TEACHER_FORCING, BLUE, None, tokens),
        (step, EXACT_MATCH, VERMILION, "//", sequences),
    ):
        style = {"color": color, "hatch": hatch, "edgecolor": "white", "linewidth": 0}
        bars = axes.bar(middle + side, heights, BAR_WIDTH, label=label, **style)
        axes.bar_label(bars, [f"{height:.2f}" for height in heights], padding=2)
    axes.set_xticks(middle, [literal(name) for name in evaluations])
    axes.set(ylim=(0, 1.12), ylabel="fraction correct")
    axes.set_yticks([0, 0.5, 1])
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    axes.set_title(title)
    return figure
