"""Clock faces for the pairs of a position's numbers, still and under the hand."""

import math
from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from transformer_course.drawing.style import (
    BLACK,
    BLUE,
    GRAY,
    VERMILION,
    literal,
    styled,
    title_above,
)
from transformer_course.viewer.live import show_live
from transformer_edu.model.refusals import require_whole

FACE = 0.86  # inches that a clock face takes


@styled
def plot_clocks(words: Sequence[str], *, d_model: int) -> Figure:
    """Draw the encoding of a sentence as clock faces: a column for each word, a row for each pair.

    A hand ends at (sine, cosine), so it points up at position 0 and turns clockwise.

    Args:
        words: The sentence; the first is at position 0.
        d_model: Width of the encoding; a face for every two numbers.

    Returns:
        A new figure; its label says how far the hands turn from word to word.
    """
    require_whole("d_model", d_model, minimum=2)
    if d_model % 2:
        raise ValueError(f"d_model must be even, got {d_model}")
    pairs, columns = d_model // 2, len(words)
    frequencies = [10_000 ** (-2 * pair / d_model) for pair in range(pairs)]
    figure, grid = plt.subplots(
        pairs, columns, figsize=(FACE * columns + 1.1, FACE * pairs + 1), squeeze=False
    )
    for pair, frequency in enumerate(frequencies):
        for position in range(columns):
            axes = grid[pair, position]
            _draw_face(axes)
            _draw_hand(axes, position * frequency, BLUE, "o")
        name = f"pair {pair}\nω = {frequency:g}"
        grid[pair, 0].text(-1.5, 0, name, ha="right", va="center", fontsize=11)
    for position, word in enumerate(words):
        grid[0, position].set_title(f"{position}\n{literal(word)}", fontsize=12, loc="center")
    several = "a set of clocks; upper hands turn faster"
    title_above(figure, f"Every position is {several if pairs > 1 else 'a clock'}")
    turns = ", ".join(f"{frequency:g}" for frequency in frequencies)
    figure.set_label(
        f"a column of {pairs} clock faces for each of {columns} words; from word to word their "
        f"hands turn by {turns} radians"
    )
    return figure


@styled
def plot_turning_hands(position: int, shift: int, *, d_model: int) -> Figure:
    """Draw the hands of two positions on each pair's clock face, with the angle between them.

    Args:
        position: The first position, p.
        shift: How much further the second one is, k.
        d_model: Width of the encoding; a face for every two numbers.

    Returns:
        A new figure.
    """
    pairs = d_model // 2
    # Placed by hand: matplotlib's own layout takes longer than the drawing.
    figure = plt.figure(figsize=(2.2 * pairs, 3.2), layout="none")
    for pair in range(pairs):
        frequency = 10_000 ** (-2 * pair / d_model)
        axes = figure.add_axes(((pair + 0.05) / pairs, 0.13, 0.9 / pairs, 0.6))
        _draw_face(axes)
        _draw_hand(axes, position * frequency, BLACK, "o", name=f"position {position}")
        later = position + shift
        _draw_hand(axes, later * frequency, VERMILION, "D", name=f"position {later}")
        axes.set_title(f"pair {pair}", fontsize=12, loc="center")
        axes.text(0, -1.25, f"{shift * frequency:g} radians", ha="center", va="top", fontsize=12)
    handles, names = axes.get_legend_handles_labels()
    figure.legend(handles, names, loc="upper right", ncols=2, fontsize=11)
    title_above(figure, f"{shift} positions further: each hand turns by a fixed angle")
    return figure


def _draw_face(axes: Axes) -> None:
    """A clock face without numbers."""
    axes.add_patch(plt.Circle((0, 0), 1, facecolor="white", edgecolor=GRAY, linewidth=1.2))
    axes.plot([0, 0], [0.88, 1], color=GRAY, linewidth=1.2, marker="")
    axes.set(xlim=(-1.12, 1.12), ylim=(-1.12, 1.12), aspect="equal")
    axes.set_axis_off()


def _draw_hand(axes: Axes, angle: float, color: str, tip: str, *, name: str = "_") -> None:
    """A hand that ends at (sine, cosine) of an angle."""
    end = math.sin(angle), math.cos(angle)
    axes.plot([0, end[0]], [0, end[1]], color=color, linewidth=2, marker="")
    axes.plot(*end, tip, color=color, markersize=5, label=name, clip_on=False)


MOST_NUMBERS = 16  # of a position's encoding, with a clock face for every two


def show_clocks_live(*, d_model: int = 8) -> None:
    """Let the reader move two positions, and see their hands turn and their dot product stay.

    Args:
        d_model: Width of the encoding, even and at most MOST_NUMBERS; a clock face for every two
            numbers.

    Raises:
        ValueError: If d_model is odd, less than 4 or more than MOST_NUMBERS.
    """
    require_whole("d_model", d_model, minimum=4, maximum=MOST_NUMBERS)
    if d_model % 2:
        raise ValueError(f"d_model must be even, got {d_model}")
    position, shift = 5, 4
    faces = d_model // 2
    frequencies = [10_000 ** (-2 * pair / d_model) for pair in range(faces)]
    turns = ", ".join(f"{shift * each:g}" for each in frequencies)
    show_live(
        __file__,
        {"frequencies": frequencies, "p": position, "k": shift, "last": 50, "farthest": 30},
        title="All hands turn with p, but the angles between them stay",
        still=plot_turning_hands(position, shift, d_model=d_model),
        alt=f"clock faces of positions {position} and {position + shift}: the hands differ by "
        f"{turns} radians, wherever they start",
        height=420 + 190 * -(-faces // 4),  # a row of four faces; of two on a phone
        phone_height=498 + 176 * -(-faces // 2),
    )
