"""A slider over training: the attention map of a step, the loss, and how sharp the map is.

Draws what training_replay.py records. Used in notebooks/15_looking_inside.ipynb.
"""

import math
from collections.abc import Sequence

import ipywidgets as widgets
import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from transformer_edu.refusals import require_whole
from transformer_edu.teaching.display import explore
from transformer_edu.teaching.figures.grid import KEY_AXIS, QUERY_AXIS, draw_weights
from transformer_edu.teaching.inspect.attention_maps import AttentionMap
from transformer_edu.teaching.inspect.replay import TrainingReplay, even_share, sharpness
from transformer_edu.teaching.style import BLACK, BLUE, VERMILION, styled

ALL_HEADS = 0  # in place of a head's number: the mean of them all
REFERENCE = "#8A8F98"  # there to compare with: 3 : 1 on white
SMALL = 11.5  # points, of what stands above a panel
SIZE = (9.5, 4.4)  # inches
# Left, bottom, width and height of map, color bar and the two curves, in parts of SIZE; then where
# names stand, in parts of a panel. To let matplotlib find them takes longer than to draw it all.
PLACES = (
    (0.1, 0.23, 0.38, 0.6),
    (0.495, 0.23, 0.015, 0.6),
    (0.64, 0.56, 0.35, 0.27),
    (0.64, 0.15, 0.35, 0.27),
)
ABOVE, BELOW, BESIDE = 1.03, -0.28, 3.4
MOST_BATCHES = 500  # whose loss is drawn; of longer runs that of every second, third …


@styled
def plot_training(
    replay: TrainingReplay, *, step: int, layer: int = 1, head: int = ALL_HEADS
) -> Figure:
    """Draw one kept step: the map on the left, where training stands on the right.

    Above are the losses: of every batch in grey, where the run is known, and of the pair. Below
    is the largest share of its attention that a token gives to one other, and what that would be if
    attention were spread evenly.

    Args:
        replay: With at least one moment.
        step: One of the steps kept.
        layer: Which of the layers kept, counted from 1.
        head: Counted from 1; 0 is the mean of them all.

    Returns:
        A new figure.

    Raises:
        TypeError, ValueError: If there is no such step, layer or head.
    """
    place = _place(replay, step, layer, head)
    share = _shares(replay, layer, head)[place]
    figure = plt.figure(figsize=SIZE, layout="none")
    grid, scale, above, below = map(figure.add_axes, PLACES)
    _draw_map(grid, scale, replay.moments[place].maps[layer - 1], head)
    _draw_losses(above, replay, place)
    _draw_shares(below, replay, place, layer, head)
    for inner in (scale, above):
        inner.set_in_layout(False)  # the others reach further: less to measure when saved
    figure.suptitle(_title(step, share, head), x=0.01, ha="left", fontsize=14)
    return figure


def describe_training(
    replay: TrainingReplay, *, step: int, layer: int = 1, head: int = ALL_HEADS
) -> str:
    """The same in words: the numbers of the step, and each token's largest weight.

    Args:
        replay, step, layer, head: As for plot_training.

    Raises:
        TypeError, ValueError: As for plot_training.
    """
    place = _place(replay, step, layer, head)
    moment = replay.moments[place]
    shown = moment.maps[layer - 1]
    looks = [
        f"{query} at {shown.keys.tokens[int(row.argmax())]}"
        for query, row in zip(shown.queries.tokens, _weights(shown, head), strict=True)
    ]
    numbers = f"loss of the pair {moment.loss:.2f}"
    judged = [each for each in replay.run.evaluations if each.step <= step]
    if judged:
        numbers += f", exact match {judged[-1].exact_match:.0%} at step {judged[-1].step}"
    return (
        f"{_name(shown)}, {_who(head)}. "
        f"{_title(step, _shares(replay, layer, head)[place], head)}; {numbers}. "
        f"Most attention of {', '.join(looks)}"
    )


def explore_training(
    replay: TrainingReplay, *, step: int | None = None, layer: int = 1, head: int = ALL_HEADS
) -> None:
    """Let the reader go through the training of a model and watch its attention settle.

    Args:
        replay: With at least two moments.
        step: The step of the first picture, one of those kept; the last when None.
        layer: The layer of the first picture: which of those kept, counted from 1.
        head: The head of the first picture, counted from 1; 0 is the mean of them all.

    Raises:
        TypeError, ValueError: If there are fewer moments, or no such step, layer or head.
    """
    _require_moments(replay, at_least=2)
    step = replay.moments[-1].step if step is None else step
    _place(replay, step, layer, head)

    def draw(step: int, layer: int = layer, head: int = head) -> Figure:
        return plot_training(replay, step=step, layer=layer, head=head)

    def describe(step: int, layer: int = layer, head: int = head) -> str:
        return describe_training(replay, step=step, layer=layer, head=head)

    maps = replay.moments[0].maps
    layers = [(_short_name(each), number) for number, each in enumerate(maps, start=1)]
    heads = len(maps[0].weights)
    controls = {"step": _slider("training step", [each.step for each in replay.moments], step)}
    if len(layers) > 1:  # a slider that cannot move would be a riddle
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
        text = axes.text(1, 0.97, "grey: the batches learned from", transform=axes.transAxes)
        text.set(ha="right", va="top", fontsize=SMALL, backgroundcolor="white")
        text.get_bbox_patch().set_boxstyle("square", pad=0.05)
    _draw_curve(axes, replay, [moment.loss for moment in replay.moments], place)
    axes.set_ylim(bottom=0)
    axes.locator_params(nbins=3)
    axes.tick_params(labelbottom=False)
    loss = replay.moments[place].loss
    axes.set_title(f"loss of this pair (nats per token): {loss:.2f}", fontsize=SMALL, y=ABOVE)


def _draw_shares(axes: Axes, replay: TrainingReplay, place: int, layer: int, head: int) -> None:
    """The largest share at every moment, and its value for even attention."""
    shares = _shares(replay, layer, head)
    even = even_share([moment.maps[layer - 1].weights for moment in replay.moments])
    axes.axhline(even, color=BLACK, linestyle=":", lw=1.5, marker="")
    is_high = even > 0.25  # then there is room below
    words = {"ha": "right", "va": "top" if is_high else "bottom", "fontsize": SMALL}
    place_of_words = (1, even - 0.04 if is_high else even + 0.03)
    axes.text(*place_of_words, "if spread evenly", transform=axes.get_yaxis_transform(), **words)
    _draw_curve(axes, replay, shares, place)
    axes.set(ylim=(0, 1.05), yticks=[0, 0.5, 1], xlabel="training step")
    axes.locator_params(axis="x", nbins=4)
    axes.xaxis.set_label_coords(0.5, BELOW)
    axes.set_title(f"share of the favourite: {shares[place]:.2f}", fontsize=SMALL, y=ABOVE)


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
    who = "all heads together give" if head == ALL_HEADS else f"head {head} gives"
    return f"After {step} steps {who} {share:.0%} of a token's attention to its favourite"


def _who(head: int) -> str:
    return "mean of all heads" if head == ALL_HEADS else f"head {head}"


def _name(shown: AttentionMap) -> str:
    return f"{shown.kind}, layer {shown.layer}"


def _short_name(shown: AttentionMap) -> str:
    """For a slider, which has room for two words: encoder, decoder or cross, and the layer."""
    return f"{shown.kind.replace('-', ' ').split()[0].lower()} {shown.layer}"


def _weights(shown: AttentionMap, head: int) -> np.ndarray:
    """One head of a layer, or the mean of its heads, (query, key)."""
    return shown.weights.mean(axis=0) if head == ALL_HEADS else shown.weights[head - 1]


def _shares(replay: TrainingReplay, layer: int, head: int) -> list[float]:
    return [sharpness(_weights(moment.maps[layer - 1], head)) for moment in replay.moments]


def _place(replay: TrainingReplay, step: int, layer: int, head: int) -> int:
    """The place of a step among those kept; a step, layer or head that is not there is refused."""
    _require_moments(replay, at_least=1)
    require_whole("step", step, minimum=0)
    require_whole("layer", layer)
    require_whole("head", head, minimum=0)
    maps = replay.moments[0].maps
    for name, value, most in (("layer", layer, len(maps)), ("head", head, len(maps[0].weights))):
        if value > most:
            raise ValueError(f"{name} must be at most {most}, got {value}")
    steps = [moment.step for moment in replay.moments]
    if step not in steps:
        raise ValueError(f"step must be one of {', '.join(map(str, steps))}, got {step}")
    return steps.index(step)


def _require_moments(replay: TrainingReplay, *, at_least: int) -> None:
    if not isinstance(replay, TrainingReplay):
        raise TypeError(f"replay must be a TrainingReplay, got {type(replay).__name__}")
    if len(replay.moments) < at_least:
        raise ValueError(
            f"replay must hold at least {at_least} moments, got {len(replay.moments)} "
            "(has the model trained?)"
        )
