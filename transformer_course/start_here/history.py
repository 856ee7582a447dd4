"""What attention replaced: three translators, from one vector to a Transformer."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from transformer_course.drawing.style import (
    BLUE,
    GRAY,
    PALE,
    VERMILION,
    literal,
    styled,
    title_above,
)
from transformer_edu.model.refusals import require_whole

READ, WRITTEN, MIDDLE = 0.0, 3.0, 1.5  # the height of the words read, of those written, between
WIDE, HIGH = 0.86, 0.52  # a box
PANELS = (
    "2014 · one vector\nSutskever, Vinyals & Le",
    "2014 · attention added\nBahdanau, Cho & Bengio",
    "2017 · only attention\nVaswani et al.",
)


@styled
def plot_history(source: Sequence[str], target: Sequence[str], *, marked: int) -> Figure:
    """Draw how three translators carry the words that they read to the words that they write.

    Args:
        source: The words that the encoder reads.
        target: The words that the decoder writes.
        marked: Which word of the target is about to be written; its ways are in color.

    Returns:
        A new figure; its label describes it.
    """
    require_whole("marked", marked, minimum=0, maximum=len(target) - 1)
    figure, panels = plt.subplots(1, 3, figsize=(11.4, 4.5))
    for number, (axes, name) in enumerate(zip(panels, PANELS, strict=True)):
        if number < 2:
            _chain(axes, len(source), READ, both_ways=number == 1)
            _chain(axes, len(target), WRITTEN)
        else:
            _all_pairs(axes, len(source), len(target), marked)
        if number == 0:
            _bottleneck(axes, len(source))
            for words, height in (("the encoder reads", -0.75), ("the decoder writes", 3.75)):
                axes.text(-WIDE / 2, height, words, va="center", fontsize=11, style="italic")
        else:
            _cross(axes, len(source), len(target), marked)
        for words, height, strong in ((source, READ, None), (target, WRITTEN, marked)):
            for place, word in enumerate(words):
                _box(axes, place, height, word, is_strong=place == strong)
        longest = max(len(source), len(target))
        axes.set(xlim=(-0.6, longest - 0.4), ylim=(-1.25, 4.25))
        axes.set_axis_off()
        axes.set_title(name, fontsize=12.5)
    title_above(
        figure, f"With attention, every word read is one step away from {literal(target[marked])}"
    )
    figure.set_label(
        "three drawings. First: the words read form a chain that ends in one vector, and the chain "
        "of words written starts from it. Second: there are chains, and the word that is about to "
        "be written has a line to every word read. Third: there is no chain; lines connect every "
        "word read with every other, and the word about to be written with every word read and "
        "with the words written before it"
    )
    return figure


def _box(axes: Axes, x: float, y: float, word: str, *, is_strong: bool) -> None:
    axes.add_patch(
        FancyBboxPatch(
            (x - WIDE / 2, y - HIGH / 2),
            WIDE,
            HIGH,
            boxstyle="round,pad=0,rounding_size=0.1",
            facecolor="white" if is_strong else PALE,
            edgecolor=VERMILION if is_strong else GRAY,
            linewidth=2.4 if is_strong else 1.0,
            zorder=3,
        )
    )
    axes.text(x, y, literal(word), ha="center", va="center_baseline", fontsize=11, zorder=4)


def _chain(axes: Axes, count: int, y: float, *, both_ways: bool = False) -> None:
    """Each state is computed from the one before it, and perhaps from the one after it, too."""
    for place in range(count - 1):
        before, after = place + WIDE / 2, place + 1 - WIDE / 2
        apart = 0.09 if both_ways else 0
        _arrow(axes, (before, y + apart), (after, y + apart), color="black")
        if both_ways:
            _arrow(axes, (after, y - apart), (before, y - apart), color="black")


def _bottleneck(axes: Axes, count: int) -> None:
    """The last state is all that the decoder gets."""
    x = (count - 1) / 2
    axes.add_patch(
        FancyBboxPatch(
            (x - 0.75, MIDDLE - 0.26),
            1.5,
            0.52,
            boxstyle="round,pad=0,rounding_size=0.1",
            facecolor=VERMILION,
            edgecolor=VERMILION,
            zorder=3,
        )
    )
    axes.text(
        x, MIDDLE, "one vector", ha="center", va="center_baseline", color="white", weight="bold",
        fontsize=11, zorder=4,
    )  # fmt: skip
    _arrow(axes, (count - 1, READ + HIGH / 2), (x + 0.6, MIDDLE - 0.3), color=VERMILION)
    _arrow(axes, (x - 0.6, MIDDLE + 0.3), (0, WRITTEN - HIGH / 2), color=VERMILION)


def _cross(axes: Axes, num_read: int, num_written: int, marked: int) -> None:
    """Lines from every word read to every word written, those of one word in color."""
    for written in range(num_written):
        style = {"color": BLUE, "linewidth": 0.8, "alpha": 0.25, "zorder": 1}
        if written == marked:
            style = {"color": VERMILION, "linewidth": 2.2, "zorder": 2}
        for read in range(num_read):
            ends = [read, written], [READ + HIGH / 2, WRITTEN - HIGH / 2]
            axes.plot(*ends, marker="", solid_capstyle="round", **style)


def _all_pairs(axes: Axes, num_read: int, num_written: int, marked: int) -> None:
    """Arcs: among the words read all pairs, among those written each with the ones before it."""
    for count, y, side in ((num_read, READ, -1), (num_written, WRITTEN, 1)):
        for last in range(1, count):
            for first in range(last):
                is_marked = side == 1 and last == marked
                curve = 0.42 if side == -1 else -0.42
                start, end = ((x, y + side * HIGH / 2) for x in (first, last))
                axes.add_patch(
                    FancyArrowPatch(
                        start,
                        end,
                        arrowstyle="-",
                        connectionstyle=f"arc3,rad={curve}",
                        color=VERMILION if is_marked else BLUE,
                        linewidth=2.2 if is_marked else 1.2,
                        alpha=1.0 if is_marked else 0.55,
                        shrinkA=0,
                        shrinkB=0,
                        zorder=1,
                    )
                )


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], color: str) -> None:
    axes.add_patch(
        FancyArrowPatch(
            start,
            end,
            arrowstyle="-|>",
            mutation_scale=11,
            color=color,
            linewidth=2.0 if color == VERMILION else 1.4,
            shrinkA=0,
            shrinkB=0,
            zorder=2,
        )
    )
