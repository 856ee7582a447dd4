"""What happens from layer to layer: one word in several sentences, grids of layers and words."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.ticker import PercentFormatter
from torch import Tensor

from transformer_course.drawing.grid import as_array, hatch, number_cells
from transformer_course.drawing.style import (
    BLACK,
    BLUE,
    GREEN,
    PALE,
    VERMILION,
    WEIGHT_COLORS,
    literal,
    require_one_each,
    styled,
    title_above,
)

KIND_STYLES = ((BLUE, "o"), (VERMILION, "s"), (GREEN, "^"))
LABEL_SIZE, POINT_SIZE, PANEL_TITLE = 11, 9, 13
BEFORE = "before layer 1"
SAME = 1e-5  # vectors that differ less are one point


@styled
def plot_one_word(
    vectors: Tensor, *, word: str, labels: Sequence[str], kinds: Sequence[str]
) -> Figure:
    """Draw one word's vectors as points: before the first layer, after it, and after the last.

    A point is a vector minus their mean, divided by their mean norm. All panels share one
    projection and one scale. The title and the label say whether the kinds stand side by side.

    Args:
        vectors: Before the first layer and after each, shape (layer, sentence, d_model).
        word: Whose vectors they are.
        labels: What is different in each sentence.
        kinds: Which sentences belong together: at most three different names.

    Returns:
        A new figure of three panels.
    """
    require_one_each(vectors.size(1), "sentences", labels=labels, kinds=kinds)
    names = list(dict.fromkeys(kinds))
    if len(kinds) < 2 or len(names) > len(KIND_STYLES):
        wanted = f"at least two sentences of at most {len(KIND_STYLES)} kinds"
        raise ValueError(f"kinds must be of {wanted}, got {', '.join(kinds)}")
    layers = len(vectors) - 1
    shown = vectors[[0, 1, layers]].float().cpu()
    points = _project(
        (shown - shown.mean(1, keepdim=True)) / shown.norm(dim=-1).mean(1)[:, None, None]
    )
    figure, grid = plt.subplots(1, 3, figsize=(10, 4), sharex=True, sharey=True)
    panels = (BEFORE, "after layer 1", f"after layer {layers}, the last")
    gap = 0.1 * float(points[..., 1].max() - points[..., 1].min())
    for axes, name, panel in zip(grid, panels, points, strict=True):
        _draw_points(axes, panel, labels, kinds)
        if panel.std(dim=0).max() > SAME:
            _label_points(axes, panel, labels, kinds, gap=gap)
        axes.set_title(name, fontsize=PANEL_TITLE)
        axes.set(xticks=[], yticks=[])
        axes.spines[:].set(visible=True, color=PALE)
        axes.margins(x=0.75, y=0.15)
    handles, _ = grid[-1].get_legend_handles_labels()
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    different = torch.cdist(points[0], points[0]) > SAME
    count = sum(bool(row[:number].all()) for number, row in enumerate(different))
    together = "one point" if vectors[0].std(dim=0).max() < SAME else f"{count} points"
    found = "apart" if _are_apart(points[-1], kinds) else "mixed"
    found = f"{' and '.join(names)} are {found}"
    if len(names) == 1:
        count = len(labels) if points[-1].std(dim=0).max() > SAME else 1
        found = f"{names[0]}: {count} point{'s' * (count > 1)}"
    title_above(figure, f"{literal(word)}: {together} {BEFORE}; at the end, {literal(found)}")
    figure.set_label(
        f"the vectors of {word} in {len(labels)} sentences as points. {BEFORE}: {together}. After "
        f"the last layer, {found}"
    )
    return figure


def _project(points: Tensor) -> Tensor:
    """Onto the plane in which they differ most, (panel, point, 2); the first point at the left."""
    _, _, axes = torch.linalg.svd(points.flatten(0, 1), full_matrices=False)
    plane = points @ axes[:2].T
    return plane * torch.where(plane[-1, 0] > 0, -1.0, 1.0)


def _are_apart(points: Tensor, kinds: Sequence[str]) -> bool:
    """Whether each kind has a part of the width to itself."""
    places = [points[[each == kind for each in kinds], 0] for kind in dict.fromkeys(kinds)]
    places.sort(key=lambda place: float(place.mean()))
    return all(left.max() < right.min() for left, right in pairwise(places))


def _draw_points(axes: Axes, points: Tensor, labels: Sequence[str], kinds: Sequence[str]) -> None:
    """One panel: a color and a marker for each kind; one black point where all are the same."""
    if points.std(dim=0).max() <= SAME:
        axes.plot(*points[0].tolist(), "o", color=BLACK, markersize=POINT_SIZE)
        below = {"xytext": (0, -9), "textcoords": "offset points", "ha": "center", "va": "top"}
        axes.annotate(f"all {len(labels)}", points[0].tolist(), **below, fontsize=LABEL_SIZE)
        return
    styles = dict(zip(dict.fromkeys(kinds), KIND_STYLES, strict=False))
    for kind, (color, marker) in styles.items():
        x, y = points[[each == kind for each in kinds]].T.tolist()
        axes.plot(x, y, marker, color=color, label=literal(kind), markersize=POINT_SIZE)


def _label_points(
    axes: Axes, points: Tensor, labels: Sequence[str], kinds: Sequence[str], *, gap: float
) -> None:
    """Write the labels in one column for each kind, beside its points, at least a gap apart."""
    styles = dict(zip(dict.fromkeys(kinds), KIND_STYLES, strict=False))
    middle = points[:, 0].mean()
    for kind, (color, _) in styles.items():
        own = sorted(
            (y, x, label)
            for (x, y), label, each in zip(points.tolist(), labels, kinds, strict=True)
            if each == kind
        )
        left = sum(x for _, x, _ in own) / len(own) < middle
        column = (min if left else max)(x for _, x, _ in own) + (-gap if left else gap)
        heights = [own[0][0]]
        for y, _, _ in own[1:]:
            heights.append(max(y, heights[-1] + gap))
        lift = sum(y for y, _, _ in own) / len(own) - sum(heights) / len(heights)
        for (y, x, label), height in zip(own, heights, strict=True):
            axes.annotate(
                literal(label),
                (x, y),
                (column, height + lift),
                ha="right" if left else "left",
                va="center",
                fontsize=LABEL_SIZE,
                color=color,
                zorder=1,  # below the points
                arrowprops={"arrowstyle": "-", "color": PALE, "shrinkB": 6},
            )


@styled
def plot_by_layer(
    panels: Mapping[str, Tensor],
    *,
    words: Sequence[str],
    title: str,
    rows: Sequence[str],
    bar: str,
    end: float = 1.0,
) -> Figure:
    """Draw a number for every layer and word; cells of exactly 0 are hatched.

    Args:
        panels: Numbers by panel title, each of shape (row, word), 0 or more.
        words: Labels for the columns.
        title: What the reader should see, as a sentence.
        rows: Labels for the rows.
        bar: What the numbers are, for the color bar.
        end: Where the colors end; larger numbers have the last color.

    Returns:
        A new figure, its panels one below the other, on one scale.
    """
    for numbers in panels.values():
        require_one_each(numbers.size(1), "columns", words=words)
    size = (min(2.6 + 0.75 * len(words), 10), 1.3 + len(panels) * (0.7 + 0.42 * len(rows)))
    figure, grid = plt.subplots(len(panels), 1, figsize=size, squeeze=False, sharex=True)
    for axes, (name, numbers) in zip(grid.flat, panels.items(), strict=True):
        image = _draw_layers(axes, numbers, rows, end)
        axes.set_xticks(range(len(words)), [literal(word) for word in words])
        axes.set_title(literal(name, longest=None), fontsize=PANEL_TITLE)
    figure.supxlabel("word", fontsize=13)
    largest = max(float(numbers.max()) for numbers in panels.values())
    extend = "max" if largest > end else "neither"
    percent = PercentFormatter(1, decimals=0)  # as in the cells
    figure.colorbar(image, ax=grid, label=bar, extend=extend, format=percent)
    title_above(figure, title)
    return figure


def _draw_layers(axes: Axes, numbers: Tensor, rows: Sequence[str], end: float) -> AxesImage:
    """One grid, a row for each layer, its numbers written in per cent; zeros are pale."""
    values = as_array(numbers)
    colors = plt.get_cmap(WEIGHT_COLORS).with_extremes(bad=PALE)
    shown = np.ma.masked_equal(values, 0)
    image = axes.imshow(shown, cmap=colors, vmin=0, vmax=end, aspect="auto")
    hatch(axes, numbers.cpu() == 0)
    number_cells(
        axes,
        values,
        lambda number: f"{number:.0%}" if number >= 0.01 else "< 1%" if number > 0 else "0",
    )
    axes.set_yticks(range(len(rows)), [literal(row) for row in rows])
    axes.tick_params(length=0)
    return image
