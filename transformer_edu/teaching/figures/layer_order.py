"""Where the residual connection runs and where the norms stand: a layer as a stream with branches.

Met in notebooks/06_feed_forward_add_and_norm.ipynb.
"""

from itertools import pairwise

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from transformer_edu.model.encoder import EncoderLayer
from transformer_edu.teaching.figures.pen import Box, Pen
from transformer_edu.teaching.style import BLUE, styled

SUBLAYERS = ("Self-attention", "Feed-forward")
WIDTH, BLOCK, FOOT, HEAD = 4.1, 2.0, 0.35, 0.4  # inches: the drawing's own unit
STREAM, BRANCH = 1.0, 2.95  # where the residual path and the sub-layers stand
BRANCH_WIDTH, NORM_WIDTH, HEIGHT, SIGN = 1.6, 0.8, 0.32, 0.14
FORK = 0.12  # above a block's foot, where the branch leaves the stream


@styled
def plot_layer_order(*layers: EncoderLayer, title: str) -> Figure:
    """Draw each layer from its own switch norm_first: the stream upwards, sub-layers as branches.

    Args:
        layers: The layers, one panel each.
        title: What the reader should see, as a sentence.

    Returns:
        A new figure.
    """
    height = FOOT + BLOCK * len(SUBLAYERS) + HEAD
    figure, row = plt.subplots(
        1, len(layers), figsize=(WIDTH * len(layers), height + 0.8), squeeze=False
    )
    for axes, layer in zip(row[0], layers, strict=True):
        axes.set(xlim=(0, WIDTH), ylim=(0, height), aspect="equal")
        axes.set_axis_off()
        switches = [layer.around_self_attention.norm_first, layer.around_feed_forward.norm_first]
        _draw_layer(axes, switches)
        name = "pre-norm" if all(switches) else "post-norm, the paper's"
        axes.set_title(f"norm_first={switches[0]}: {name}", fontsize=13)
    figure.suptitle(title, fontsize=14, x=0.01, ha="left")
    return figure


def describe_layer_order(layer: EncoderLayer) -> str:
    """The drawing of one layer in words, for its alternative text."""
    if layer.around_self_attention.norm_first:
        return (
            "norm_first=True: the stream runs straight up through two plus signs; each branch "
            "goes through norm, sub-layer and dropout before it is added"
        )
    return (
        "norm_first=False: each branch goes through sub-layer and dropout and is added to the "
        "stream; after each plus sign a norm stands on the stream itself"
    )


def _draw_layer(axes: Axes, switches: list[bool]) -> None:
    """The blocks, bottom to top, and the stream through all of them."""
    pen = Pen(axes, {"norm", "stream"})
    pen.words("x", STREAM, FOOT - 0.2, strong=True)
    stops = [(STREAM, FOOT - 0.1)]
    for number, (sublayer, norm_first) in enumerate(zip(SUBLAYERS, switches, strict=True)):
        foot = FOOT + number * BLOCK
        stops += _draw_block(pen, sublayer, norm_first, foot)
    stops.append((STREAM, FOOT + BLOCK * len(SUBLAYERS) + 0.12))
    pen.arrow(*stops, strong=True)
    pen.words("out", STREAM, stops[-1][1] + 0.14, strong=True)


def _draw_block(
    pen: Pen, sublayer: str, norm_first: bool, foot: float
) -> list[tuple[float, float]]:
    """One Add & Norm around its sub-layer; returns the points where the stream passes."""
    labels = [sublayer, "Dropout"]
    if norm_first:
        labels.insert(0, "Norm")
    step = 0.5
    boxes = []
    for number, label in enumerate(labels):
        width = NORM_WIDTH if label == "Norm" else BRANCH_WIDTH
        components = ("norm",) if label == "Norm" else ()
        bottom = foot + 0.22 + number * step
        boxes.append(Box(label, BRANCH - width / 2, bottom, width, HEIGHT, components))
    plus = boxes[-1].y
    fork = foot + FORK - 0.05
    pen.arrow((STREAM, fork), (BRANCH, fork), (BRANCH, boxes[0].bottom))
    for lower, upper in pairwise(boxes):
        pen.arrow((lower.x, lower.top), (upper.x, upper.bottom))
    pen.arrow((boxes[-1].left, plus), (STREAM + SIGN, plus))
    _draw_plus(pen.axes, plus)
    if not norm_first:
        bottom = plus + SIGN + 0.13
        boxes.append(Box("Norm", STREAM - NORM_WIDTH / 2, bottom, NORM_WIDTH, HEIGHT, ("norm",)))
    for box in boxes:
        pen.box(box)
    return [(STREAM, plus)]


def _draw_plus(axes: Axes, y: float) -> None:
    """The sign where a branch is added to the stream."""
    axes.add_patch(Circle((STREAM, y), SIGN, facecolor="white", edgecolor=BLUE, lw=2, zorder=4))
    for across, up in ((SIGN * 0.6, 0), (0, SIGN * 0.6)):
        axes.plot(
            [STREAM - across, STREAM + across],
            [y - up, y + up],
            color=BLUE,
            marker="",
            linewidth=2,
            zorder=5,
        )
