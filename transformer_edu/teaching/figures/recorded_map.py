"""The map of the Transformer as numbers: what its drawing would draw, for a live figure."""

from transformer_edu.teaching.figures.architecture import HEIGHT, WIDTH, draw_map
from transformer_edu.teaching.figures.pen import HIDDEN, MASK_SIZE, Box, Pen

UNIT = 100  # of the live figure's coordinates, in an inch of the drawing


class Recorder(Pen):
    """A pen that notes what it is asked to draw, y downwards.

    Attributes:
        elements: What was drawn, in this order; "box" is the name of the box that it is a part of,
            None for what is around the boxes.
    """

    def __init__(self) -> None:
        super().__init__(axes=None, highlight=set())
        self.elements: list[dict[str, object]] = []
        self._box: str | None = None
        self._last = ""

    def box(self, box: Box) -> None:
        """A part of the map; an Add & Norm is named after the part that was drawn before it."""
        label = box.label.replace("\n", " ")
        side = "target" if box.left > WIDTH / 2 else "source"
        is_norm = "add & norm" in box.components
        self._last = self._last if is_norm else f"{side}: {label}"
        self._box = f"{self._last}, Add & Norm" if is_norm else self._last
        super().box(box)
        self._box = None

    def rounded(self, box: Box, strong: bool, *, fill: str, layer: float) -> None:
        """A frame, a sheet of a pile, or the box itself, which has words and comes last."""
        size = {"width": box.width, "height": box.height}
        self._note("rect", x=box.left, y=HEIGHT - box.top, **size, sheet=layer == 2)

    def mask(self, name: str, left: float, y: float) -> None:
        """A small mask."""
        top = HEIGHT - y - MASK_SIZE / 2
        self._note("mask", x=left, y=top, width=MASK_SIZE, height=MASK_SIZE, hidden=HIDDEN[name])

    def words(
        self, words: str, x: float, y: float, *, strong: bool, color: str = "", align="center"
    ) -> None:
        """Words, line by line."""
        anchor = {"center": "middle", "left": "start", "right": "end"}[align]
        self._note("words", x=x, y=HEIGHT - y, lines=words.split("\n"), anchor=anchor)

    def arrow(self, *points: tuple[float, float], strong: bool = False) -> None:
        """A line through the points."""
        numbers = [[round(x * UNIT, 1), round((HEIGHT - y) * UNIT, 1)] for x, y in points]
        self._note("arrow", points=numbers)

    def _note(self, kind: str, **numbers: object) -> None:
        scaled = {
            name: round(each * UNIT, 1) if isinstance(each, float) else each
            for name, each in numbers.items()
        }
        self.elements.append({"kind": kind, "box": self._box, **scaled})


def recorded_map() -> list[dict[str, object]]:
    """Every element of plot_architecture's drawing, in the order in which it is drawn."""
    recorder = Recorder()
    draw_map(recorder)
    return recorder.elements
