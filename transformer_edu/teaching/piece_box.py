"""One piece of text as a box, the same in every figure that shows pieces.

Used by merge_steps.py and pieces.py.
"""

import re
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch

from transformer_edu.teaching.style import BLACK, BLUE, PALE
from transformer_edu.training.byte_pieces import readable

FONT_SIZE, FONT = 12, "DejaVu Sans Mono"
CHARACTER = 0.101  # inches: how wide a character of that font is
INVISIBLE_BYTE = re.compile(r"<0x([0-9A-F]{2})>")


class PieceLook(NamedTuple):
    """How a piece is drawn; colour is never all that tells two looks apart."""

    name: str
    fill: str
    edge: str
    ink: str
    weight: str


WHOLE_WORD = PieceLook("a whole word", BLUE, BLUE, "white", "bold")
PART = PieceLook("part of a word", PALE, "#8A94A0", BLACK, "normal")
SINGLE_BYTE = PieceLook("a single byte", "white", "#8A94A0", BLACK, "normal")


def piece_label(piece: bytes) -> str:
    """What stands in a piece's box: its text, a space as ▁, a byte of half a character as C3."""
    return INVISIBLE_BYTE.sub(r"\1", readable(piece))


def draw_piece(
    axes: Axes,
    piece: bytes,
    corner: tuple[float, float],
    size: tuple[float, float],
    look: PieceLook,
) -> None:
    """Draw a box with a piece's label in its middle, as it is written.

    Args:
        axes: Where to draw; one unit is one inch in both directions.
        piece: Some bytes.
        corner: Left and bottom of the box.
        size: Its width and height.
        look: How it is drawn.
    """
    (left, bottom), (width, height) = corner, size
    axes.add_artist(  # add_patch would measure it, and the axes' limits are known
        FancyBboxPatch(
            corner,
            width,
            height,
            boxstyle="round,pad=0,rounding_size=0.05",
            facecolor=look.fill,
            edgecolor=look.edge,
            linewidth=1,
            clip_on=False,
        )
    )
    axes.text(
        left + width / 2,
        bottom + height / 2,
        piece_label(piece),
        ha="center",
        va="center_baseline",
        family=FONT,
        fontsize=FONT_SIZE,
        fontweight=look.weight,
        color=look.ink,
        parse_math=False,
    )
