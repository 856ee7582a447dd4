"""The attention viewer as one HTML page that needs nothing else, and as a frame in a notebook.

The page shows a still picture; its script, where it may run, makes it live. It loads nothing: its
policy forbids that, and lets no script run but the viewer's own. In a notebook the page stands in
a frame of its own, which keeps several viewers, and the notebook, apart.
"""

import base64
import hashlib
import html
import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import matplotlib
from matplotlib.colors import to_hex

from transformer_edu.teaching.display import image_tag
from transformer_edu.teaching.inspect.attention_maps import STEPS, AttentionMap, Side, columns
from transformer_edu.teaching.style import WEIGHT_COLORS

VIEWS = ("lines", "grid")
COLORS = tuple(to_hex(color) for color in matplotlib.colormaps[WEIGHT_COLORS].resampled(64).colors)
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
HINT = "Point at a token, or reach it with Tab and the arrow keys, to see what it attends to."
STILL = "This is a still picture: the controls need a script, which may not run here."
SCRIPTS = ("viewer_drawing.js", "viewer_words.js", "viewer_controls.js", "viewer.js")
# In pixels: the picture before it scrolls, all the rest, and each more line of heads. That holds
# where the frame is at least 800 wide, as in JupyterLab; in narrower ones the picture may scroll.
HIGHEST, AROUND, LINE_OF_HEADS = 440, 320, 67
HEADS_TO_A_LINE = 13
ABOUT = {
    "lines": "Each {} token on the left attends to the {} tokens on the right: "
    "the thicker the line, the larger the weight.",
    "grid": "Each {} token attends to the {} tokens along its row: "
    "the brighter the cell, the larger the weight.",
}

_PAGE = """<!DOCTYPE html>
<html lang='en'>
<head>
<meta charset='utf-8'>
<meta http-equiv='Content-Security-Policy' content="{policy}">
<meta name='viewport' content='width=device-width, initial-scale=1'>
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<main class='viewer'>
<h1>{title}</h1>
<div class='controls' data-part='controls' hidden></div>
<p class='about'><b data-part='place'>{place}</b><br><span data-part='about'>{about}</span></p>
<p class='readout' data-part='readout' aria-live='polite'>{still}</p>
<div class='figure' data-part='figure'>{picture}</div>
{keys}
<script type='application/json' data-part='data'>{data}</script>
<script>{script}</script>
</main>
</body>
</html>
"""

# The frame hides the picture after it. Where frames are taken out, the picture is what remains.
_FRAME = """<style>.attention-viewer > iframe + img {{ display: none; }}</style>
<div class="attention-viewer"><iframe title="{title}" sandbox="allow-scripts" \
style="width: 100%; height: {height}px; border: 1px solid #d5dbe2; border-radius: 8px; \
resize: vertical; color-scheme: light dark" srcdoc="{page}"></iframe>\
{picture}</div>"""


class Start(NamedTuple):
    """What is shown first: which map and head, both counted from 0, and in which view."""

    map: int
    head: int
    view: str


def label_width(side: Side) -> int:
    """Room for the longest token of a side, in pixels.

    Args:
        side: The queries or the keys.
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


def viewer_page(
    maps: Sequence[AttentionMap], start: Start, title: str, *, png: str, alt: str
) -> str:
    """The whole viewer as one page.

    Args:
        maps: The layers, at least one.
        start: What is shown first.
        title: What stands above, as a sentence.
        png: The still picture, which the script replaces, as base64 text.
        alt: The still picture in words.

    Returns:
        A complete HTML document that loads nothing.
    """
    first = maps[start.map]
    script = _script()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    return _PAGE.format(
        policy="default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
        f"script-src 'sha256-{digest}'",
        title=html.escape(title),
        style=_beside("viewer.css"),
        place=html.escape(place_in_words(first, start.head)),
        about=about(first, start.view),
        still=STILL,
        picture=image_tag(png, alt),
        keys=_keys(start.view),
        data=_json(_data(maps, start)),
        script=script,
    )


def framed(page: str, maps: Sequence[AttentionMap], *, title: str, png: str, alt: str) -> str:
    """The page in a frame of a notebook, and the picture that stands in for it.

    Args:
        page: What viewer_page has made.
        maps: The layers on it; the frame is as high as they need.
        title: What the frame is called aloud.
        png: The still picture, as base64 text.
        alt: The still picture in words.

    Returns:
        HTML for a notebook's output.
    """
    lines = -(-max(len(each.weights) for each in maps) // HEADS_TO_A_LINE)
    height = AROUND + LINE_OF_HEADS * (lines - 1) + min(HIGHEST, max(map(picture_height, maps)))
    return _FRAME.format(
        title=html.escape(title),
        height=height,
        page=page.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;"),
        picture=image_tag(png, alt),
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


def _script() -> str:
    """The viewer's script, with names of its own."""
    parts = [_beside(name) for name in SCRIPTS]
    return "\n".join(['(() => {\n"use strict";', *parts, "})();\n"])


def _beside(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


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
        "tokens": [{"texts": side.tokens, "width": label_width(side)} for side in sides],
        "colours": COLORS,
        "sizes": SIZES,
        "steps": STEPS,
        "start": {**start._asdict(), "hint": HINT},
    }


def _json(data: object) -> str:
    """JSON that may stand in a script element, whatever the texts in it: pure ASCII, no markup."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", r"\u003c").replace(">", r"\u003e").replace("&", r"\u0026")


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
    return (
        "<svg width='0' height='0' style='position:absolute' aria-hidden='true'><defs><pattern "
        "id='hatch' width='5' height='5' patternUnits='userSpaceOnUse' "
        "patternTransform='rotate(45)'><path class='stripe' d='M0 0V5'/></pattern></defs></svg>"
        f"<div class='key' data-key='lines'{'' if view == 'lines' else ' hidden'}>"
        f"<span>attention weight:</span>{samples}"
        f"<span>below {SIZES['faintest']}: no line</span></div>"
        f"<div class='key' data-key='grid'{'' if view == 'grid' else ' hidden'}>"
        f"<span>attention weight: 0<svg width='{3 * len(COLORS)}' height='12' aria-hidden='true'>"
        f"{ramp}</svg>1</span><span>{hatched}fill='url(#hatch)'/></svg>exactly 0</span></div>"
    )
