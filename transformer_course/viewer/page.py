"""The attention viewer as one HTML page, and its first state as a figure.

The page shows words until its script runs; the figure is for readers without scripts.
"""

import html
from collections.abc import Sequence
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from torch import from_numpy

from transformer_course.drawing.attention_grid import plot_attention
from transformer_course.drawing.style import BLUE, literal, styled
from transformer_course.looking.attention_maps import STEPS, AttentionMap, Side, columns
from transformer_course.viewer.frame import COLORS, NO_SCRIPT, html_page

VIEWS = ("lines", "grid")
# In pixels, except for the faintest weight that has a line.
SIZES = {
    "gap": 320,
    "least": 90,  # of the gap, in a narrow frame
    "beside": 4,  # between the same line of two heads
    "smallest": 0.72,  # the scale of a picture in a narrow frame
    "heading": 26,
    "said": 112,  # how wide the words above the keys are
    "number": 48,  # room for a value beside a token
    "faintest": 0.01,
    "thin": 0.6,
    "thick": 8.4,  # what a weight of 1 adds to it
}
CHARACTER, PADDING = 8.2, 18  # how wide a character is, and the room around a token
# Up to so many tokens, the side of a cell; cells of the first size have room for a number.
CELLS = ((10, 46), (16, 30), (28, 22), (44, 16), (128, 12))
NUMBERED = CELLS[0][1]
LEAST_ROW = 24  # pixels: for a token in the view of lines
HINT = (
    "Point at a token (or use Tab and the arrow keys) to see what it attends to. "
    "Choose a small map to see it large; with Shift it is laid over the one that is shown."
)
SCRIPTS = ("viewer_drawing.js", "viewer_words.js", "viewer_controls.js", "viewer.js")
# In pixels, on a phone or not: the picture before it scrolls, all around it but the small maps.
HIGHEST, AROUND = {False: 440, True: 350}, {False: 195, True: 370}
# The sides of the small maps, and up to how many columns they have the first one; how wide their
# lines are, on a phone or not; what stands above them, and their height before it scrolls.
SMALL_MAPS, MOST_COLUMNS = (36, 28), 12
BAND, ABOVE_MAPS, HIGHEST_BAND = {False: 772, True: 372}, 36, 300
BESIDE, WAYS = 530, 112  # up to what width the other controls stand beside the maps; their height
ABOUT = {
    "lines": "Each {} token on the left attends to {} tokens on the right: "
    "the thicker the line, the larger the weight.",
    "grid": "Each {} token attends to {} tokens along its row: "
    "the brighter the cell, the larger the weight.",
    "squares": "Each {} token attends to {} tokens along its row: "
    "the larger a head's square, the larger its weight.",
}

_BODY = """<div class='controls' data-part='controls' hidden></div>
<p class='about'><b data-part='place' aria-live='polite'>{place}</b><br>
<span data-part='about'>{about}</span></p>
<p class='readout' data-part='readout' role='region' aria-label='Readout' aria-live='polite'>\
{still}</p>
<div class='figure' role='region' aria-label='Figure' data-part='figure'><p>{alt}</p></div>
{keys}"""


class Start(NamedTuple):
    """What is shown first: which map and head, both counted from 0, and in which view."""

    map: int
    head: int
    view: str


def label_width(labels: Sequence[str]) -> int:
    """Room for the longest of some labels, in pixels.

    Args:
        labels: The keys' tokens, or what the rows are called.
    """
    return PADDING + round(CHARACTER * max(map(columns, labels)))


def cell_side(attention_map: AttentionMap) -> int:
    """The side of a grid's cell, in pixels.

    Args:
        attention_map: The layer.
    """
    return next(side for most, side in CELLS if longest_side(attention_map) <= most)


def longest_side(attention_map: AttentionMap) -> int:
    """The number of its queries or keys, whichever are more.

    Args:
        attention_map: The layer.
    """
    return max(len(attention_map.queries.tokens), len(attention_map.keys.tokens))


def grid_height(attention_map: AttentionMap) -> int:
    """How high the view of cells is, in pixels, with the labels above it.

    Args:
        attention_map: The layer.
    """
    return room_above(attention_map) + cell_side(attention_map) * len(attention_map.queries.tokens)


def row_height(attention_map: AttentionMap) -> int:
    """The height of a token's row in the view of lines, in pixels: a few fill the grid's height.

    Args:
        attention_map: The layer.
    """
    cell = cell_side(attention_map)
    as_high_as_grid = (grid_height(attention_map) - SIZES["heading"]) // longest_side(attention_map)
    return max(LEAST_ROW, min(as_high_as_grid, 6 * cell // 5))


def room_left(attention_map: AttentionMap) -> int:
    """Room for the labels, and what they are, on the left of a grid, in pixels.

    Args:
        attention_map: The layer.
    """
    return max(label_width(attention_map.queries.rows()), 110)


def room_above(attention_map: AttentionMap) -> int:
    """Room for the turned labels, and what they are, above a grid, in pixels.

    Args:
        attention_map: The layer.
    """
    return 34 + round(0.71 * label_width(attention_map.keys.tokens))


def viewer_page(maps: Sequence[AttentionMap], start: Start, title: str, *, alt: str) -> str:
    """The whole viewer as one page.

    Args:
        maps: The layers, at least one.
        start: What is shown first.
        title: What stands above, as a sentence.
        alt: The first state in words, which stand there until the script runs.

    Returns:
        A complete HTML document that loads nothing.
    """
    first = maps[start.map]
    body = _BODY.format(
        place=html.escape(place_in_words(first, start.head)),
        about=about(first, start.view),
        still=NO_SCRIPT,
        alt=html.escape(alt),
        keys=_keys(start.view),
    )
    return html_page(title, body, _data(maps, start), SCRIPTS, ["viewer.css"])


def frame_height(maps: Sequence[AttentionMap], *, on_phone: bool = False) -> int:
    """How high a frame is that holds the page, in pixels.

    Args:
        maps: The layers on it; the frame is as high as they need, up to a limit.
        on_phone: Whether the page is at most 600 pixels wide; then the picture may scroll.
    """
    side = SMALL_MAPS[-1] if on_phone else _small_side(maps)
    lines = lines_of_maps(maps, side, BAND[on_phone])
    band = min(HIGHEST_BAND, sum(ABOVE_MAPS + side * rows for rows in lines))
    ways = WAYS * (not on_phone and sum(_widths(maps, side)) > BESIDE)
    picture = min(HIGHEST[on_phone], max(map(picture_height, maps)))
    return AROUND[on_phone] + band + ways + picture


def _kinds(maps: Sequence[AttentionMap]) -> list[list[AttentionMap]]:
    """The layers of each kind of attention."""
    kinds = dict.fromkeys(each.kind for each in maps)
    return [[each for each in maps if each.kind == kind] for kind in kinds]


def _columns_of(layers: Sequence[AttentionMap]) -> int:
    return max(len(each.weights) for each in layers)


def _small_side(maps: Sequence[AttentionMap]) -> int:
    """The side of a small map, where the page is more than 600 pixels wide."""
    return SMALL_MAPS[sum(map(_columns_of, _kinds(maps))) > MOST_COLUMNS]


def _widths(maps: Sequence[AttentionMap], side: int) -> list[int]:
    """How wide the small maps of each kind are, with the layers' numbers, in pixels."""
    return [side * _columns_of(layers) + 2 * PADDING // 3 for layers in _kinds(maps)]


def lines_of_maps(maps: Sequence[AttentionMap], side: int, width: int) -> list[int]:
    """How many layers each line of small maps has; a kind that does not fit starts a new line.

    Args:
        maps: The layers.
        side: Of a small map, in pixels.
        width: Of a line, in pixels.
    """
    lines, used = [0], 0
    for layers, wide in zip(_kinds(maps), _widths(maps, side), strict=True):
        if used and used + wide > width:
            lines, used = [*lines, 0], 0
        lines[-1], used = max(lines[-1], len(layers)), used + wide
    return lines


def picture_height(attention_map: AttentionMap) -> int:
    """How high the higher of the two views is, in pixels.

    Args:
        attention_map: The layer.
    """
    lines = SIZES["heading"] + row_height(attention_map) * longest_side(attention_map)
    return max(lines, grid_height(attention_map)) + 4


def place_in_words(attention_map: AttentionMap, head: int) -> str:
    """Which attention, layer and head it is: *Cross-attention, layer 2, head 3 of 4*.

    Args:
        attention_map: The layer.
        head: Which of its heads, counted from 0.
    """
    layer = f", layer {attention_map.layer}" if attention_map.layer else ""
    return f"{attention_map.kind}{layer}, head {head + 1} of {len(attention_map.weights)}"


def about(attention_map: AttentionMap, view: str) -> str:
    """What the picture shows, in one line.

    Args:
        attention_map: The layer.
        view: ``"lines"`` or ``"grid"``.
    """
    return ABOUT[view].format(attention_map.queries.role, attention_map.keys.role)


def _data(maps: Sequence[AttentionMap], start: Start) -> dict[str, object]:
    """What the script needs: tokens, weights, and measures."""
    sides: list[Side] = []
    for each in maps:
        sides += [side for side in (each.queries, each.keys) if side not in sides]
    return {
        "maps": [
            {
                "kind": each.kind,
                "layer": each.layer,
                "queries": sides.index(each.queries),
                "keys": sides.index(each.keys),
                "about": {view: about(each, view) for view in ABOUT},
                "row": row_height(each),
                "cell": cell_side(each),
                "numbered": cell_side(each) == NUMBERED,
                "left": room_left(each),
                "above": room_above(each),
                "packed": each.packed(),
            }
            for each in maps
        ],
        "tokens": [
            {
                "texts": side.tokens,
                "writes": side.writes or None,
                "width": label_width(side.tokens),
                "rowWidth": label_width(side.rows()),
            }
            for side in sides
        ],
        "isSmall": _small_side(maps) < SMALL_MAPS[0],
        "sizes": SIZES,
        "steps": STEPS,
        "start": {**start._asdict(), "hint": HINT},
    }


def _keys(view: str) -> str:
    """What widths, colors and hatching mean, for either view, and the hatching itself."""
    samples = "".join(
        f"<span><svg width='34' height='12' aria-hidden='true'><path class='link' d='M6 6h22' "
        f"stroke-width='{SIZES['thin'] + SIZES['thick'] * weight:.2f}' "
        f"opacity='{0.15 + 0.75 * weight:.2f}'/></svg>{weight}</span>"
        for weight in (0.1, 0.5, 1)
    )
    ramp = "".join(
        f"<rect x='{3 * index}' width='3' height='12' fill='{color}'/>"
        for index, color in enumerate(COLORS)
    )
    hatched = "<svg width='14' height='14' aria-hidden='true'><rect width='14' height='14' "
    zero = f"<span>{hatched}fill='url(#hatch)'/></svg>exactly 0</span>"
    return (
        f"<div class='key' data-key='lines'{'' if view == 'lines' else ' hidden'}>"
        f"<span>attention weight:</span>{samples}"
        f"<span>below {SIZES['faintest']}: no line</span></div>"
        f"<div class='key' data-key='grid'{'' if view == 'grid' else ' hidden'}>"
        f"<span>attention weight: 0<svg width='{3 * len(COLORS)}' height='12' aria-hidden='true'>"
        f"{ramp}</svg>1</span>{zero}</div>"
        f"<div class='key' data-key='squares' hidden><span>attention weight: the area of a square; "
        f"a full quarter of the cell is 1</span>{zero}</div>"
    )


ROW, TALLEST, TITLE = 0.27, 12.0, 1.0  # inches: for a token, for all of them, above them
LEFT, RIGHT = 0.0, 2.6  # inches: where the lines begin and end
MOST_HATCHED = 50**2  # cells; to hatch more takes seconds
POINTS = 72  # to the inch


def plot_still(attention_map: AttentionMap, head: int, view: str, title: str) -> Figure:
    """Draw one head, counted from 0, as lines or as a grid.

    Args:
        attention_map: The layer.
        head: Which of its heads.
        view: ``"lines"`` or ``"grid"``.
        title: What stands above; it may have two lines.

    Returns:
        A new figure.
    """
    weights = attention_map.weights[head]
    queries, keys = attention_map.queries, attention_map.keys
    if view == "lines":
        return _plot_lines(weights, queries, keys, title)
    return plot_attention(
        from_numpy(weights),
        query_tokens=queries.rows(),
        key_tokens=keys.tokens,
        title=_literal_lines(title),
        mask=from_numpy(weights > 0) if weights.size <= MOST_HATCHED else None,
    )


@styled
def _plot_lines(weights: np.ndarray, queries: Side, keys: Side, title: str) -> Figure:
    """Queries on the left, keys on the right, as in the viewer."""
    longest = max(weights.shape)
    height = min(ROW * longest, TALLEST)
    size = min(12, 0.62 * POINTS * height / longest)
    figure, axes = plt.subplots(figsize=(6.5, height + TITLE))
    for place in np.argsort(weights, axis=None, kind="stable"):
        query, key = divmod(int(place), weights.shape[1])
        if weights[query, key] >= SIZES["faintest"]:
            _link(axes, query, key, float(weights[query, key]))
    sides = ((queries.rows(), LEFT - 0.07, "right"), (keys.tokens, RIGHT + 0.07, "left"))
    for labels, x, anchor in sides:
        style = {"ha": anchor, "va": "center", "fontsize": size}
        for index, label in enumerate(labels):
            axes.text(x, index, literal(label, longest=None), **style)
    for x, anchor, text in ((LEFT, "right", queries.heading), (RIGHT, "left", "keys")):
        axes.text(x, -1, text, ha=anchor, va="center", fontsize=11, style="italic")
    axes.set(xlim=(LEFT - 1.9, RIGHT + 1.9), ylim=(longest - 0.4, -1.5))
    axes.set_axis_off()
    axes.set_title(_literal_lines(title))
    return figure


def _literal_lines(title: str) -> str:
    return "\n".join(literal(line, longest=None) for line in title.splitlines())


def _link(axes: Axes, query: int, key: int, weight: float) -> None:
    middle = (LEFT + RIGHT) / 2
    way = [(LEFT, query), (middle, query), (middle, key), (RIGHT, key)]
    axes.add_patch(
        PathPatch(
            Path(way, [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]),
            facecolor="none",
            edgecolor=BLUE,
            alpha=0.15 + 0.75 * weight,
            linewidth=(SIZES["thin"] + SIZES["thick"] * weight) * 0.75,
            capstyle="round",
        )
    )
