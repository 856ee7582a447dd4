"""Training runs as curves: a line for the middle seed, a band from the worst to the best.

Used in notebooks/10_training.ipynb.
"""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from transformer_edu.teaching.style import literal, styled
from transformer_edu.training.stored_runs import MEASURES, StoredRuns

MEASURE_LABELS = {
    "loss": "loss (nats per token)",
    "token_accuracy": "token accuracy",
    "exact_match": "exact match",
}
MOST_VARIANTS = 5  # as many colours as the style has
LEGEND_LETTERS = 66  # of all names together, if the legend is to be one line


@styled
def plot_runs(
    variants: Sequence[StoredRuns],
    *,
    title: str,
    measures: Sequence[str] = ("loss", "exact_match"),
    names: Sequence[str] | None = None,
) -> Figure:
    """Draw several variants' training, one panel for each measure.

    Args:
        variants: One to five; the lines' colours and markers follow their order.
        title: What the reader should see, as a sentence.
        measures: Some of "loss", "token_accuracy" and "exact_match".
        names: What the variants are called in the legend; their own names when None.

    Returns:
        A new figure with one legend.

    Raises:
        ValueError: If there are no variants or too many, the names do not fit, or a measure is
            unknown.
    """
    if not 0 < len(variants) <= MOST_VARIANTS:
        raise ValueError(f"variants must be 1 to {MOST_VARIANTS}, got {len(variants)}")
    names = [each.variant for each in variants] if names is None else names
    if len(names) != len(variants):
        raise ValueError(f"names must name {len(variants)} variants, got {len(names)}")
    if not measures or set(measures) - set(MEASURES):
        raise ValueError(f"measures must be of {', '.join(MEASURES)}, got {list(measures)}")
    columns = len(names) if sum(map(len, names)) < LEGEND_LETTERS else 2
    size = (4.2 * len(measures), 2.9 + 0.28 * -(-len(names) // columns))
    figure, grid = plt.subplots(1, len(measures), figsize=size, squeeze=False)
    for axes, measure in zip(grid[0], measures, strict=True):
        for place, (each, name) in enumerate(zip(variants, names, strict=True)):
            draw_band(axes, each, measure, name=name, place=place)
        if measure != "loss":
            axes.set_ylim(-0.04, 1.04)
        else:
            axes.set_ylim(bottom=0)
        axes.set(xlabel="training step", ylabel=MEASURE_LABELS[measure])
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns)
    figure.suptitle(title, fontsize=14, x=0.01, ha="left")
    return figure


def draw_band(
    axes: Axes, runs: StoredRuns, measure: str, *, name: str | None = None, place: int = 0
) -> None:
    """Draw one variant: the seeds' median as a line, their range as a band.

    Args:
        axes: Where to draw.
        runs: All seeds of the variant.
        measure: Which curve.
        name: For the legend; the variant's own when None.
        place: Which of the style's colours and markers.
    """
    curves = np.array(runs.curves(measure))  # (seed, evaluation)
    styles = list(plt.rcParams["axes.prop_cycle"])
    style = styles[place % len(styles)]
    label = literal(runs.variant if name is None else name, longest=None)
    # Markers of different lines stand apart, so that lines that fall together are all seen.
    every = max(1, len(runs.steps) // 6)
    marks = (place % every, every)
    axes.plot(runs.steps, np.median(curves, axis=0), label=label, markevery=marks, **style)
    low, high = curves.min(axis=0), curves.max(axis=0)
    axes.fill_between(runs.steps, low, high, color=style["color"], alpha=0.2, linewidth=0)


def describe_runs(variants: Sequence[StoredRuns]) -> str:
    """Where the variants end, in words: for the alternative text of their figure."""
    return "; ".join(
        f"{each.variant}: loss {_span(each, 'loss')}, alone {_span(each, 'exact_match')}"
        for each in variants
    )


def run_table(variants: Sequence[StoredRuns]) -> str:
    """The last evaluation of every variant, smallest and largest over the seeds, to print."""
    width = max(len(each.variant) for each in variants)
    lines = [f"{'':{width}}  {'loss':>11}  {'tokens right':>12}  {'written alone':>13}"]
    for each in variants:
        loss, tokens, alone = (_span(each, measure) for measure in MEASURES)
        lines.append(f"{each.variant:{width}}  {loss:>11}  {tokens:>12}  {alone:>13}")
    return "\n".join(lines)


def _span(runs: StoredRuns, measure: str) -> str:
    """The last values of all seeds, as one number where they round to the same."""
    ends = sorted(f"{curve[-1]:.2f}" for curve in runs.curves(measure))
    return ends[0] if ends[0] == ends[-1] else f"{ends[0]} – {ends[-1]}"
