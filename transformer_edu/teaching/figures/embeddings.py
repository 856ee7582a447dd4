"""Words as points of a map (inspect/embedding_map.py), each with its label next to it."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from torch import Tensor

from transformer_edu.teaching.inspect.embedding_map import MapWord, Projection, principal_axes
from transformer_edu.teaching.style import BLACK, BLUE, GREEN, PURPLE, VERMILION, literal, styled

COLORS = (BLUE, VERMILION, GREEN, PURPLE, BLACK)  # of groups
MARKERS = ("o", "s", "^")  # of languages; those of the first are filled, the others hollow
SIZE = (9, 5.6)  # inches
PLACE = (0.09, 0.11, 0.72, 0.78)  # left, bottom, width and height of the map, in parts of SIZE
LABEL = 11  # points
HALF_POINT = 4.5  # pixels that a point covers around its middle
# Where a label may stand: right, left, above, below, then slanting; nearest first, in pixels.
_SIDES = np.array([(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)])
_DISTANCES = np.array([9, 15, 23, 33, 45])
DIRECTIONS = np.tile(_SIDES, (len(_DISTANCES), 1))  # (choice, 2)
STEPS = DIRECTIONS * _DISTANCES.repeat(len(_SIDES))[:, None]
FAR = 20  # pixels from which on a line leads from the point to its label


@styled
def plot_embedding_map(vectors: Tensor, words: Sequence[MapWord], *, title: str) -> Figure:
    """Draw words where their vectors lie on the two axes along which they vary most.

    Colors tell groups, markers tell languages; the axes say how much of the variance they hold:
    words that look close may differ in the rest.

    Args:
        vectors: Shape (word, width).
        words: A label, a group and a language for each vector: at most five groups and three
            languages, and few enough words for their labels.
        title: What the reader should see, as a sentence.

    Returns:
        A new figure.
    """
    projection = principal_axes(vectors)
    figure = plt.figure(figsize=SIZE, layout="none")
    axes = figure.add_axes(PLACE)
    groups, languages = _columns(words)
    points = projection.coordinates.numpy()
    for place, word in zip(points, words, strict=True):
        look = _look(groups.index(word.group), languages.index(word.language))
        axes.plot(*place, linestyle="none", **look)
    axes.margins(0.08)
    axes.set(xlim=axes.get_xlim(), ylim=axes.get_ylim())  # labels are placed by the pixel
    axes.set_xlabel(_axis_name(projection, 0))
    axes.set_ylabel(_axis_name(projection, 1))
    axes.set_title(title)
    _draw_legend(axes, groups, languages)
    _write_labels(axes, points, [word.text for word in words])
    return figure


def describe_embedding_map(vectors: Tensor, words: Sequence[MapWord]) -> str:
    """The map in words: its groups, and how much of the variance it holds.

    Args:
        vectors: As for plot_embedding_map.
        words: As for plot_embedding_map.
    """
    held = float(principal_axes(vectors).explained_variance_ratio.sum())
    groups, languages = _columns(words)
    return (
        f"{len(words)} words in {' and '.join(languages)}: {', '.join(groups)}; "
        f"the two axes hold {held:.0%} of their variance"
    )


def _look(group: int, language: int) -> dict[str, object]:
    """How a point is drawn."""
    color = COLORS[group]
    return {
        "marker": MARKERS[language],
        "color": color,
        "markerfacecolor": color if language == 0 else "white",
        "markeredgewidth": 1.8,
        "markersize": 8,
    }


def _axis_name(projection: Projection, axis: int) -> str:
    return (
        f"axis {axis + 1}: {float(projection.explained_variance_ratio[axis]):.0%} of the variance"
    )


def _draw_legend(axes: Axes, groups: Sequence[str], languages: Sequence[str]) -> None:
    """First the groups by their colors, then the languages by their markers."""
    handles = [
        Line2D([], [], linewidth=7, color=COLORS[place], label=literal(name), marker="")
        for place, name in enumerate(groups)
    ]
    for place, name in enumerate(languages):
        look = _look(COLORS.index(BLACK), place)
        handles.append(Line2D([], [], linestyle="none", label=literal(name), **look))
    axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1), handlelength=1)


def _write_labels(axes: Axes, points: np.ndarray, labels: Sequence[str]) -> None:
    """Put each label where it covers least of the points and of the labels before it."""
    renderer = axes.figure.canvas.get_renderer()
    middles = axes.transData.transform(points)  # in pixels, as all that follows
    taken = list(_box(middles, np.full(2, HALF_POINT)))
    frame = np.array(axes.bbox.extents)
    for point, middle, label in zip(points, middles, labels, strict=True):
        text = axes.text(*point, literal(label), ha="center", va="center", fontsize=LABEL)
        half = np.array(text.get_window_extent(renderer).size) / 2
        choices = middle + STEPS + DIRECTIONS * half  # (choice, 2)
        boxes = _box(choices, half)
        covered = _shared_area(boxes[:, None], np.array(taken)).sum(axis=1)
        outside = np.prod(2 * half) - _shared_area(boxes, frame)
        # Nearer places come first: each one further costs as much as half a pixel covered.
        best = int((covered + outside + 0.5 * np.arange(len(choices))).argmin())
        taken.append(boxes[best])
        place = axes.transData.inverted().transform(choices[best])
        text.set_position(place)
        if np.linalg.norm(STEPS[best]) > FAR:
            ends = zip(point, place, strict=True)
            axes.plot(*ends, color=BLACK, lw=0.6, marker="", zorder=1)


def _box(middles: np.ndarray, half: np.ndarray) -> np.ndarray:
    """What something covers that reaches half as far to all sides: (…, left bottom right top)."""
    return np.concatenate([middles - half, middles + half], axis=-1)


def _shared_area(boxes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """How much of each box the other covers, in square pixels."""
    low = np.maximum(boxes[..., :2], others[..., :2])
    high = np.minimum(boxes[..., 2:], others[..., 2:])
    return np.clip(high - low, 0, None).prod(axis=-1)


def _columns(words: Sequence[MapWord]) -> tuple[list[str], list[str]]:
    """The groups and the languages, in the order in which they come."""
    groups = dict.fromkeys(word.group for word in words)
    languages = dict.fromkeys(word.language for word in words)
    return list(groups), list(languages)
