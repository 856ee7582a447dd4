"""Where a layer puts its norms: Post-LN and Pre-LN."""

from itertools import pairwise

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from transformer_course.drawing.course_map import SUBLAYERS
from transformer_course.drawing.pen import Box, Pen
from transformer_course.drawing.style import BLUE, styled, title_above
from transformer_edu.model.encoder import EncoderLayer

PANEL_WIDTH, BLOCK, FOOT, TOP = 4.1, 2.0, 0.35, 0.4  # inches: the drawing's own unit
STREAM, BRANCH = 1.0, 2.95  # where the residual path and the sub-layers stand
BRANCH_WIDTH, NORM_WIDTH, BRANCH_HEIGHT, PLUS = 1.6, 0.8, 0.32, 0.14
BRANCH_FORK = 0.07  # above a block's foot, where the branch leaves the stream


@styled
def plot_layer_order(*layers: EncoderLayer, title: str) -> Figure:
    """Draw where each layer puts its norms: the residual stream upwards, sub-layers as branches.

    Args:
        layers: The layers, one panel each.
        title: What the reader should see, as a sentence.

    Returns:
        A new figure.
    """
    height = FOOT + BLOCK * len(SUBLAYERS["encoder"]) + TOP
    figure, row = plt.subplots(
        1, len(layers), figsize=(PANEL_WIDTH * len(layers), height + 0.8), squeeze=False
    )
    for axes, layer in zip(row[0], layers, strict=True):
        axes.set(xlim=(0, PANEL_WIDTH), ylim=(0, height), aspect="equal")
        axes.set_axis_off()
        switches = [layer.around_self_attention.norm_first, layer.around_feed_forward.norm_first]
        _draw_order(axes, switches)
        name = "pre-norm" if all(switches) else "post-norm, the paper's"
        axes.set_title(f"norm_first={switches[0]}: {name}", fontsize=13)
    title_above(figure, title)
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


def _draw_order(axes: Axes, switches: list[bool]) -> None:
    """The blocks, bottom to top, and the stream through all of them."""
    pen = Pen(axes, {"norm", "stream"})
    pen.words("x", STREAM, FOOT - 0.2, strong=True)
    stops = [(STREAM, FOOT - 0.1)]
    for number, norm_first in enumerate(switches):
        sublayer = SUBLAYERS["encoder"][number]
        stops += _draw_block(pen, sublayer, norm_first, FOOT + number * BLOCK)
    stops.append((STREAM, FOOT + BLOCK * len(SUBLAYERS["encoder"]) + 0.12))
    pen.arrow(*stops, strong=True)
    pen.words("out", STREAM, stops[-1][1] + 0.14, strong=True)


def _draw_block(
    pen: Pen, sublayer: str, norm_first: bool, foot: float
) -> list[tuple[float, float]]:
    """One Add & Norm around its sub-layer; returns the points where the stream passes."""
    labels = [sublayer, "Dropout"]
    if norm_first:
        labels.insert(0, "Norm")
    boxes = []
    for number, label in enumerate(labels):
        width = NORM_WIDTH if label == "Norm" else BRANCH_WIDTH
        components = ("norm",) if label == "Norm" else ()
        bottom = foot + 0.22 + number * 0.5
        boxes.append(Box(label, BRANCH - width / 2, bottom, width, BRANCH_HEIGHT, components))
    plus = boxes[-1].y
    fork = foot + BRANCH_FORK
    pen.arrow((STREAM, fork), (BRANCH, fork), (BRANCH, boxes[0].bottom))
    for lower, upper in pairwise(boxes):
        pen.arrow((lower.x, lower.top), (upper.x, upper.bottom))
    pen.arrow((boxes[-1].left, plus), (STREAM + PLUS, plus))
    _draw_plus(pen.axes, plus)
    if not norm_first:
        bottom = plus + PLUS + 0.13
        left = STREAM - NORM_WIDTH / 2
        boxes.append(Box("Norm", left, bottom, NORM_WIDTH, BRANCH_HEIGHT, ("norm",)))
    for box in boxes:
        pen.box(box)
    return [(STREAM, plus)]


def _draw_plus(axes: Axes, y: float) -> None:
    """The plus sign where a branch is added to the stream."""
    axes.add_patch(Circle((STREAM, y), PLUS, facecolor="white", edgecolor=BLUE, lw=2, zorder=4))
    for across, up in ((PLUS * 0.6, 0), (0, PLUS * 0.6)):
        ends = [STREAM - across, STREAM + across], [y - up, y + up]
        axes.plot(*ends, color=BLUE, marker="", linewidth=2, zorder=5)
