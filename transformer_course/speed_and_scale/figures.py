"""The figures of lesson 18: operations of a step, of two sub-layers, and the memory of training."""

from collections.abc import Mapping, Sequence
from math import isclose

from matplotlib.figure import Figure

from transformer_course.drawing.charts import plot_lines, require_entries
from transformer_course.speed_and_scale.stacked_bars import plot_stacked_bars


def plot_steps(counts: Mapping[str, Sequence[float]]) -> Figure:
    """Draw the operations of every step of writing; the title compares those of the last one.

    Args:
        counts: Million operations of each step, by "without cache" and "with cache".
    """
    require_entries("counts", counts, ["without cache", "with cache"])
    tokens = len(counts["with cache"])
    ratio = counts["without cache"][-1] / counts["with cache"][-1]
    times = f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}".removesuffix(".0")
    title = f"Without the cache, token {tokens} needs {times} times the operations"
    labels = {"x_label": "token", "y_label": "million operations", "title": title}
    figure = plot_lines(counts, x=range(1, tokens + 1), **labels)
    figure.set_label(f"{title}; two lines")
    return figure


def equal_length(counts: Mapping[str, Sequence[float]], lengths: Sequence[int]) -> int | None:
    """The first length at which self-attention needs as many operations as the other sub-layer.

    Args:
        counts: Operations for each length, by "self-attention" and "feed-forward".
        lengths: In ascending order.

    Returns:
        None if none of them is long enough.
    """
    require_entries("counts", counts, ["self-attention", "feed-forward"])
    pairs = zip(lengths, counts["self-attention"], counts["feed-forward"], strict=True)
    return next((length for length, attention, other in pairs if attention >= other), None)


def plot_crossing(counts: Mapping[str, Sequence[float]], lengths: Sequence[int]) -> Figure:
    """Draw the operations of two sub-layers for one position; the title compares them.

    Args:
        counts: Million operations for each length, by "self-attention" and "feed-forward".
        lengths: As for equal_length.
    """
    crossing = equal_length(counts, lengths)
    title = f"Not equal up to L = {lengths[-1]}"
    if crossing is not None:
        place = list(lengths).index(crossing)
        equal = isclose(counts["self-attention"][place], counts["feed-forward"][place])
        more = f"from L = {crossing} on" if place else f"at L = {crossing} already"
        title = f"Equal at L = {crossing}" if equal else f"Attention needs more {more}"
    labels = {"x_label": "length L", "y_label": "million operations per position"}
    figure = plot_lines(counts, x=lengths, title=title, **labels)
    said = title.replace("L = ", "").lower()
    figure.set_label(f"Million operations per position: {counts}; {said}")
    return figure


def plot_memory(memory: Mapping[str, Mapping[str, float]]) -> Figure:
    """Draw the memory of training by its parts; the title tells the activations' fraction.

    Args:
        memory: By batch, the megabytes of each part; the title is about the largest one.
    """
    batch, parts = max(reversed(memory.items()), key=lambda each: sum(each[1].values()))
    activations = sum(size for part, size in parts.items() if part.startswith("activations"))
    fraction = activations / sum(parts.values())
    title = f"{batch}: activations take {fraction:.0%} of the memory"
    return plot_stacked_bars(memory, x_label="megabytes", title=title)
