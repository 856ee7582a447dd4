"""From 2017 to today: what each swap is worth, and both layers beside each other.

Used in notebooks/19_from_2017_to_today.ipynb.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import median

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from transformer_course.drawing.charts import plot_grouped_bars
from transformer_course.drawing.pen import INK, Box, Pen
from transformer_course.drawing.style import BLUE, VERMILION, literal, styled, title_above
from transformer_course.from_2017_to_today.language_modeling import LENGTHS, Swap
from transformer_edu.model.refusals import require_choice


@styled
def plot_swaps(swaps: Sequence[Swap], *, rate: float) -> Figure:
    """Draw every model's losses at one rate for all and at its best rate, beside them all rates.

    Args:
        swaps: From top to bottom, at least one, each with a training at the rate. The title names
            the model whose median falls most below that of the model before its swap, at the best
            rates of both.
        rate: The one rate for all.

    Returns:
        A new figure; its label says the same in words.
    """
    rates = sorted({each.rate for swap in swaps for each in swap.trainings})
    require_choice("rate", rate, rates)
    figure, (axes, table) = plt.subplots(
        1, 2, figsize=(10.8, 1.9 + 0.4 * len(swaps)), width_ratios=(5, 5.6), sharey=True
    )
    for row, swap in enumerate(swaps):
        same, own = swap.losses(rate), swap.losses(swap.best)
        axes.plot(median(same), row, "|", color=VERMILION, markersize=18, markeredgewidth=2.5)
        axes.plot(same, [row] * len(same), "o", mfc="white", color=VERMILION, markersize=7)
        axes.plot(median(own), row, "|", color=BLUE, markersize=18, markeredgewidth=2.5)
        axes.plot(own, [row] * len(own), "o", color=BLUE, alpha=0.55, markersize=7)
        for place, each in enumerate(rates):
            losses, is_best = swap.losses(each), each == swap.best
            style = {"color": BLUE, "weight": "bold"} if is_best else {"color": INK}
            text = f"{median(losses):.2f}" if losses else "–"
            table.text(place, row, text, ha="center", va="center", fontsize=12, **style)
        for place, number in enumerate((swap.model.parameters, swap.model.cache), len(rates)):
            text = f"{number:,}"
            shift = 0.4 * (place - len(rates) + 1)
            table.text(place + shift, row, text, ha="center", va="center", fontsize=12, color=INK)
    heads = [*(f"{each:g}" for each in rates), "parameters", "cache per\ntoken"]
    for place, head in enumerate(heads):
        shift = 0.4 * max(0, place - len(rates) + 1)
        table.text(place + shift, -0.75, head, ha="center", va="bottom", fontsize=11, color=INK)
    named = [_row_name(swap, swaps[row - 1] if row else None) for row, swap in enumerate(swaps)]
    axes.set_yticks(range(len(swaps)), [literal(name, longest=None) for name in named])
    axes.set(ylim=(len(swaps) - 0.5, -0.6), xlabel="validation loss (nats per token)")
    keys = {f"rate {rate:g} for all": VERMILION, "the model's best rate": BLUE}
    for key, color in keys.items():
        axes.plot([], [], "o", color=color, mfc="white" if color == VERMILION else color, label=key)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    table.set_xlim(-0.5, len(heads) + 0.3)
    table.set_axis_off()
    title = _largest_fall(swaps, rate)
    title_above(figure, literal(title, longest=None))
    said = "; ".join(
        f"{name} {median(swap.losses(rate)):.2f} and {median(swap.losses(swap.best)):.2f} at "
        f"{swap.best:g}"
        for name, swap in zip(named, swaps, strict=True)
    )
    figure.set_label(f"{title}. Median loss at the rate {rate:g} and at the best one: {said}")
    return figure


def _row_name(swap: Swap, above: Swap | None) -> str:
    """With a plus if the model keeps the swaps of the model above it."""
    model = swap.model
    if above is not None and model.after == above.model.name:
        return f"+ {model.name}"
    return f"control: {model.name}" if model.after else model.name


def _largest_fall(swaps: Sequence[Swap], rate: float) -> str:
    """The sentence above the figure."""
    at_best = {swap.model.name: median(swap.losses(swap.best)) for swap in swaps}
    at_one = {swap.model.name: median(swap.losses(rate)) for swap in swaps}
    falls = {each.model.name: each.model.after for each in swaps if each.model.after in at_best}
    if not falls:
        first = swaps[0].model.name
        return f"Validation loss of {first}: {at_best[first]:.2f} nats at its best rate"
    most = max(falls, key=lambda name: at_best[falls[name]] - at_best[name])
    own, same = (losses[falls[most]] - losses[most] for losses in (at_best, at_one))
    if own <= 0:
        return f"No swap lowers the loss; it rises least with {most}: by {abs(own):.2f} nats"
    then = f"and by {same:.2f}" if same >= 0 else f"but rises by {-same:.2f}"
    return f"The loss falls most with {most}: by {own:.2f} nats, {then} at one rate"


@styled
def plot_loss_by_position(swaps: Mapping[str, Swap]) -> Figure:
    """Draw the loss within and beyond the length of training, medians at each model's best rate.

    Args:
        swaps: At least one model by its name in the figure, all with the same ranges of positions,
            at most three. The title compares every later range with the first.

    Returns:
        A new figure; its label says the same in words.
    """
    losses = {name: swap.losses_by_range() for name, swap in swaps.items()}
    count = len(next(iter(losses.values())))
    spans = [f"{a + 1} – {b}" for a, b in pairwise((0, *LENGTHS[:count]))]
    lines = [f"The loss at positions {spans[0]}"]
    if spans[1:]:
        lines = [f"Change of the loss in nats, compared with positions {spans[0]}"]
    for place, span in enumerate(spans[1:], start=1):
        rises = (f"{name} {each[place] - each[0]:+z.2f}" for name, each in losses.items())
        lines.append(f"{span}: {', '.join(rises)}")
    bars = {
        name: {f"positions {span}": loss for span, loss in zip(spans, each, strict=True)}
        for name, each in losses.items()
    }
    title = "\n".join(literal(line, longest=None) for line in lines)
    figure = plot_grouped_bars(bars, x_label="loss (nats per token)", title=title)
    words = (
        f"{name}: " + ", ".join(f"{loss:.2f} at {span}" for span, loss in bar.items())
        for name, bar in bars.items()
    )
    figure.set_label(f"{'; '.join(lines)}. The loss in nats: {'; '.join(words)}")
    return figure


# From the output down to the tokens: 2017, today, what changed and who proposed it.
ROWS = (
    ("Output projection", "Output projection", ""),
    ("", "RMSNorm", "one norm at the end, because of pre-norm"),
    ("Add & LayerNorm", "Add", "pre-norm: the stream itself is never normalized"),
    (
        "Feed-forward, ReLU",
        "SwiGLU, no biases",
        "Shazeer, 2020: a gate\nChowdhery et al., 2022: no biases",
    ),
    ("", "RMSNorm", "Zhang and Sennrich, 2019: less to compute"),
    ("Add & LayerNorm", "", ""),
    ("Cross-attention", "", "Liu et al., 2018; Radford et al., 2018: only one text"),
    ("Add & LayerNorm", "Add", ""),
    (
        "Masked self-attention",
        "Masked self-attention:\nrotary, grouped queries",
        "Ainslie et al., 2023: a smaller cache\nSu et al., 2021: distances, not places",
    ),
    ("", "RMSNorm", "Xiong et al., 2020: pre-norm, for deep stacks"),
    ("+ sinusoidal positions", "", "the rotation has taken their place"),
    ("Embedding × √d_model", "Embedding", "nothing is added, so no factor is needed"),
)
FIRST, LAST = 2, 9  # rows of one layer
WIDTH, HEIGHT, STEP, BOX = 10.2, 6.5, 0.47, 0.32
LEFT, RIGHT, NOTES, BOX_WIDTH = 0.35, 2.95, 5.45, 2.25


@styled
def plot_today() -> Figure:
    """Draw a decoder layer of 2017 and one of today, row by row, with what changed and why.

    Returns:
        A new figure; its label says the same in words.
    """
    figure = plt.figure(figsize=(WIDTH, HEIGHT), layout="none")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, WIDTH), ylim=(0, HEIGHT), aspect="equal")
    axes.set_axis_off()
    title = "From 2017 to today: the layer kept its plan, and nearly every box changed"
    title_above(figure, title)
    pen = Pen(axes, {"changed"})
    heights = [HEIGHT - 0.95 - STEP * row for row in range(len(ROWS))]
    for left, name in ((LEFT, "2017"), (RIGHT, "today")):
        _draw_layer_frame(pen, left, heights)
        pen.words(name, left + BOX_WIDTH / 2, HEIGHT - 0.6, strong=True)
    pen.words(
        "what changed, and where it comes from", NOTES, HEIGHT - 0.6, strong=True, align="left"
    )
    for (old, new, note), y in zip(ROWS, heights, strict=True):
        for left, label in ((LEFT, old), (RIGHT, new)):
            if label:
                tall = BOX + 0.16 * label.count("\n")
                changed = ("changed",) if left == RIGHT and new != old else ()
                pen.box(Box(label, left, y - tall / 2, BOX_WIDTH, tall, changed))
        axes.text(NOTES, y, note, va="center", fontsize=10.5, color=INK)
    for left, column in ((LEFT, 0), (RIGHT, 1)):
        _draw_stream(pen, left + BOX_WIDTH / 2, [row[column] for row in ROWS], heights)
    rows = "; ".join(f"{old or 'nothing'} → {new or 'nothing'}" for old, new, _ in ROWS)
    figure.set_label(f"{title}. From the output down: {rows}")
    return figure


def _draw_layer_frame(pen: Pen, left: float, heights: Sequence[float]) -> None:
    """What is repeated N times."""
    top, bottom = heights[FIRST] + STEP / 2, heights[LAST] - STEP / 2
    frame = Box("", left - 0.13, bottom, BOX_WIDTH + 0.26, top - bottom)
    pen.rounded(frame, False, fill="#F6F8FA", layer=1)


def _draw_stream(pen: Pen, x: float, labels: Sequence[str], heights: Sequence[float]) -> None:
    """Arrows upwards between the boxes that are there."""
    there = [
        (y, BOX + 0.16 * label.count("\n"))
        for label, y in zip(labels, heights, strict=True)
        if label
    ]
    for (upper, tall), (lower, low) in pairwise(there):
        pen.arrow((x, lower + low / 2), (x, upper - tall / 2))
