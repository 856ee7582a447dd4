"""A slider over training: the attention map of a step, the loss, and how sharp the map is.

Draws what inspect/replay.py records. Used in notebooks/16_looking_inside.ipynb.
"""

import math
from collections.abc import Sequence

import ipywidgets as widgets
import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from transformer_edu.teaching.display import explore
from transformer_edu.teaching.figures.grid import KEY_AXIS, QUERY_AXIS, draw_weights
from transformer_edu.teaching.inspect.attention_maps import AttentionMap
from transformer_edu.teaching.inspect.replay import TrainingReplay, sharpness, uniform_sharpness
from transformer_edu.teaching.style import BLACK, BLUE, VERMILION, styled

ALL_HEADS = 0  # in place of a head's number: the mean of them all
REFERENCE = "#8A8F98"  # there to compare with: 3 : 1 on white
SMALL = 11.5  # points, of what stands above a panel
SIZE = (9.5, 4.4)  # inches
# Left, bottom, width and height of map, color bar and the two curves, in parts of SIZE; then where
# names stand, in parts of a panel. Matplotlib's own layout takes longer than the drawing.
PLACES = (
    (0.1, 0.23, 0.38, 0.6),
    (0.495, 0.23, 0.015, 0.6),
    (0.64, 0.56, 0.35, 0.27),
    (0.64, 0.15, 0.35, 0.27),
)
ABOVE, BELOW, BESIDE = 1.03, -0.28, 3.4
MOST_BATCHES = 500  # whose loss is drawn; of longer runs that of every second, third …


@styled
def plot_training(replay: TrainingReplay, *, step: int, layer: int, head: int) -> Figure:
    """Draw one recorded step: the map on the left, where training stands on the right.

    Above are the losses: of every batch in gray, where the run is known, and of the pair. Below
    is the largest weight of a query, on average, and what it would be if attention were uniform.

    Args:
        replay: With at least one moment.
        step: One of the steps recorded.
        layer: Which of the layers recorded, counted from 1.
        head: Counted from 1; 0 is the mean of them all.

    Returns:
        A new figure.
    """
    place = _place(replay, step)
    share = _sharpness(replay, layer, head)[place]
    figure = plt.figure(figsize=SIZE, layout="none")
    grid, scale, above, below = map(figure.add_axes, PLACES)
    _draw_map(grid, scale, replay.moments[place].maps[layer - 1], head)
    _draw_losses(above, replay, place)
    _draw_sharpness(below, replay, place, layer, head)
    for inner in (scale, above):
        inner.set_in_layout(False)  # the others reach further: less to measure when saved
    figure.suptitle(_title(step, share, head), x=0.01, ha="left", fontsize=14)
    return figure


def describe_training(replay: TrainingReplay, *, step: int, layer: int, head: int) -> str:
    """The same in words: the numbers of the step, and each token's largest weight.

    Args:
        replay, step, layer, head: As for plot_training.
    """
    place = _place(replay, step)
    moment = replay.moments[place]
    shown = moment.maps[layer - 1]
    largest = [
        f"{query} to {shown.keys.tokens[int(row.argmax())]}"
        for query, row in zip(shown.queries.tokens, _weights(shown, head), strict=True)
    ]
    numbers = f"loss of the pair {moment.loss:.2f}"
    evaluated = [each for each in replay.run.evaluations if each.step <= step]
    if evaluated:
        numbers += f", exact match {evaluated[-1].exact_match:.0%} at step {evaluated[-1].step}"
    return (
        f"{_name(shown)}, {_heads(head)}. "
        f"{_title(step, _sharpness(replay, layer, head)[place], head)}; {numbers}. "
        f"Largest weights: {', '.join(largest)}"
    )


def explore_training(replay: TrainingReplay, *, step: int, layer: int, head: int) -> None:
    """Let the reader go through the training of a model and see its attention change.

    Args:
        replay: With at least two moments.
        step: The step of the first picture, one of those recorded.
        layer: The layer of the first picture: which of those recorded, counted from 1.
        head: The head of the first picture, counted from 1; 0 is the mean of them all.
    """

    def draw(step: int, layer: int = layer, head: int = head) -> Figure:
        return plot_training(replay, step=step, layer=layer, head=head)

    def describe(step: int, layer: int = layer, head: int = head) -> str:
        return describe_training(replay, step=step, layer=layer, head=head)

    maps = replay.moments[0].maps
    layers = [(_short_name(each), number) for number, each in enumerate(maps, start=1)]
    heads = len(maps[0].weights)
    controls = {"step": _slider("training step", [each.step for each in replay.moments], step)}
    if len(layers) > 1:  # a slider with one value would only confuse
        controls["layer"] = _slider("attention, layer", layers, layer)
    if heads > 1:
        controls["head"] = widgets.IntSlider(
            value=head, min=0, max=heads, description="head (0: mean of all)"
        )
    explore(draw, describe, **controls)


def _slider(description: str, options: Sequence, value: int) -> widgets.SelectionSlider:
    return widgets.SelectionSlider(options=options, value=value, description=description)


def _draw_map(grid: Axes, scale: Axes, shown: AttentionMap, head: int) -> None:
    """The map with its color bar."""
    weights = torch.from_numpy(_weights(shown, head))
    image = draw_weights(grid, weights, shown.queries.tokens, shown.keys.tokens, numbered=False)
    grid.set(xlabel=KEY_AXIS, ylabel=QUERY_AXIS, aspect="auto")
    grid.set_title(_name(shown), fontsize=SMALL, y=ABOVE)
    grid.figure.colorbar(image, cax=scale, label="attention weight", ticks=[0, 1])
    scale.yaxis.set_label_coords(BESIDE, 0.5)


def _draw_losses(axes: Axes, replay: TrainingReplay, place: int) -> None:
    """The pair's loss at every moment, over that of the batches where it is known."""
    batches = replay.run.steps[:: math.ceil(len(replay.run.steps) / MOST_BATCHES) or 1]
    if batches:
        steps, losses = [each.step for each in batches], [each.loss for each in batches]
        axes.plot(steps, losses, color=REFERENCE, lw=1, marker="")
        text = axes.text(1, 0.97, "gray: training batches", transform=axes.transAxes)
        text.set(ha="right", va="top", fontsize=SMALL, backgroundcolor="white")
        text.get_bbox_patch().set_boxstyle("square", pad=0.05)
    _draw_curve(axes, replay, [moment.loss for moment in replay.moments], place)
    axes.set_ylim(bottom=0)
    axes.locator_params(nbins=3)
    axes.tick_params(labelbottom=False)
    loss = replay.moments[place].loss
    axes.set_title(f"loss of this pair (nats per token): {loss:.2f}", fontsize=SMALL, y=ABOVE)


def _draw_sharpness(axes: Axes, replay: TrainingReplay, place: int, layer: int, head: int) -> None:
    """The mean largest weight at every moment, and its value for uniform attention."""
    shares = _sharpness(replay, layer, head)
    even = uniform_sharpness([moment.maps[layer - 1].weights for moment in replay.moments])
    axes.axhline(even, color=BLACK, linestyle=":", lw=1.5, marker="")
    is_high = even > 0.25  # then there is room below
    words = {"ha": "right", "va": "top" if is_high else "bottom", "fontsize": SMALL}
    place_of_words = (1, even - 0.04 if is_high else even + 0.03)
    axes.text(*place_of_words, "if uniform", transform=axes.get_yaxis_transform(), **words)
    _draw_curve(axes, replay, shares, place)
    axes.set(ylim=(0, 1.05), yticks=[0, 0.5, 1], xlabel="training step")
    axes.locator_params(axis="x", nbins=4)
    axes.xaxis.set_label_coords(0.5, BELOW)
    axes.set_title(f"largest weight, on average: {shares[place]:.2f}", fontsize=SMALL, y=ABOVE)


def _draw_curve(axes: Axes, replay: TrainingReplay, values: Sequence[float], place: int) -> None:
    """A value at every moment, the one shown marked."""
    steps = [moment.step for moment in replay.moments]
    axes.plot(steps, values, color=BLUE, marker=".")
    axes.axvline(steps[place], color=VERMILION, lw=1, marker="")
    axes.plot(steps[place], values[place], "D", color=VERMILION, markersize=9, clip_on=False)
    known = replay.run.steps
    ends = [*steps, *(each.step for each in (*known[:1], *known[-1:]))]
    room = 0.03 * (max(ends) - min(ends)) or 1
    axes.set_xlim(min(ends) - room, max(ends) + room)  # the same in both panels


def _title(step: int, share: float, head: int) -> str:
    """What the reader should see, as a sentence."""
    return f"After {step} steps the largest weight of {_heads(head)} is {share:.0%} on average"


def _heads(head: int) -> str:
    return "the mean of all heads" if head == ALL_HEADS else f"head {head}"


def _name(shown: AttentionMap) -> str:
    return f"{shown.kind}, layer {shown.layer}"


def _short_name(shown: AttentionMap) -> str:
    """For a slider, which has room for two words: encoder, decoder or cross, and the layer."""
    return f"{shown.kind.replace('-', ' ').split()[0].lower()} {shown.layer}"


def _weights(shown: AttentionMap, head: int) -> np.ndarray:
    """One head of a layer, or the mean of its heads, (query, key)."""
    return shown.weights.mean(axis=0) if head == ALL_HEADS else shown.weights[head - 1]


def _sharpness(replay: TrainingReplay, layer: int, head: int) -> list[float]:
    return [sharpness(_weights(moment.maps[layer - 1], head)) for moment in replay.moments]


def _place(replay: TrainingReplay, step: int) -> int:
    """The place of a step among those recorded."""
    return [moment.step for moment in replay.moments].index(step)
