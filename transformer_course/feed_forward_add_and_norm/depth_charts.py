"""What depth does to the stream, to gradients on their way back, and to the first steps."""

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
def plot_gradient_path(without: Sequence[float], with_residual: Sequence[float]) -> Figure:
    """Draw how long the gradient is before each layer of two stacks, relative to the output.

    Title and label say what reaches the input.

    Args:
        without: The gradient's length at the input of every layer and, last, at the output of the
            stack, where layers replace their input.
        with_residual: The same where layers add to their input.

    Returns:
        A new figure with a logarithmic scale.
    """
    figure, axes = plt.subplots(figsize=(7.5, 3.8))
    stacks = {"without residual": without, "with residual": with_residual}
    shares = {name: [each / values[-1] for each in values] for name, values in stacks.items()}
    _draw(axes, shares, range(len(without)))
    axes.set_yscale("log")
    axes.set(xlabel="after layer (0: the input)", ylabel="gradient length (output: 1)")
    said = ", ".join(f"{_rough(values[0])} {name}" for name, values in shares.items())
    axes.set_title(f"Gradient at the input: {said}")
    figure.set_label(f"the gradient is 1 at the output of the stack; at its input: {said}")
    return figure


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


@styled
def plot_first_gradients(lengths: Lines) -> Figure:
    """Draw how long a layer's gradient is in the first steps of several trainings.

    The title names the training whose gradient ends shortest, if it lost more than nine tenths.

    Args:
        lengths: For each training, the gradient's length at every step.

    Returns:
        A new figure with a logarithmic scale.
    """
    figure, axes = plt.subplots(figsize=(7.5, 3.8))
    steps = len(next(iter(lengths.values())))
    _draw(axes, lengths, range(1, steps + 1))
    axes.set(yscale="log", xlabel="training step", ylabel="length of the gradient")
    least = min(lengths, key=lambda name: lengths[name][-1])
    is_lost = lengths[least][-1] < 0.1 * lengths[least][0]
    said = f"{least} loses its gradient" if is_lost else "no training loses its gradient"
    axes.set_title(literal(said[0].upper() + said[1:], longest=None))
    ends = ", ".join(f"{name} {_rough(values[-1])}" for name, values in lengths.items())
    figure.set_label(f"{said}. Length of the gradient after {steps} steps: {ends}")
    return figure


def _draw(axes: Axes, lines: Lines, x: Sequence[float]) -> None:
    for name, y in lines.items():
        axes.plot(x, y, label=literal(name, longest=None), markevery=max(1, len(y) // 12))
    axes.legend()


def _rough(number: float) -> str:
    return f"{number:.1f}" if number >= 0.01 else f"{number:.0e}"
