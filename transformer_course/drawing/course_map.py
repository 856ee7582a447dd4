"""The map of the Transformer (paper Figure 1).

The map stands at the top of every lesson. Tokens go down the two outer columns and up through the
two stacks; the memory crosses from the encoder to the decoder. A white square of a mask is hidden.
"""

from collections.abc import Sequence
from itertools import pairwise

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from transformer_course.drawing.display import show
from transformer_course.drawing.pen import MASKS, QUIET, QUIET_WASH, STRONG_WASH, Box, Pen
from transformer_course.drawing.style import styled

COMPONENTS = (
    "tokens",
    "token embedding",
    "positional encoding",
    "self-attention",
    "masked self-attention",
    "cross-attention",
    "attention",  # all three
    "heads",
    "padding mask",
    "causal mask",
    "add & norm",
    "residual connection",
    "feed-forward",
    "encoder",
    "memory",
    "decoder",
    "output projection",
    "softmax",
    "transformer",  # everything
)

SUBLAYERS = {
    "encoder": ("Self-attention", "Feed-forward"),
    "decoder": ("Masked\nself-attention", "Cross-attention", "Feed-forward"),
}

WIDTH, HEIGHT, TITLE_HEIGHT = 7.4, 4.36, 0.4  # inches: the drawing's own unit is the inch
TITLE_SIZE = 14
SIDE_WIDTH, SOURCE_LEFT, TARGET_LEFT = 1.26, 0.03, 6.11
LAYER_WIDTH, ENCODER_LEFT, DECODER_LEFT = 1.72, 1.67, 4.0
FRAME_BOTTOM, STACK_BOTTOM, WAY_IN, HEADROOM = 0.5, 0.84, 0.29, 0.36
MARGIN, LANE = 0.13, 0.17  # inside a layer's frame; where a residual connection passes
GAP, FORK = 0.25, 0.14  # below a sub-layer; how far below it the residual connection leaves
LEGEND_TOP, LEGEND_STEP, LEGEND_TEXT = 3.8, 0.3, 0.36


@styled
def plot_architecture(highlight: str | Sequence[str] = (), *, title: str | None = None) -> Figure:
    """Draw the whole model with some of its components in a strong color and bold.

    Args:
        highlight: One of COMPONENTS, or several.
        title: What the reader should see, drawn as it is written.

    Returns:
        A new figure.

    Raises:
        ValueError: If highlight names a component that the map does not have.
    """
    pen = Pen(_axes(title), _require_components(highlight))
    pen.axes.set(xlim=(0, WIDTH), ylim=(0, HEIGHT), aspect="equal")
    pen.axes.set_axis_off()
    if title is not None:
        pen.axes.set_title(title, fontsize=TITLE_SIZE, loc="left", x=0.005, parse_math=False)
    draw_map(pen)
    return pen.axes.figure


def show_map(highlight: str | Sequence[str] = (), *, title: str) -> None:
    """Show where a lesson is on the map, with what the map says in words.

    Args:
        highlight: One of COMPONENTS, or several.
        title: What the reader should see.
    """
    show(plot_architecture(highlight, title=title), describe_architecture(highlight))


def draw_map(pen: Pen) -> None:
    """Draw everything but the title with a pen, on paper of WIDTH and HEIGHT."""
    encoder = _draw_layer(pen, "encoder", ENCODER_LEFT)
    decoder = _draw_layer(pen, "decoder", DECODER_LEFT)
    _draw_way_in(pen, "Source\ntokens", SOURCE_LEFT, encoder)
    _draw_way_in(pen, "Target tokens\n(shifted right)", TARGET_LEFT, decoder)
    _draw_memory(pen, encoder, decoder)
    _draw_way_out(pen, decoder)
    _draw_legend(pen)


def describe_architecture(highlight: str | Sequence[str] = ()) -> str:
    """The map in words, for its alternative text; takes and refuses what plot_architecture does."""
    names = _require_components(highlight)
    marked = ", ".join(name for name in COMPONENTS if name in names) or "nothing"
    way_in = "token embedding × √d_model, positional encoding"
    return (
        f"Map of the Transformer. Left: source tokens, {way_in}, then N encoder layers of "
        "self-attention, Add & Norm, feed-forward, Add & Norm, which write the memory. Right: "
        f"target tokens (shifted right), {way_in}, then N decoder layers of masked "
        "self-attention, Add & Norm, cross-attention to the memory, Add & Norm, feed-forward, "
        "Add & Norm; output projection and softmax give the next token. A residual connection "
        f"goes round every sub-layer. Highlighted: {marked}."
    )


def _require_components(highlight: str | Sequence[str]) -> set[str]:
    names = (highlight,) if isinstance(highlight, str) else highlight
    for name in names:
        if name not in COMPONENTS:
            known = ", ".join(COMPONENTS)
            raise ValueError(
                f"highlight must be a component of the map, got {name!r}; it has {known}"
            )
    return set(names)


def _axes(title: str | None) -> Axes:
    height = HEIGHT if title is None else HEIGHT + TITLE_HEIGHT
    figure = plt.figure(figsize=(WIDTH, height), layout="none")
    return figure.add_axes((0, 0, 1, HEIGHT / height))


def _draw_layer(pen: Pen, stack: str, left: float) -> list[Box]:
    """One layer, bottom to top, and its frame; residual connections pass on the outer side."""
    boxes, bottom = [], STACK_BOTTOM
    for label in SUBLAYERS[stack]:
        component = label.replace("\n", " ").lower()
        kinds = (component, "attention") if component in MASKS else (component,)
        height = 0.28 + 0.19 * label.count("\n")
        boxes.append(Box(label, left, bottom, LAYER_WIDTH, height, (*kinds, stack)))
        bottom += height + (0.2 if component in MASKS else 0.14)  # a pile of heads is higher
        boxes.append(Box("Add & Norm", left, bottom, LAYER_WIDTH, 0.25, ("add & norm", stack)))
        bottom += 0.25 + GAP
    outward, edge = (-1, left) if stack == "encoder" else (1, left + LAYER_WIDTH)
    _draw_frame(pen, stack, boxes, left=min(left, left + outward * LANE) - MARGIN)
    for lower, upper in pairwise(boxes):
        pen.arrow((lower.x, lower.top), (upper.x, upper.bottom))
    strong, lane = pen.is_strong("residual connection", stack), edge + outward * LANE
    for sublayer, norm in zip(boxes[::2], boxes[1::2], strict=True):
        fork = sublayer.bottom - FORK
        pen.arrow((norm.x, fork), (lane, fork), (lane, norm.y), (edge, norm.y), strong=strong)
    for box in boxes:
        pen.box(box)
    return boxes


def _draw_frame(pen: Pen, stack: str, boxes: list[Box], *, left: float) -> None:
    """What is repeated N times; its two words leave room for the arrow between them."""
    strong = pen.is_strong(stack)
    height = boxes[-1].top + HEADROOM - FRAME_BOTTOM
    frame = Box("", left, FRAME_BOTTOM, LAYER_WIDTH + LANE + 2 * MARGIN, height)
    pen.rounded(frame, strong, fill=STRONG_WASH if strong else QUIET_WASH, layer=1)
    y = frame.top - HEADROOM / 2
    pen.words(stack.capitalize(), boxes[0].left, y, strong=strong, align="left")
    pen.words("N layers", boxes[0].right, y, strong=strong, align="right")


def _draw_way_in(pen: Pen, tokens: str, left: float, stack: list[Box]) -> None:
    """An outer column, top to bottom: tokens, their vectors, their positions; then the stack."""
    rows = (
        (tokens, 1.74, "tokens"),
        ("Token\nembedding\n× √d_model", 0.89, "token embedding"),
        ("+ Positional\nencoding", 0.07, "positional encoding"),
    )
    boxes = [
        Box(label, left, bottom, SIDE_WIDTH, 0.25 + 0.19 * label.count("\n"), (name,))
        for label, bottom, name in rows
    ]
    for box in boxes:
        pen.box(box)
    for upper, lower in pairwise(boxes):
        pen.arrow((upper.x, upper.bottom), (lower.x, lower.top))
    first = stack[0]
    edge = boxes[-1].right if left < first.left else left
    pen.arrow((edge, WAY_IN), (first.x, WAY_IN), (first.x, first.bottom))


def _draw_memory(pen: Pen, encoder: list[Box], decoder: list[Box]) -> None:
    """Out of the encoder, over, and into every decoder layer's cross-attention."""
    last, cross_attention = encoder[-1], decoder[2]
    bottom = last.top + HEADROOM + 0.24
    memory = Box("Memory", last.left, bottom, LAYER_WIDTH, 0.28, ("memory",))
    between = (memory.right + cross_attention.left) / 2
    strong = pen.is_strong("memory")
    pen.arrow((last.x, last.top), (memory.x, memory.bottom), strong=strong)
    pen.arrow(
        (memory.right, memory.y),
        (between, memory.y),
        (between, cross_attention.y),
        (cross_attention.left, cross_attention.y),
        strong=strong,
    )
    pen.box(memory)


def _draw_way_out(pen: Pen, decoder: list[Box]) -> None:
    """Out of the decoder, up and over: a score for every token, then probabilities."""
    last = decoder[-1]
    projection = Box(
        "Output\nprojection", TARGET_LEFT, 3.44, SIDE_WIDTH, 0.44, ("output projection",)
    )
    softmax = Box("Softmax", TARGET_LEFT, 2.94, SIDE_WIDTH, 0.25, ("softmax",))
    above = last.top + HEADROOM + 0.12
    pen.arrow(
        (last.x, last.top), (last.x, above), (projection.x, above), (softmax.x, projection.top)
    )
    pen.arrow((projection.x, projection.bottom), (softmax.x, softmax.top))
    pen.arrow((softmax.x, softmax.bottom), (softmax.x, softmax.bottom - 0.17))
    pen.words("next token", softmax.x, softmax.bottom - 0.28, strong=False)
    for box in (projection, softmax):
        pen.box(box)


def _draw_legend(pen: Pen) -> None:
    """The small signs in words, in the free corner."""
    rows = ("padding mask", "causal mask", "heads", "residual\nconnection")
    for row, label in enumerate(rows):
        y = LEGEND_TOP - LEGEND_STEP * row - 0.095 * label.count("\n")
        strong = pen.is_strong(label.replace("\n", " "))
        pen.words(label, LEGEND_TEXT, y, strong=strong, align="left")
        if label.endswith("mask"):
            pen.mask(label, SOURCE_LEFT, y)
        elif label == "heads":
            sheet = Box("", SOURCE_LEFT, y - 0.1, 0.17, 0.12)
            pen.pile(sheet)
            pen.rounded(sheet, strong, fill=QUIET, layer=3)
        else:
            pen.arrow((0.05, y - 0.12), (0.05, y + 0.08), (0.29, y + 0.08), strong=strong)
