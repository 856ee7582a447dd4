"""Lines and bars. Every function returns its figure."""

from collections.abc import Collection, Iterable, Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import AutoLocator

from transformer_course.drawing.style import BLUE, GREEN, PURPLE, VERMILION, literal, styled

GROUP_COLORS = (BLUE, VERMILION, GREEN, PURPLE)


def require_entries(name: str, entries: Collection[str], needed: Collection[str]) -> None:
    """Refuse a dictionary without the entries that a figure's title compares, in one sentence."""
    if set(needed) - set(entries):
        wanted, there = (", ".join(map(repr, names)) for names in (needed, entries))
        raise ValueError(f"{name} must have the entries {wanted}, got {there or 'none'}")


def names_of_largest(values: Mapping[str, float], *, quote: bool = False) -> str:
    """The name of the largest value, of the two that are largest, or how many of all are.

    Args:
        values: One or more numbers by name.
        quote: Whether names stand in quotes.
    """
    largest = max(values.values())
    names = [repr(name) if quote else name for name, each in values.items() if each == largest]
    return " and ".join(names) if len(names) < 3 else f"{len(names)} of {len(values)}"


@styled
def plot_lines(
    lines: Mapping[str, Sequence[float]],
    *,
    x: Sequence[float],
    x_label: str,
    y_label: str,
    title: str,
    top: float | None = None,
    dashed: Collection[str] = (),
) -> Figure:
    """Draw one line per name over common x values, each with its own color and marker.

    Args:
        lines: The y values by name; as many as there are x values.
        x: Where they belong; whole numbers get whole ticks.
        x_label: What x is, with its unit.
        y_label: What y is, with its unit.
        title: What the reader should see, as a sentence.
        top: The end of the y scale, which then begins at 0; chosen by the lines when None.
        dashed: Names whose lines are dashed, in the color of the line before: the same model.

    Returns:
        A new figure.
    """
    figure, axes = plt.subplots(figsize=(7, 3.6))
    for name, y in lines.items():
        if len(y) != len(x):
            raise ValueError(f"the line {name!r} must have {len(x)} values, got {len(y)}")
        style = {"markevery": max(1, len(x) // 12)}
        if name in dashed:
            style = {"color": axes.lines[-1].get_color(), "linestyle": "--", "marker": ""}
        axes.plot(x, y, label=literal(name, longest=None), **style)
    if all(isinstance(value, int) for value in x):
        axes.xaxis.set_major_locator(AutoLocator())
        axes.xaxis.get_major_locator().set_params(integer=True)
    if top is not None:
        axes.set_ylim(0, top * 1.05)
    if len(lines) > 1:
        axes.legend()
    axes.set_title(title)
    axes.set(xlabel=x_label, ylabel=y_label)
    return figure


@styled
def plot_bars(
    values: Mapping[str, float],
    *,
    y_label: str,
    title: str,
    number: str = "{:.2f}",
    top: float | None = None,
) -> Figure:
    """Draw one bar per name with its number on it.

    Args:
        values: Heights by name.
        y_label: What a height is, with its unit.
        title: What the reader should see, as a sentence.
        number: How a height is written on its bar.
        top: The end of the scale; chosen by the largest bar when None.

    Returns:
        A new figure.
    """
    figure, axes = plt.subplots(figsize=(min(2.5 + 1.3 * len(values), 8), 3.4))
    names = [literal(name, longest=None) for name in values]
    bars = axes.bar(names, list(values.values()), color=BLUE)
    axes.bar_label(bars, labels=[number.format(value) for value in values.values()], padding=2)
    axes.margins(y=0.1)  # room for the number on the largest bar
    if top is not None:
        axes.set_ylim(0, top * 1.08)
    axes.set_title(title)
    axes.set_ylabel(y_label)
    return figure


@styled
def plot_grouped_bars(
    groups: Mapping[str, Mapping[str, float]], *, x_label: str, title: str
) -> Figure:
    """Draw horizontal bars in groups: in every group a bar for each name, with its number.

    Args:
        groups: By the group's name, values by name; the same names in every group, at most four.
        x_label: What a value is, with its unit.
        title: What the reader should see, as a sentence.

    Returns:
        A new figure.
    """
    names = list(next(iter(groups.values())))
    if len(names) > len(GROUP_COLORS):
        raise ValueError(f"a group can have {len(GROUP_COLORS)} bars, got {', '.join(names)}")
    for name, group in groups.items():
        require_entries(f"the group {name!r}", group, names)
    figure, axes = plt.subplots(figsize=(8, 0.9 + 0.32 * (len(names) + 0.8) * len(groups)))
    height = 0.8 / len(names)
    for order, (name, color) in enumerate(zip(names, GROUP_COLORS[: len(names)], strict=True)):
        places = [group + (order - (len(names) - 1) / 2) * height for group in range(len(groups))]
        values = [group[name] for group in groups.values()]
        axes.barh(places, values, 0.9 * height, color=color, label=literal(name))
        for place, value in zip(places, values, strict=True):  # a negative one: right of the axis
            end, shift = (max(value, 0.0), place), {"xytext": (3, 0), "textcoords": "offset points"}
            axes.annotate(f"{value:z.2f}", end, va="center", **shift)
    name_rows(axes, groups, x_label, title)
    return figure


def name_rows(axes: Axes, names: Iterable[str], x_label: str, title: str) -> None:
    """Names of horizontal bars from top to bottom, room for their numbers, the legend outside."""
    labels = [literal(name, longest=None) for name in names]
    axes.set_yticks(range(len(labels)), labels)
    axes.invert_yaxis()
    axes.margins(x=0.1)
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    axes.set_title(title)
    axes.set_xlabel(x_label)
