"""Boxes, arrows and words of the architecture map, each in a quiet and in a strong form."""

from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle
from matplotlib.path import Path

from transformer_course.drawing.style import BLUE

FONT_SIZE = 11
STRONG_EDGE, STRONG_WASH = "#00263D", "#D6E8F4"  # around and behind what is drawn in BLUE
SHEET = "#8CC3E4"
QUIET, QUIET_EDGE, QUIET_WASH, QUIET_ARROW = "#E4EBF2", "#8496A8", "#F6F8FA", "#5C7084"
INK = "#2B3D4F"
STRONG_LINE, QUIET_LINE, ARROW_LINE = 2.4, 0.9, 1.3
MASK_SIZE, PILE_STEP = 0.19, 0.045
MASKS = {
    "self-attention": "padding mask",
    "masked self-attention": "causal mask",
    "cross-attention": "padding mask",
}
HIDDEN = {  # (row, column) of a small mask
    "causal mask": ((0, 1), (0, 2), (1, 2)),
    "padding mask": ((0, 2), (1, 2), (2, 2)),
}


@dataclass(frozen=True)
class Box:
    """One part of the map: what it says, where it stands, which components it belongs to."""

    label: str
    left: float
    bottom: float
    width: float
    height: float
    components: tuple[str, ...] = ()

    @property
    def right(self) -> float:
        """The right edge."""
        return self.left + self.width

    @property
    def top(self) -> float:
        """The upper edge."""
        return self.bottom + self.height

    @property
    def x(self) -> float:
        """The middle, across."""
        return self.left + self.width / 2

    @property
    def y(self) -> float:
        """The middle, upwards."""
        return self.bottom + self.height / 2


class Pen:
    """Draws on the axes, everything highlighted in its strong form."""

    def __init__(self, axes: Axes, highlight: set[str]) -> None:
        self.axes = axes
        self.highlight = highlight

    def is_strong(self, *components: str) -> bool:
        """Whether one of these components is highlighted, or everything."""
        return not self.highlight.isdisjoint((*components, "transformer"))

    def box(self, box: Box) -> None:
        """A part with its label; attention is a pile of heads and wears its mask."""
        strong = self.is_strong(*box.components)
        mask = next((MASKS[name] for name in box.components if name in MASKS), None)
        if mask is not None:
            self.pile(box)
            self.mask(mask, box.right - MASK_SIZE - 0.09, box.y)
        self.rounded(box, strong, fill=BLUE if strong else QUIET, layer=3)
        x = box.x if mask is None else (box.left + box.right - MASK_SIZE - 0.07) / 2
        self.words(box.label, x, box.y, strong=strong, color="white" if strong else INK)

    def pile(self, box: Box) -> None:
        """Two more sheets behind the box: the other heads."""
        strong = self.is_strong("heads")
        for step in (2 * PILE_STEP, PILE_STEP):
            sheet = Box("", box.left + step, box.bottom + step, box.width, box.height)
            self.rounded(sheet, strong, fill=SHEET if strong else "white", layer=2)

    def rounded(self, box: Box, strong: bool, *, fill: str, layer: float) -> None:
        """A box with round corners and no words; higher layers lie in front."""
        self.axes.add_patch(
            FancyBboxPatch(
                (box.left, box.bottom),
                box.width,
                box.height,
                boxstyle=f"round,pad=0,rounding_size={min(0.06, box.height / 5)}",
                facecolor=fill,
                edgecolor=STRONG_EDGE if strong else QUIET_EDGE,
                linewidth=STRONG_LINE if strong else QUIET_LINE,
                zorder=layer,
            )
        )

    def mask(self, name: str, left: float, y: float) -> None:
        """A small mask, rows are queries, columns are keys: white squares are hidden."""
        strong, cell, bottom = self.is_strong(name), MASK_SIZE / 3, y - MASK_SIZE / 2
        color = BLUE if strong else QUIET_EDGE
        frame = {
            "edgecolor": STRONG_EDGE if strong else QUIET_EDGE,
            "linewidth": 2 * QUIET_LINE if strong else QUIET_LINE,
        }
        self.axes.add_patch(
            Rectangle((left, bottom), MASK_SIZE, MASK_SIZE, facecolor=color, zorder=4, **frame)
        )
        for row, column in HIDDEN[name]:
            corner = (left + column * cell, bottom + (2 - row) * cell)
            self.axes.add_patch(
                Rectangle(corner, cell, cell, color="white", linewidth=0, zorder=4.5)
            )

    def words(
        self,
        words: str,
        x: float,
        y: float,
        *,
        strong: bool,
        color: str = INK,
        align: str = "center",
    ) -> None:
        """Words as they are written, centered on (x, y) or aligned to it."""
        self.axes.text(
            x,
            y,
            words,
            ha=align,
            va="center_baseline",
            fontsize=FONT_SIZE,
            fontweight="bold" if strong else "normal",
            color=color,
            linespacing=1.05,
            parse_math=False,
            zorder=6,
        )

    def arrow(self, *points: tuple[float, float], strong: bool = False) -> None:
        """A line through the points with its head at the last."""
        self.axes.add_patch(
            FancyArrowPatch(
                path=Path(points),
                arrowstyle="-|>,head_length=4.5,head_width=2.2",
                mutation_scale=1,
                color=BLUE if strong else QUIET_ARROW,
                linewidth=STRONG_LINE if strong else ARROW_LINE,
                joinstyle="round",
                zorder=2.5,
            )
        )
