"""What depth does: to gradients on their way back, to the stream, and to the first step."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from transformer_edu.teaching.style import literal, styled

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
    axes.set(xlabel="after layer (0: the input)", ylabel="length of the gradient")
    said = ", ".join(f"{_rough(values[0])} {name}" for name, values in shares.items())
    axes.set_title(f"Gradient at the input: {said}")
    figure.set_label(f"the gradient is 1 at the output of the stack; at its input: {said}")
    return figure


@styled
def plot_stream_size(sizes: Lines) -> Figure:
    """Draw how large the vectors of the stream are after each layer.

    The title names the stack whose stream grows most, and by how much.

    Args:
        sizes: For each stack, the mean standard deviation of the vectors after every layer.

    Returns:
        A new figure.
    """
    figure, axes = plt.subplots(figsize=(7.5, 3.4))
    _draw(axes, sizes, range(1, len(next(iter(sizes.values()))) + 1))
    axes.set(xlabel="after encoder layer", ylabel="standard deviation", ylim=(0, None))
    most = max(sizes, key=lambda name: sizes[name][-1])
    axes.set_title(f"The stream grows from layer to layer in {literal(most)}")
    said = ", ".join(f"{name} {values[-1]:.1f}" for name, values in sizes.items())
    figure.set_label(f"standard deviation of the vectors after the last layer: {said}")
    return figure


@styled
def plot_first_steps(changes: Lines, *, rates: Sequence[float]) -> Figure:
    """Draw how far one step of the optimizer changes a model's output, by learning rate.

    The title names the model whose output changes more.

    Args:
        changes: For each model, the relative change of its output at each rate.
        rates: The learning rates.

    Returns:
        A new figure with logarithmic scales.
    """
    figure, axes = plt.subplots(figsize=(7.5, 3.8))
    _draw(axes, changes, rates)
    axes.set(xscale="log", yscale="log", xlabel="learning rate", ylabel="change of the output")
    axes.set_xticks(list(rates), [f"{rate:g}" for rate in rates])
    axes.set_yticks([0.01, 0.1, 1], ["1%", "10%", "100%"])
    axes.minorticks_off()
    most = max(changes, key=lambda name: sum(changes[name]))
    axes.set_title(f"One step changes the output of {literal(most)} more")
    ends = "; ".join(
        f"{name} from {values[0]:.0%} to {values[-1]:.0%}" for name, values in changes.items()
    )
    figure.set_label(f"change of the output by learning rate, smallest to largest: {ends}")
    return figure


def _draw(axes: Axes, lines: Lines, x: Sequence[float]) -> None:
    for name, y in lines.items():
        axes.plot(x, y, label=literal(name, longest=None), markevery=max(1, len(y) // 12))
    axes.legend()


def _rough(number: float) -> str:
    return f"{number:.1f}" if number >= 0.01 else f"{number:.0e}"
