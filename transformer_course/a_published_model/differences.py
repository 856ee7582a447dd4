"""Bars of differences on a logarithmic axis."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from transformer_course.drawing.style import BLUE, GREEN, PALE, literal, styled


@styled
def plot_differences(
    differences: Mapping[str, float],
    *,
    words: Mapping[str, str],
    equal: float,
    x_label: str,
    title: str,
) -> Figure:
    """Draw horizontal bars on a logarithmic scale, each with words at its end.

    Args:
        differences: By name, at least 0; drawn as a thousandth of equal at the least.
        words: What is written at the end of each bar, by the same names.
        equal: Below it, two numbers count as equal: a pale band.
        x_label: What a difference is, with its unit.
        title: What the reader should see, as a sentence.

    Returns:
        A new figure, labeled with its words.
    """
    figure, axes = plt.subplots(figsize=(8, 1.2 + 0.34 * len(differences)))
    names = list(differences)
    values = [max(value, equal / 1000) for value in differences.values()]
    colors = [BLUE if value > equal else GREEN for value in values]
    bars = axes.barh(range(len(names)), values, 0.7, color=colors)
    for label in axes.bar_label(bars, labels=[literal(words[name]) for name in names], padding=4):
        label.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 1.5})
    start = min(equal, *values) / 30
    axes.set_xscale("log")
    axes.set_xlim(start, 300 * max(values))  # room for the words
    axes.axvspan(start, equal, color=PALE, zorder=0, label=f"equal: below {equal:g}")
    axes.legend(loc="upper right")
    axes.set_yticks(range(len(names)), [literal(name, longest=None) for name in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_title(title)
    axes.set_xlabel(x_label)
    said = ", ".join(f"{name} ({words[name]})" for name in names)
    figure.set_label(f"{title}. From top to bottom: {said}")
    return figure
