"""Units of a feed-forward network: where one is active in a text, and what several add up to."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from transformer_course.drawing.style import (
    BLACK,
    BLUE,
    GRAY,
    VERMILION,
    literal,
    styled,
    title_above,
)
from transformer_course.feed_forward_add_and_norm.feed_forward_units import COLORS

LINE, GAP, LETTER = 0.52, 0.14, 0.115  # inches: a line of text, between words, one letter
ACTIVATION = "activation of the unit"
DARK = 0.55  # from this strength on, words are white


@styled
def plot_active_words(sentences: Sequence[tuple[Sequence[str], Tensor]]) -> Figure:
    """Draw sentences with every word on a background as dark as one number of it is large.

    The figure's label names the words with the largest numbers.

    Args:
        sentences: The words of each, and one number of at least 0 for each word.

    Returns:
        A new figure with a color bar from 0 to the largest number.
    """
    largest = max(float(numbers.max()) for _, numbers in sentences) or 1.0
    widths = [sum(LETTER * len(word) + 2 * GAP for word in words) for words, _ in sentences]
    size = (max(widths) + 1.4, LINE * len(sentences) + 0.9)
    figure, axes = plt.subplots(figsize=size)
    axes.set(xlim=(0, max(widths)), ylim=(LINE * len(sentences), 0))
    axes.set_axis_off()
    colors = plt.get_cmap("Blues")
    for row, (words, numbers) in enumerate(sentences):
        left = 0.0
        for word, number in zip(words, numbers.tolist(), strict=True):
            width = LETTER * len(word) + GAP
            strength = number / largest
            box = plt.Rectangle(
                (left, (row + 0.1) * LINE), width, 0.8 * LINE, color=colors(0.85 * strength)
            )
            axes.add_patch(box)
            axes.text(
                left + width / 2,
                (row + 0.5) * LINE,
                literal(word),
                ha="center",
                va="center",
                color="white" if strength > DARK else BLACK,
            )
            left += width + GAP
    scale = plt.cm.ScalarMappable(plt.Normalize(0, largest / 0.85), colors)
    bar = figure.colorbar(scale, ax=axes, label=ACTIVATION, fraction=0.04)
    bar.ax.set_ylim(0, largest)
    active = [
        word
        for words, numbers in sentences
        for word, number in zip(words, numbers.tolist(), strict=True)
        if number > largest / 2
    ]
    colors = sum(word in COLORS for word in active)
    where = "is large at colors" if 2 * colors > len(active) else "at each word"
    title_above(figure, f"One number of the translator {where}")
    darkest = ", ".join(active) or "none"
    figure.set_label(f"{len(sentences)} sentences; the darkest words are {darkest}")
    return figure


@styled
def plot_unit_sums(x: Tensor, wanted: Tensor, sums: Mapping[str, tuple[Tensor, Tensor]]) -> Figure:
    """Draw what single units contribute and what they add up to, one panel for each network.

    Title and label say how far each network is from the wanted curve.

    Args:
        x: The inputs, shape (point,).
        wanted: The curve to follow, shape (point,).
        sums: By the network's name: what each unit adds, shape (point, unit), and the output,
            shape (point,).

    Returns:
        A new figure.
    """
    if not sums:
        raise ValueError("sums must hold at least one network, got none")
    figure, (row,) = plt.subplots(1, len(sums), figsize=(9.5, 3.5), sharey=True, squeeze=False)
    errors = {name: float((y - wanted).abs().max()) for name, (_, y) in sums.items()}
    for axes, (name, (units, y)) in zip(row, sums.items(), strict=True):
        _draw_sum(axes, x, wanted, units, y)
        axes.set_title(f"{literal(name)}: error up to {errors[name]:.1f}", fontsize=13)
        axes.set_xlabel("input")
    row[0].set(ylabel="output", ylim=(-3.4, 3.4))
    row[-1].legend(fontsize=11, loc="upper left")
    best = f"{min(errors.values()):.1f}"
    closest = [literal(name) for name, error in errors.items() if f"{error:.1f}" == best]
    title = f"{' and '.join(closest)} come closest"
    if len(closest) == len(errors):
        title = f"Largest error of each: {best}"
    title_above(figure, title)
    said = ", ".join(f"{name} {error:.1f}" for name, error in errors.items())
    figure.set_label(
        f"one panel for each network: gray lines for what single units add, a blue line for the "
        f"output, dashed the wanted curve. Largest errors: {said}"
    )
    return figure


def _draw_sum(axes: Axes, x: Tensor, wanted: Tensor, units: Tensor, y: Tensor) -> None:
    for number, unit in enumerate(units.T):
        name = "what one unit adds" if number == 0 else None
        axes.plot(x, unit, color=GRAY, marker="", linewidth=1.2, label=name, linestyle=":")
    axes.plot(x, wanted, color=VERMILION, marker="", linestyle="--", label="wanted")
    axes.plot(x, y, color=BLUE, marker="", linewidth=2.5, linestyle="-", label="output")
