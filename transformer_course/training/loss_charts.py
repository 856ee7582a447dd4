"""Curves of training: all seeds of stored runs, one run's losses, learning rates."""

from collections.abc import Callable, Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from transformer_course.curves.run_figures import (
    LABELS,
    add_head,
    draw_line,
    draw_seeds,
    label_axes,
)
from transformer_course.curves.stored_runs import StoredRuns
from transformer_course.drawing.style import BLUE, VERMILION, literal, styled

Rate = Callable[[int, int, int], float]  # of step, d_model and warm-up steps
LEGEND_LETTERS = 66  # of all names together, if the legend is to be one line


@styled
def plot_runs(
    variants: Sequence[StoredRuns],
    *,
    title: str,
    names: Sequence[str] | None = None,
) -> Figure:
    """Draw the loss and the exact match of several variants while they train.

    A line is the median of the seeds, the band around it reaches from the worst to the best.

    Args:
        variants: At most five; the lines' colors and markers follow their order.
        title: What the reader should see, as a sentence.
        names: What the variants are called in the legend; their own names when None.

    Returns:
        A new figure with one legend.
    """
    names = [each.variant for each in variants] if names is None else names
    columns = len(names) if sum(map(len, names)) < LEGEND_LETTERS else 2
    size = (8.4, 2.9 + 0.28 * -(-len(names) // columns))
    figure, panels = plt.subplots(1, 2, figsize=size)
    for axes, measure in zip(panels, ("loss", "exact_match"), strict=True):
        for place, (each, name) in enumerate(zip(variants, names, strict=True)):
            draw_seeds(axes, each, measure, name=name, place=place)
        label_axes(axes, LABELS[measure], is_fraction=measure != "loss")
    add_head(figure, title, legend_of=panels[0], columns=columns)
    return figure


@styled
def plot_losses(
    losses: Mapping[int, float], levels: Mapping[str, float], *, steps: int, title: str
) -> Figure:
    """Draw the losses so far, and levels to compare it with.

    Args:
        losses: By step, counted from 1.
        levels: Losses by name, such as a floor; each is a dashed line over the whole width.
        steps: How far the axis reaches, so that a growing curve keeps its place.
        title: What the reader should see, as a sentence.

    Returns:
        A new figure; its label says in words what it shows.
    """
    figure, axes = plt.subplots(figsize=(7, 3.4))
    axes.plot([*losses], [*losses.values()], color=BLUE, marker="", linewidth=1.5)
    for name, level in levels.items():
        axes.axhline(level, linestyle="--", linewidth=1.5, color=VERMILION, marker="")
        axes.annotate(
            literal(f"{name} = {level:.2f}", longest=None),
            (1, level),
            xytext=(4, 0),
            va="center",
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            fontsize=12,
            color=VERMILION,
        )
    label_axes(axes, LABELS["loss"])
    axes.set_xlim(0, steps)
    axes.set_title(title)
    compared = "".join(f"; {name} is {level:.2f}" for name, level in levels.items())
    figure.set_label(f"{title}. The loss of {len(losses)} of {steps} steps{compared}")
    return figure


STEPS, POINTS = 20_000, 400  # of every schedule; more points cannot be told apart


@styled
def plot_schedules(rate: Rate, choices: Sequence[tuple[int, int]]) -> Figure:
    """Draw equation 3 for several models, each peak marked with its rate.

    Args:
        rate: Of step, d_model and warmup_steps.
        choices: The d_model and warmup_steps of each curve; 20,000 steps are drawn.

    Returns:
        A new figure.

    Raises:
        ValueError: If there are no warm-up steps.
    """
    for _, warmup_steps in choices:
        if warmup_steps < 1:
            raise ValueError(f"the warm-up must have at least 1 step, got {warmup_steps}")
    figure, axes = plt.subplots(figsize=(7, 3.4))
    highest = 0.0
    for number, (d_model, warmup_steps) in enumerate(choices):
        x = sorted({*range(1, STEPS + 1, STEPS // POINTS), warmup_steps, STEPS})
        rates = [float(rate(step, d_model, warmup_steps)) for step in x]
        highest = max(highest, *rates)
        name = f"d_model {d_model:,}, warm-up {warmup_steps:,}"
        # Curves of one width coincide: their markers stand apart, so that both are visible.
        first = number * len(x) // (8 * len(choices))
        line = draw_line(axes, x, rates, name, marks=8, first=first)
        peak = rates[x.index(warmup_steps)]
        offset = {"xytext": (4, 4), "textcoords": "offset points"}
        axes.annotate(f"{peak:.2g}", (warmup_steps, peak), color=line.get_color(), **offset)
    axes.set(xlim=(0, STEPS), ylim=(0, 1.1 * highest), xlabel="step", ylabel="learning rate")
    axes.legend()
    peaks = [(rate(1, d, w), rate(w, d, w), rate(4 * w, d, w)) for d, w in choices]
    is_paper_s = all(first < top and abs(late / top - 0.5) < 0.01 for first, top, late in peaks)
    is_seen = all(w < STEPS for _, w in choices)
    rises = "The rate rises until the warm-up ends, then falls as 1/√step"
    axes.set_title(rises if is_paper_s and is_seen else "The rate at every step")
    return figure
