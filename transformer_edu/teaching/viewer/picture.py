"""One head's attention as SVG text: what the viewer shows before, or without, its script.

The script draws the other heads by the same measures; the browser test ties the two.
"""

import html
from collections.abc import Iterator

import matplotlib
import numpy as np
from matplotlib.colors import to_hex

from transformer_edu.teaching.inspect.attention_maps import STEPS, AttentionMap, Side, columns
from transformer_edu.teaching.style import WEIGHT_COLOURS

VIEWS = ("lines", "grid")
COLOURS = tuple(
    to_hex(colour) for colour in matplotlib.colormaps[WEIGHT_COLOURS].resampled(64).colors
)
# In pixels, except for the faintest weight that has a line.
SIZES = {
    "gap": 320,
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


def label_width(side: Side) -> int:
    """Room for the longest token of a side, in pixels.

    Args:
        side: Who looks, or who is looked at.
    """
    return PADDING + round(CHARACTER * max(map(columns, side.tokens)))


def cell_side(attention_map: AttentionMap) -> int:
    """The side of a grid's cell, in pixels.

    Args:
        attention_map: The layer.
    """
    longest = max(len(attention_map.queries.tokens), len(attention_map.keys.tokens))
    return next(side for most, side in CELLS if longest <= most)


def row_height(attention_map: AttentionMap) -> int:
    """The height of a token's row in the view of lines, in pixels; a few have more room.

    Args:
        attention_map: The layer.
    """
    return max(LEAST_ROW, 3 * cell_side(attention_map) // 4)


def room_left(attention_map: AttentionMap) -> int:
    """Room for the labels, and what they are, on the left of a grid, in pixels.

    Args:
        attention_map: The layer.
    """
    return max(label_width(attention_map.queries), 80)


def room_above(attention_map: AttentionMap) -> int:
    """Room for the turned labels, and what they are, above a grid, in pixels.

    Args:
        attention_map: The layer.
    """
    return 34 + round(0.71 * label_width(attention_map.keys))


def picture(attention_map: AttentionMap, head: int, view: str, *, label: str) -> str:
    """One head as lines or as a grid.

    Args:
        attention_map: The layer.
        head: Which of its heads, counted from 0.
        view: One of VIEWS.
        label: The picture in words, to be read aloud.

    Returns:
        An svg element.
    """
    draw = _lines if view == "lines" else _grid
    width, height, parts = draw(attention_map, attention_map.codes()[head])
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' width='{width}' "
        f"height='{height}' role='img' aria-label='{html.escape(label)}'>{''.join(parts)}</svg>"
    )


def picture_height(attention_map: AttentionMap) -> int:
    """How high the higher of the two views is, in pixels.

    Args:
        attention_map: The layer.
    """
    longest = max(len(attention_map.queries.tokens), len(attention_map.keys.tokens))
    lines = SIZES["heading"] + row_height(attention_map) * longest
    grid = room_above(attention_map) + cell_side(attention_map) * len(attention_map.queries.tokens)
    return max(lines, grid) + 4


def _lines(attention_map: AttentionMap, codes: np.ndarray) -> tuple[int, int, list[str]]:
    queries, keys = attention_map.queries, attention_map.keys
    left = SIZES["number"] + label_width(queries)
    right = left + SIZES["gap"]
    row = row_height(attention_map)
    width = right + max(label_width(keys) + SIZES["number"], SIZES["said"])
    height = SIZES["heading"] + row * max(len(queries.tokens), len(keys.tokens))
    parts = [
        _text(left, 16, "who looks", "end", "heading"),
        _text(right, 16, "who is looked at", "start", "heading"),
        *_curves(codes / STEPS, left, right, row),
    ]
    for side, x, anchor in ((queries, left - 7, "end"), (keys, right + 7, "start")):
        parts += [
            _text(x, _line(index, row) + 5, token, anchor, "token")
            for index, token in enumerate(side.tokens)
        ]
    return width, height, parts


def _curves(weights: np.ndarray, left: int, right: int, row: int) -> Iterator[str]:
    """A curve for every weight, the strongest last and so on top."""
    middle = (left + right) / 2
    for place in np.argsort(weights, axis=None, kind="stable"):
        query, key = divmod(int(place), weights.shape[1])
        weight = weights[query, key]
        if weight >= SIZES["faintest"]:
            start, end = _line(query, row), _line(key, row)
            yield (
                f"<path class='link' d='M{left} {start:g}C{middle:g} {start:g} {middle:g} {end:g} "
                f"{right} {end:g}' stroke-width='{SIZES['thin'] + SIZES['thick'] * weight:.2f}' "
                f"opacity='{0.15 + 0.75 * weight:.2f}'/>"
            )


def _line(index: int, row: int) -> float:
    """The height of a token's middle in the view of lines."""
    return SIZES["heading"] + row * (index + 0.5)


def _grid(attention_map: AttentionMap, codes: np.ndarray) -> tuple[int, int, list[str]]:
    queries, keys = attention_map.queries, attention_map.keys
    left, above = room_left(attention_map), room_above(attention_map)
    side = cell_side(attention_map)
    width = left + max(side * len(keys.tokens) + above, SIZES["said"])
    height = above + side * len(queries.tokens) + 2
    parts = [
        _text(left - 7, above - 9, "who looks", "end", "heading"),
        _text(left, 14, "who is looked at", "start", "heading"),
        *_cells(codes, left, above, side),
    ]
    for index, token in enumerate(queries.tokens):
        y = above + side * (index + 0.5) + 4
        style = f" style='font-size:{min(14, side - 2)}px'"
        parts.append(_text(left - 7, y, token, "end", "token", style))
    for index, token in enumerate(keys.tokens):
        x = left + side * (index + 0.5) + 3
        style = f" style='font-size:{max(9, min(14, round(0.68 * side)))}px'"
        turned = f" transform='rotate(-45 {x:g} {above - 7})'"
        parts.append(_text(x, above - 7, token, "start", "token", style + turned))
    if side == NUMBERED:
        for query, key in np.argwhere(codes).tolist():
            weight = codes[query, key] / STEPS
            shade = "number on-light" if weight > 0.55 else "number"
            x, y = left + side * (key + 0.5), above + side * (query + 0.5) + 5
            parts.append(_text(x, y, f"{weight:.2f}", "middle", shade))
    return width, height, parts


def _cells(codes: np.ndarray, left: int, above: int, side: int) -> Iterator[str]:
    """One path for each colour that occurs; what is exactly 0 is hatched."""
    shades = np.where(codes > 0, np.rint(codes / STEPS * (len(COLOURS) - 1)), -1).astype(int)
    inner = side - 1
    for shade in np.unique(shades):
        squares = "".join(
            f"M{left + side * key} {above + side * query}h{inner}v{inner}h-{inner}z"
            for query, key in np.argwhere(shades == shade).tolist()
        )
        fill = COLOURS[shade] if shade >= 0 else "url(#hatch)"
        yield f"<path class='cells' fill='{fill}' d='{squares}'/>"


def _text(x: float, y: float, text: str, anchor: str, kind: str, more: str = "") -> str:
    return (
        f"<text class='{kind}' x='{x:g}' y='{y:g}' text-anchor='{anchor}'{more}>"
        f"{html.escape(text)}</text>"
    )
