"""Losses of training runs, each with the floor that it cannot get below.

Used in notebooks/10_training.ipynb.
"""

import math
from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from transformer_edu.teaching.style import literal, new_axes, styled

BLOCK = 10  # steps whose mean is one point: single batches are easier or harder by chance


@styled
def plot_floors(
    losses: Mapping[str, Sequence[float]],
    floors: Mapping[str, float],
    *,
    title: str,
    axes: Axes | None = None,
) -> Figure:
    """Draw the loss of every step in blocks of ten, and floors as dashed lines of their colour.

    Args:
        losses: Each run's losses, one for each step, by name.
        floors: The lowest value possible of some of them, by the same names.
        title: What the reader should see, as a sentence.
        axes: Where to draw; a new figure when None.

    Returns:
        The figure drawn on.

    Raises:
        ValueError: If there are no losses, a run is shorter than a block, or a floor has no run
            or is not finite.
    """
    if not losses:
        raise ValueError("losses must hold at least one run, got none")
    for name, floor in floors.items():
        if name not in losses or not math.isfinite(floor):
            raise ValueError(f"floors must be finite and of a run drawn, got {name!r}: {floor}")
    axes = new_axes(axes, 7, 3.6)
    for name, each in losses.items():
        if len(each) < BLOCK:
            raise ValueError(f"run {name!r} must have at least {BLOCK} steps, got {len(each)}")
        ends = range(BLOCK, len(each) + 1, BLOCK)
        means = [sum(each[end - BLOCK : end]) / BLOCK for end in ends]
        label = literal(name, longest=None)
        (line,) = axes.plot(ends, means, label=label, markevery=max(1, len(means) // 6))
        if name in floors:
            _draw_floor(axes, floors[name], line.get_color())
    axes.set_ylim(bottom=0)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=len(losses))
    axes.set(xlabel="training step", ylabel="loss (nats per token)")
    axes.set_title(title)
    return axes.figure


def _draw_floor(axes: Axes, floor: float, colour: str) -> None:
    """A dashed line over the whole width, its value to the right of it."""
    axes.axhline(floor, linestyle="--", linewidth=1.5, color=colour, marker="")
    axes.annotate(
        f"floor {floor:.2f}",
        (1, floor),
        xytext=(4, 0),
        va="center",
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        fontsize=12,
        color=colour,
    )
