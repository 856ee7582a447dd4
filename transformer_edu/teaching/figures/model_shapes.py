"""Shapes through the whole model: both columns of paper Figure 1, one sheet for each tensor.

The shapes are recorded from a real forward pass, so a learner's own Transformer can be drawn, too.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from torch import Tensor, nn

from transformer_edu.generation.evaluation_mode import evaluation_mode
from transformer_edu.teaching.figures.pen import QUIET, QUIET_WASH, Box, Pen
from transformer_edu.teaching.style import styled

WIDTH, ROW, HEAD, FOOT, TITLE = 10.5, 0.9, 0.1, 0.5, 0.4  # inches: the drawing's own unit
COLUMNS = {"source": 1.95, "target": 7.2}  # where the middle of each column's sheets is
LONGEST_SIDE, LIFT, MOST_SHEETS = 0.78, 0.03, 8
FILL = {"d_model": "#CFE3F1", "d_ff": "#CFE3F1", "position": QUIET}  # else of scores or of words
SCORES_FILL, WORDS_FILL = "#F3D9E6", "#FBE3C0"
ROWS = {
    "source": ("ids", "embedded", "self-attention", "feed-forward", "memory"),
    "target": (
        *("ids", "embedded", "self-attention", "cross-attention", "feed-forward"),
        *("decoded", "logits"),
    ),
}
WORDS = {
    "source ids": "source ids",
    "target ids": "target ids",
    "embedded": "tokens\n+ positions",
    "source self-attention": "self-attention",
    "target self-attention": "masked\nself-attention",
    "cross-attention": "cross-attention",
    "feed-forward": "feed-forward,\nwidened",
    "memory": "memory",
    "decoded": "decoded",
    "logits": "logits",
}


@dataclass(frozen=True)
class Shape:
    """One tensor on the way: its name in the drawing, its shape, and the names of its axes."""

    name: str
    shape: tuple[int, ...]
    axes: tuple[str, ...]


def model_shapes(
    model: nn.Module, source_ids: Tensor, target_ids: Tensor, *, num_heads: int
) -> dict[str, list[Shape]]:
    """Send one batch through a model and write down the shape of what passes.

    Args:
        model: Has the parts of Transformer, under their names; it is not changed.
        source_ids: Shape (batch, source position).
        target_ids: Shape (batch, target position).
        num_heads: Of every attention.

    Returns:
        For "source" and "target", the tensors from top to bottom; of the layers, the first.
    """
    seen: dict[str, list[tuple[int, ...]]] = {}

    def note(name: str, *, of_input: bool = False) -> Callable[..., None]:
        def hook(_: nn.Module, given: tuple, named: dict, out: Tensor) -> None:
            tensors = [*given, *named.values()]
            shapes = [tuple(each.shape) for each in (tensors[:2] if of_input else [out])]
            seen.setdefault(name, []).extend(shapes)

        return hook

    first, last = model.encoder.layers[0], model.decoder.layers[0]
    watched = {
        model.positions: note("embedded"),
        first.self_attention: note("source self-attention", of_input=True),
        last.self_attention: note("target self-attention", of_input=True),
        last.cross_attention: note("cross-attention", of_input=True),
        first.feed_forward.widen: note("source widened"),
        last.feed_forward.widen: note("target widened"),
        model.encoder: note("memory"),
        model.decoder: note("decoded"),
        model.output_projection: note("logits"),
    }
    hooks = [part.register_forward_hook(hook, with_kwargs=True) for part, hook in watched.items()]
    try:
        with evaluation_mode(model):
            model(source_ids, target_ids)
    finally:
        for hook in hooks:
            hook.remove()
    return _columns(seen, tuple(source_ids.shape), tuple(target_ids.shape), num_heads)


def _columns(
    seen: dict[str, list[tuple[int, ...]]],
    source: tuple[int, ...],
    target: tuple[int, ...],
    num_heads: int,
) -> dict[str, list[Shape]]:
    """Name the axes of what was seen."""

    def weights(name: str, words: str) -> Shape:
        (batch, query, _), (_, key, _) = seen[name]
        return Shape(words, (batch, num_heads, query, key), ("batch", "heads", "query", "key"))

    vector = partial(Shape, axes=("batch", "position", "d_model"))
    wide = partial(Shape, axes=("batch", "position", "d_ff"))
    ids = ("batch", "position")
    return {
        "source": [
            Shape("source ids", source, ids),
            vector("embedded", seen["embedded"][0]),
            weights("source self-attention", "source self-attention"),
            wide("feed-forward", seen["source widened"][0]),
            vector("memory", seen["memory"][0]),
        ],
        "target": [
            Shape("target ids", target, ids),
            vector("embedded", seen["embedded"][1]),
            weights("target self-attention", "target self-attention"),
            weights("cross-attention", "cross-attention"),
            wide("feed-forward", seen["target widened"][0]),
            vector("decoded", seen["decoded"][0]),
            Shape("logits", seen["logits"][0], ("batch", "position", "vocabulary")),
        ],
    }


@styled
def plot_model_shapes(
    model: nn.Module, source_ids: Tensor, target_ids: Tensor, *, num_heads: int
) -> Figure:
    """Draw every tensor of model_shapes as a sheet; what N layers repeat is framed.

    A sheet is as high and as wide as the logarithms of its last two axes; the heads are a pile.

    Args:
        model, source_ids, target_ids, num_heads: As for model_shapes.

    Returns:
        A new figure, its label set to its alternative text.
    """
    columns = model_shapes(model, source_ids, target_ids, num_heads=num_heads)
    longest = max(length for each in columns.values() for shape in each for length in shape.shape)
    height = HEAD + ROW * max(map(len, columns.values())) + FOOT
    figure = plt.figure(figsize=(WIDTH, height + TITLE), layout="none")
    axes = figure.add_axes((0, 0, 1, height / (height + TITLE)))
    axes.set(xlim=(0, WIDTH), ylim=(0, height), aspect="equal")
    axes.set_axis_off()
    logits = columns["target"][-1].shape
    title = f"From token ids to {logits[2]} logits at each of {logits[1]} target positions"
    axes.set_title(title, loc="left", x=0.01, parse_math=False)
    pen, drawn = Pen(axes, set()), {}
    for side, shapes in columns.items():
        depth = len({"source": model.encoder, "target": model.decoder}[side].layers)
        _draw_frame(pen, COLUMNS[side], height, len(shapes), side, depth)
        piles = [_Sheet(shape, longest) for shape in shapes]
        for row, pile in enumerate(piles):
            pile.move(COLUMNS[side], height - HEAD - ROW * (row + 0.5))
            pile.draw(pen)
        for above, below in zip(piles, piles[1:], strict=False):
            start = (COLUMNS[side], above.box.bottom - 0.02)
            pen.arrow(start, (COLUMNS[side], below.top + 0.03))
        drawn[side] = piles
    _draw_memory(pen, drawn["source"][-1], drawn["target"][3])
    note = "Sheets are on a logarithmic scale. Pink: attention weights, one sheet for each head."
    pen.words(note, 0.1, 0.25, strong=False, align="left")
    figure.set_label(_in_words(columns))
    return figure


def _in_words(columns: dict[str, list[Shape]]) -> str:
    """The drawing in words."""
    sides = [
        f"{side}: " + ", ".join(f"{WORDS[each.name]} {each.shape}" for each in shapes)
        for side, shapes in columns.items()
    ]
    words = "; ".join(sides).replace("\n", " ")
    return f"the tensors of one forward pass from top to bottom. {words}; the memory goes across"


class _Sheet:
    """One tensor: its last two axes as a sheet, once for each head."""

    def __init__(self, shape: Shape, longest: int) -> None:
        def side(length: int) -> float:
            return LONGEST_SIDE * math.log2(1 + length) / math.log2(1 + longest)

        rows, columns = shape.shape[-2:]
        if shape.axes[-1] == "position":  # ids: one number for each position
            rows, columns = columns, 1
        heads = dict(zip(shape.axes, shape.shape, strict=True)).get("heads", 1)
        self.shape, self.sheets = shape, min(heads, MOST_SHEETS)
        self.box = Box("", 0, 0, 1.6 * side(columns), side(rows))

    @property
    def top(self) -> float:
        return self.box.top + LIFT * (self.sheets - 1)

    def move(self, x: float, y: float) -> None:
        box = self.box
        self.box = replace(box, left=x - box.width / 2, bottom=y - box.height / 2)

    def draw(self, pen: Pen) -> None:
        """The sheets, what they are on the left, shape and axes on the right."""
        last = self.shape.axes[-1]
        fill = FILL.get(last, SCORES_FILL if last == "key" else WORDS_FILL)
        for number in reversed(range(self.sheets)):
            shift = LIFT * number
            sheet = replace(self.box, left=self.box.left + shift, bottom=self.box.bottom + shift)
            pen.rounded(sheet, False, fill=fill, layer=4 - number / 10)
        left, right, y = self.box.left - 0.12, self.box.x + 0.84, self.box.y
        up = 0.14 if self.shape.name == "cross-attention" else 0  # the memory comes in below
        pen.words(WORDS[self.shape.name], left, y + up, strong=False, align="right")
        pen.words(str(self.shape.shape), right, y + 0.1, strong=True, align="left")
        pen.words(", ".join(self.shape.axes), right, y - 0.1, strong=False, align="left")


def _draw_frame(pen: Pen, x: float, height: float, rows: int, side: str, depth: int) -> None:
    """Around the rows of one layer, with the number of layers."""
    end = rows - (2 if side == "target" else 1)
    top = height - HEAD - 2 * ROW
    bottom = height - HEAD - end * ROW
    pen.rounded(
        Box("", x - 1.92, bottom + 0.02, 4.9, top - bottom - 0.04),
        False,
        fill=QUIET_WASH,
        layer=1,
    )
    stack = "decoder" if side == "target" else "encoder"
    words = f"{stack}, {depth} layers"
    pen.words(words, x + 2.86, top - 0.15, strong=True, align="right")


def _draw_memory(pen: Pen, memory: _Sheet, user: _Sheet) -> None:
    """From the memory across to the cross-attention, between the two columns."""
    between = COLUMNS["target"] - 2.1
    start = (memory.box.x, memory.box.bottom - 0.02)
    low = memory.box.bottom - 0.2
    end = (user.box.left - 0.02, user.box.bottom + 0.05)
    pen.arrow(start, (start[0], low), (between, low), (between, end[1]), end, strong=True)
