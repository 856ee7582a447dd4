"""What depth does to the vectors of the stream."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from transformer_course.drawing.style import (
    literal,
    styled,
)

Lines = Mapping[str, Sequence[float]]


@styled
def plot_stream(lengths: Lines, *, word: str) -> Figure:
    """Draw how long a word's vector on the residual stream is after each sub-layer.

    Args:
        lengths: For each stack, the length at the input and after every sub-layer.
        word: Whose vector it is.

    Returns:
        A new figure; its title names the stack with the longest vector at the end.
    """
    figure, axes = plt.subplots(figsize=(7.5, 3.4))
    _draw(axes, lengths, range(len(next(iter(lengths.values())))))
    axes.set(xlabel="after sub-layer (0: the input)", ylabel="length", ylim=(0, None))
    most = max(lengths, key=lambda name: lengths[name][-1])
    axes.set_title(f"{literal(word)} is longest in: {literal(most, longest=None)}")
    stacks = "; ".join(lengths)
    figure.set_label(
        f"how long the vector of {word} is after each sub-layer, one line for each of: {stacks}. "
        f"At the end it is longest in: {most}"
    )
    return figure


def _draw(axes: Axes, lines: Lines, x: Sequence[float]) -> None:
    for name, y in lines.items():
        axes.plot(x, y, label=literal(name, longest=None), markevery=max(1, len(y) // 12))
    axes.legend()
