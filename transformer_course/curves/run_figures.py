"""Stored runs in words and as a table, and the lines that the figures of several lessons draw."""

from collections.abc import Collection, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from transformer_course.curves.stored_runs import MEASURES, StoredRuns
from transformer_course.drawing.style import literal, title_above

LABELS = {"loss": "loss (nats per token)", "exact_match": "exact match", "bleu": "BLEU"}
TEACHER_FORCING, EXACT_MATCH = "tokens (teacher forcing)", "sequences (exact match)"


def describe_runs(variants: Sequence[StoredRuns]) -> str:
    """Where the variants end, in words: for the alternative text of their figure."""
    return "; ".join(
        f"{each.variant}: loss {_span(each, 'loss')}, exact match {_span(each, 'exact_match')}"
        for each in variants
    )


def run_table(variants: Collection[StoredRuns]) -> str:
    """The last evaluation of every variant, smallest and largest over the seeds, to print."""
    width = max(len(each.variant) for each in variants)
    lines = [f"{'':{width}}  {'loss':>11}  {'token accuracy':>14}  {'exact match':>11}"]
    for each in variants:
        loss, tokens, exact = (_span(each, measure) for measure in MEASURES)
        lines.append(f"{each.variant:{width}}  {loss:>11}  {tokens:>14}  {exact:>11}")
    return "\n".join(lines)


def _span(runs: StoredRuns, measure: str) -> str:
    """The last values of all seeds, as one number where they round to the same."""
    ends = sorted(f"{curve[-1]:.2f}" for curve in runs.curves(measure))
    return ends[0] if ends[0] == ends[-1] else f"{ends[0]} – {ends[-1]}"


def draw_line(
    axes: Axes,
    x: Sequence[float],
    y: Sequence[float],
    name: str,
    *,
    marks: int = 6,
    first: int = 0,
    **style: object,
) -> Line2D:
    """A line of a figure of runs: about so many markers, from the first one on."""
    markers = (first, max(1, len(x) // marks))
    (line,) = axes.plot(x, y, label=literal(name, longest=None), markevery=markers, **style)
    return line


def draw_seeds(
    axes: Axes, runs: StoredRuns, measure: str, *, name: str = "", place: int = 0
) -> None:
    """One variant: the seeds' median as a line, their range as a band; place chooses the look."""
    curves = np.array(runs.curves(measure))  # (seed, evaluation)
    styles = list(plt.rcParams["axes.prop_cycle"])
    style = styles[place % len(styles)]
    # Markers of different lines stand apart, so that lines that coincide are all visible.
    first = place % max(1, len(runs.steps) // 6)
    draw_line(axes, runs.steps, np.median(curves, axis=0), name, first=first, **style)
    low, high = curves.min(axis=0), curves.max(axis=0)
    axes.fill_between(runs.steps, low, high, color=style["color"], alpha=0.2, linewidth=0)


def label_axes(axes: Axes, y_label: str, *, is_fraction: bool = False) -> None:
    """Names of both axes; the scale begins at 0, and ends at 1 for a fraction."""
    axes.set(xlabel="training step", ylabel=y_label)
    axes.set_ylim(*((-0.04, 1.04) if is_fraction else (0, None)))


def add_head(figure: Figure, title: str, *, legend_of: Axes, columns: int = 2) -> None:
    """The title over all panels, and below them one legend."""
    handles, labels = legend_of.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns)
    title_above(figure, title)
