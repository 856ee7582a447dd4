"""Bars that are stacked from their parts."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from transformer_course.drawing.charts import name_rows
from transformer_course.drawing.style import BLUE, PURPLE, VERMILION, literal, styled

PART_COLORS = ("#004A73", BLUE, "#6DB6DC", VERMILION, PURPLE)


@styled
def plot_stacked_bars(
    bars: Mapping[str, Mapping[str, float]], *, x_label: str, title: str
) -> Figure:
    """Draw one horizontal bar per name, made of parts, with its sum at the end.

    Args:
        bars: By the bar's name, sizes by the part's name; the same parts in every bar, at most
            five. The first three are drawn in shades of one color.
        x_label: What a size is, with its unit.
        title: What the reader should see, as a sentence.

    Returns:
        A new figure, whose label says the sizes in words.
    """
    figure, axes = plt.subplots(figsize=(8, 1.3 + 0.5 * len(bars)))
    ends = [0.0] * len(bars)
    for part, color in zip(next(iter(bars.values())), PART_COLORS, strict=False):
        sizes = [bar[part] for bar in bars.values()]
        style = {"color": color, "edgecolor": "white", "linewidth": 0.8, "label": literal(part)}
        last = axes.barh(range(len(bars)), sizes, 0.62, left=ends, **style)
        ends = [end + size for end, size in zip(ends, sizes, strict=True)]
    axes.bar_label(last, labels=[f"{end:.0f}" for end in ends], padding=4)
    name_rows(axes, bars, x_label, title)
    words = [
        f"{name}: " + ", ".join(f"{part} {size:.0f}" for part, size in bar.items())
        for name, bar in bars.items()
    ]
    figure.set_label(f"{title}. {x_label}: {'; '.join(words)}")
    return figure
