"""What the grids of all figures share: weights and signed numbers, labels, hatching, sizes."""

import textwrap
from collections.abc import Callable, Sequence
from functools import lru_cache

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backend_bases import RendererBase
from matplotlib.colors import to_rgba
from matplotlib.image import AxesImage
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.textpath import TextPath
from matplotlib.transforms import Affine2D
from torch import Tensor

from transformer_course.drawing.style import GRAY, SIGNED_COLORS, WEIGHT_COLORS, ink_on, literal
from transformer_course.looking.attention_maps import require_zero_to_one

LARGEST_NUMBERED_GRID = 10  # in larger grids the numbers would collide
LARGEST_NUMBER_OF_LABELS = 40  # along one axis; in larger grids every second, third … is named
QUERY_AXIS, KEY_AXIS = "query", "key"
# In inches: the largest cell, the largest grid, how high a label needs its row to be, and how wide
# a character is of a label and of a title.
CELL, WIDEST, HIGHEST, ROW = 0.7, 6.3, 4.9, 0.17
LABEL_CHARACTER, TITLE_CHARACTER = 0.11, 0.102
TURNED_SIZE = 52  # points, for each inch of cell: turned labels of this size just fit
NARROWEST_TITLE = 40  # characters
MOST_LINES = 4  # that one line of a title may take; an endless one ends in an ellipsis
GAP, BAR, BAR_LABELS = 0.2, 0.2, 0.75  # between grid and color bar, the bar, what stands beside it
ABOVE, AXIS_LABEL = 0.7, 0.45


def draw_weights(
    axes: Axes,
    attention_weights: Tensor,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    *,
    numbered: bool = True,
) -> AxesImage:
    """One grid of weights with its labels, and its numbers where they fit."""
    weights = require_weights(attention_weights, query_tokens, key_tokens)
    image = axes.imshow(weights, cmap=WEIGHT_COLORS, vmin=0, vmax=1)
    label_grid(axes, query_tokens, key_tokens)
    if numbered and max(weights.shape) <= LARGEST_NUMBERED_GRID:
        number_cells(axes, weights, "{:.2f}".format)
    return image


def as_array(numbers: Tensor) -> np.ndarray:
    """A tensor of any device and type, or what becomes one, as numbers that matplotlib can draw."""
    return torch.as_tensor(numbers).detach().float().cpu().numpy()


def draw_signed(
    axes: Axes, numbers: Tensor, *, largest: float | None = None, paleness: float = 1.0
) -> AxesImage:
    """A grid of signed numbers: orange is negative, white is zero, purple is positive.

    Args:
        axes: Where to draw.
        numbers: Shape (row, column).
        largest: The end of the scale on both sides; that of the numbers when None.
        paleness: Above 1 the colors are pale enough for black numbers.
    """
    values = as_array(numbers)
    end = paleness * (largest or float(abs(values).max()) or 1.0)
    return axes.imshow(values, cmap=SIGNED_COLORS, vmin=-end, vmax=end, aspect="auto")


def number_cells(axes: Axes, numbers: np.ndarray, write: Callable[[float], str]) -> None:
    """Write every number into its cell of the last image, white where the cell is dark."""
    image = axes.images[-1]
    colors = image.cmap(image.norm(image.get_array()))
    for (row, column), number in np.ndenumerate(numbers):
        color = ink_on(colors[row, column])
        axes.add_artist(CellNumber(column, row, write(number), color=color, fontsize=11))


def one_decimal(number: float) -> str:
    """A number with one decimal and a real minus sign, never minus zero."""
    return f"{number:z.1f}".replace("-", "−")


def number_axis(axis: Axis, count: int) -> None:
    """Name the cells along an axis by their numbers from 1."""
    axis.set_ticks(range(count), range(1, count + 1))


class CellNumber(Text):
    """A number around the middle of its cell, drawn by its outline.

    To measure and set it as text takes many times as long, and a grid has many numbers.
    """

    def __init__(self, x: float, y: float, text: str, **style: str | float) -> None:
        super().__init__(x, y, text, ha="center", va="center", **style)
        self.set_in_layout(False)  # it lies inside its cell: nothing to measure

    def draw(self, renderer: RendererBase) -> None:
        """Called by matplotlib."""
        middle = self.get_transform().transform(self.get_position())
        place = Affine2D().scale(renderer.points_to_pixels(1)).translate(*middle)
        context = renderer.new_gc()
        context.set_linewidth(0)
        outline = _outline(self.get_text(), self.get_fontsize())
        renderer.draw_path(context, outline, place, to_rgba(self.get_color()))
        context.restore()


@lru_cache
def _outline(text: str, size: float) -> Path:
    """A text's outline in points, around the origin."""
    path = TextPath((0, 0), text, size=size)
    (left, bottom), (right, top) = path.get_extents().get_points()
    return path.transformed(Affine2D().translate(-(left + right) / 2, -(bottom + top) / 2))


def require_weights(
    attention_weights: Tensor, query_tokens: Sequence[str], key_tokens: Sequence[str]
) -> np.ndarray:
    """The weights as an array; a ValueError if they do not fit the tokens or are not in [0, 1]."""
    shape, weights = (len(query_tokens), len(key_tokens)), as_array(attention_weights)
    if weights.shape != shape:
        raise ValueError(
            f"attention_weights must have shape {shape} to fit the tokens, got {weights.shape}"
        )
    require_zero_to_one("attention_weights", weights)
    return weights


def placed_axes(query_tokens: Sequence[str], key_tokens: Sequence[str]) -> tuple[Axes, Axes]:
    """Axes of a new figure for a grid as large as a page allows, and next to it its color bar.

    Their places are computed here: matplotlib's own layout takes longer than the drawing, and it
    leaves a narrow grid small and far from its color bar.
    """
    rows, columns = len(query_tokens), len(key_tokens)
    cell = min(
        CELL, WIDEST / columns, max(HIGHEST, ROW * min(rows, LARGEST_NUMBER_OF_LABELS)) / rows
    )
    wide, high = cell * columns, cell * rows
    left = AXIS_LABEL + LABEL_CHARACTER * _longest(query_tokens)
    below = AXIS_LABEL + LABEL_CHARACTER * 0.71 * _longest(key_tokens)  # they are turned by 45°
    width, height = left + wide + GAP + BAR + BAR_LABELS, below + high + ABOVE
    figure = plt.figure(figsize=(width, height), layout="none")
    axes, bar = (
        figure.add_axes((x / width, below / height, w / width, high / height))
        for x, w in ((left, wide), (left + wide + GAP, BAR))
    )
    axes.spines[:].set_visible(False)  # the cells are edge enough
    every = -(-columns // LARGEST_NUMBER_OF_LABELS)
    axes.tick_params(axis="x", labelsize=min(12, TURNED_SIZE * cell * every))
    return axes, bar


def _longest(tokens: Sequence[str]) -> int:
    return max(len(literal(token)) for token in tokens)


def wrap_title(axes: Axes, title: str) -> str:
    """A title on as many lines as it needs to be about as wide as a grid and its color bar.

    Args:
        axes: The grid's, from placed_axes.
        title: With line breaks where there must be one.
    """
    wide = axes.bbox.width / axes.figure.dpi + GAP + BAR + BAR_LABELS
    most = max(NARROWEST_TITLE, round(wide / TITLE_CHARACTER))
    style = {"break_long_words": False, "max_lines": MOST_LINES, "placeholder": " …"}
    return "\n".join(textwrap.fill(line, most, **style) for line in title.split("\n"))


def label_grid(axes: Axes, query_tokens: Sequence[str], key_tokens: Sequence[str]) -> None:
    """Tokens on both axes, as many as can be read."""
    for tokens, set_ticks, options in (
        (key_tokens, axes.set_xticks, {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}),
        (query_tokens, axes.set_yticks, {}),
    ):
        every = -(-len(tokens) // LARGEST_NUMBER_OF_LABELS)
        shown = range(0, len(tokens), every)
        set_ticks(list(shown), [literal(tokens[index]) for index in shown], **options)
    axes.tick_params(length=0)


def hatch(axes: Axes, hidden: Tensor) -> None:
    """Hatch the hidden cells."""
    cells = [
        Path.unit_rectangle().transformed(Affine2D().translate(column - 0.5, row - 0.5))
        for row, column in hidden.nonzero().tolist()
    ]
    if not cells:
        return
    axes.add_artist(
        PathPatch(
            Path.make_compound_path(*cells),  # one patch: a patch for each would take seconds
            fill=False,
            hatch="///",
            edgecolor=GRAY,
            linewidth=0.5,
            snap=True,
        )
    )
