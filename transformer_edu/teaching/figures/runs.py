"""Training runs as curves: a line for the middle seed, a band from the worst to the best.

Used in notebooks/10_training.ipynb.
"""

import math
from collections.abc import Mapping, Sequence
from numbers import Real

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from transformer_edu.refusals import require_whole
from transformer_edu.teaching.style import BLUE, VERMILION, literal, new_axes, styled
from transformer_edu.training.config import inverse_square_root
from transformer_edu.training.evaluation import Evaluation
from transformer_edu.training.runs.stored_runs import MEASURES, StoredRuns

MEASURE_LABELS = {
    "loss": "loss (nats per token)",
    "token_accuracy": "token accuracy",
    "exact_match": "exact match",
}
MOST_VARIANTS = 5  # as many colours as the style has
LEGEND_LETTERS = 66  # of all names together, if the legend is to be one line


@styled
def plot_runs(
    variants: Sequence[StoredRuns],
    *,
    title: str,
    measures: Sequence[str] = ("loss", "exact_match"),
    names: Sequence[str] | None = None,
) -> Figure:
    """Draw several variants' training, one panel for each measure.

    Args:
        variants: One to five; the lines' colours and markers follow their order.
        title: What the reader should see, as a sentence.
        measures: Some of "loss", "token_accuracy" and "exact_match".
        names: What the variants are called in the legend; their own names when None.

    Returns:
        A new figure with one legend.

    Raises:
        ValueError: If there are no variants or too many, the names do not fit, or a measure is
            unknown.
    """
    if not 0 < len(variants) <= MOST_VARIANTS:
        raise ValueError(f"variants must be 1 to {MOST_VARIANTS}, got {len(variants)}")
    names = [each.variant for each in variants] if names is None else names
    if len(names) != len(variants):
        raise ValueError(f"names must name {len(variants)} variants, got {len(names)}")
    if not measures or set(measures) - set(MEASURES):
        raise ValueError(f"measures must be of {', '.join(MEASURES)}, got {list(measures)}")
    columns = len(names) if sum(map(len, names)) < LEGEND_LETTERS else 2
    size = (4.2 * len(measures), 2.9 + 0.28 * -(-len(names) // columns))
    figure, grid = plt.subplots(1, len(measures), figsize=size, squeeze=False)
    for axes, measure in zip(grid[0], measures, strict=True):
        for place, (each, name) in enumerate(zip(variants, names, strict=True)):
            draw_band(axes, each, measure, name=name, place=place)
        if measure != "loss":
            axes.set_ylim(-0.04, 1.04)
        else:
            axes.set_ylim(bottom=0)
        axes.set(xlabel="training step", ylabel=MEASURE_LABELS[measure])
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns)
    figure.suptitle(title, fontsize=14, x=0.01, ha="left")
    return figure


def draw_band(
    axes: Axes, runs: StoredRuns, measure: str, *, name: str | None = None, place: int = 0
) -> None:
    """Draw one variant: the seeds' median as a line, their range as a band.

    Args:
        axes: Where to draw.
        runs: All seeds of the variant.
        measure: Which curve.
        name: For the legend; the variant's own when None.
        place: Which of the style's colours and markers.
    """
    curves = np.array(runs.curves(measure))  # (seed, evaluation)
    styles = list(plt.rcParams["axes.prop_cycle"])
    style = styles[place % len(styles)]
    label = literal(runs.variant if name is None else name, longest=None)
    # Markers of different lines stand apart, so that lines that fall together are all seen.
    every = max(1, len(runs.steps) // 6)
    marks = (place % every, every)
    axes.plot(runs.steps, np.median(curves, axis=0), label=label, markevery=marks, **style)
    low, high = curves.min(axis=0), curves.max(axis=0)
    axes.fill_between(runs.steps, low, high, color=style["color"], alpha=0.2, linewidth=0)


def describe_runs(variants: Sequence[StoredRuns]) -> str:
    """Where the variants end, in words: for the alternative text of their figure."""
    return "; ".join(
        f"{each.variant}: loss {_span(each, 'loss')}, alone {_span(each, 'exact_match')}"
        for each in variants
    )


def run_table(variants: Sequence[StoredRuns]) -> str:
    """The last evaluation of every variant, smallest and largest over the seeds, to print."""
    width = max(len(each.variant) for each in variants)
    lines = [f"{'':{width}}  {'loss':>11}  {'tokens right':>12}  {'written alone':>13}"]
    for each in variants:
        loss, tokens, alone = (_span(each, measure) for measure in MEASURES)
        lines.append(f"{each.variant:{width}}  {loss:>11}  {tokens:>12}  {alone:>13}")
    return "\n".join(lines)


def _span(runs: StoredRuns, measure: str) -> str:
    """The last values of all seeds, as one number where they round to the same."""
    ends = sorted(f"{curve[-1]:.2f}" for curve in runs.curves(measure))
    return ends[0] if ends[0] == ends[-1] else f"{ends[0]} – {ends[-1]}"


BLOCK = 10  # steps whose mean is one point: single batches are easier or harder by chance


@styled
def plot_floors(
    losses: Mapping[str, Sequence[float]],
    floors: Mapping[str, float],
    *,
    title: str,
    axes: Axes | None = None,
) -> Figure:
    """Draw the loss of every step in blocks of ten, and floors as dashed lines of their colour.

    Args:
        losses: Each run's losses, one for each step, by name.
        floors: The lowest value possible of some of them, by the same names.
        title: What the reader should see, as a sentence.
        axes: Where to draw; a new figure when None.

    Returns:
        The figure drawn on.

    Raises:
        ValueError: If there are no losses, a run is shorter than a block, or a floor has no run
            or is not finite.
    """
    if not losses:
        raise ValueError("losses must hold at least one run, got none")
    for name, floor in floors.items():
        if name not in losses or not math.isfinite(floor):
            raise ValueError(f"floors must be finite and of a run drawn, got {name!r}: {floor}")
    axes = new_axes(axes, 7, 3.6)
    for name, each in losses.items():
        if len(each) < BLOCK:
            raise ValueError(f"run {name!r} must have at least {BLOCK} steps, got {len(each)}")
        ends = range(BLOCK, len(each) + 1, BLOCK)
        means = [sum(each[end - BLOCK : end]) / BLOCK for end in ends]
        label = literal(name, longest=None)
        (line,) = axes.plot(ends, means, label=label, markevery=max(1, len(means) // 6))
        if name in floors:
            _draw_floor(axes, floors[name], line.get_color())
    axes.set_ylim(bottom=0)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=len(losses))
    axes.set(xlabel="training step", ylabel="loss (nats per token)")
    axes.set_title(title)
    return axes.figure


def _draw_floor(axes: Axes, floor: float, colour: str) -> None:
    """A dashed line over the whole width, its value to the right of it."""
    axes.axhline(floor, linestyle="--", linewidth=1.5, color=colour, marker="")
    axes.annotate(
        f"floor {floor:.2f}",
        (1, floor),
        xytext=(4, 0),
        va="center",
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        fontsize=12,
        color=colour,
    )


PANELS = {"validation_loss": "loss (nats per token)", "bleu": "BLEU"}
Record = Mapping[str, float]


@styled
def plot_progress(runs: Mapping[str, Sequence[Record]], *, title: str) -> Figure:
    """Draw the loss and the BLEU of runs on held-out pairs; their lengths may differ much.

    Args:
        runs: By name, their records: each has step, validation_loss and bleu.
        title: What the reader should see, as a sentence.

    Returns:
        A new figure; equal steps along x multiply.

    Raises:
        TypeError: If runs does not map names to lists of records.
        ValueError: If there is no run, one has no record, or a record lacks one of the numbers.
    """
    _require_records(runs)
    figure, panels = plt.subplots(1, 2, figsize=(9, 3.7))
    for axes, (measure, label) in zip(panels, PANELS.items(), strict=True):
        for name, records in runs.items():
            steps = [record["step"] for record in records]
            values = [record[measure] for record in records]
            every = max(1, len(steps) // 8)
            axes.plot(steps, values, label=literal(name, longest=None), markevery=every)
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.set(xlabel="training step", ylabel=label)
        axes.set_ylim(bottom=0)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    figure.suptitle(title, fontsize=14, x=0.01, ha="left")
    return figure


def describe_progress(runs: Mapping[str, Sequence[Record]]) -> str:
    """Where each run begins and ends, in words: for the figure's alternative text.

    Args:
        runs: As for plot_progress, which refuses the same.
    """
    _require_records(runs)
    return "; ".join(
        f"{name}: from step {records[0]['step']:,} to {records[-1]['step']:,} the loss goes from "
        f"{records[0]['validation_loss']:.1f} to {records[-1]['validation_loss']:.1f}, BLEU from "
        f"{records[0]['bleu']:.0f} to {records[-1]['bleu']:.0f}"
        for name, records in runs.items()
    )


def _require_records(runs: Mapping[str, Sequence[Record]]) -> None:
    """Refuse what are no runs, and records without the numbers that are shown."""
    if not isinstance(runs, Mapping):
        raise TypeError(f"runs must map names to records, got {type(runs).__name__}")
    if not runs:
        raise ValueError("runs must hold at least one run, got none")
    for name, records in runs.items():
        if not isinstance(name, str):
            raise TypeError(f"runs must have texts for names, got {name!r}")
        if not isinstance(records, Sequence):
            raise TypeError(f"run {name!r} must be a list of records, got {records!r}")
        if len(records) == 0:
            raise ValueError(f"run {name!r} must have at least one record, got none")
        for record in records:
            _require_numbers(name, record)


def _require_numbers(name: str, record: Record) -> None:
    if not isinstance(record, Mapping):
        raise TypeError(f"run {name!r} must hold records with names, got {record!r}")
    for measure in ("step", *PANELS):
        value = record.get(measure)
        if not isinstance(value, Real):
            raise ValueError(f"run {name!r} must have a number for {measure}, got {value!r}")


POINTS = 400  # at most so many per curve: more cannot be told apart
# Width and warm-up: the paper's base model, a longer warm-up, a narrower model.
PAPER_AND_OTHERS = ((512, 4000), (512, 8000), (256, 4000))


@styled
def plot_schedules(
    choices: Sequence[tuple[int, int]] = PAPER_AND_OTHERS,
    *,
    steps: int = 20_000,
    title: str = "The rate rises until the warm-up ends, then falls as 1/√step",
    axes: Axes | None = None,
) -> Figure:
    """Draw equation 3 for several models, each peak marked with its rate.

    Args:
        choices: The d_model and warmup_steps of each curve.
        steps: Where the curves end; they begin at step 1.
        title: What the reader should see, as a sentence.
        axes: Where to draw; a new figure when None.

    Returns:
        The figure drawn on.

    Raises:
        TypeError: If a width or number of steps is not a whole number.
        ValueError: If there are no choices, or a width, warm-up or steps lies below 1.
    """
    if len(choices) == 0:
        raise ValueError("choices must hold at least one pair of width and warm-up, got none")
    curves = [schedule_curve(*choice, steps=steps) for choice in choices]
    axes = new_axes(axes, 7, 3.4)
    for (d_model, warmup_steps), (x, rates) in zip(choices, curves, strict=True):
        name = f"d_model {d_model:,}, warm-up {warmup_steps:,}"
        # Curves of one width fall together: their markers stand apart, so that both are seen.
        first = len(axes.lines) * len(x) // (8 * len(choices))
        (line,) = axes.plot(x, rates, label=name, markevery=(first, max(1, len(x) // 8)))
        if warmup_steps <= steps:
            peak = inverse_square_root(warmup_steps, d_model=d_model, warmup_steps=warmup_steps)
            axes.annotate(
                f"{peak:.2g}",
                (warmup_steps, peak),
                xytext=(4, 4),
                textcoords="offset points",
                color=line.get_color(),
            )
    axes.set_xlim(0, steps)
    axes.set_ylim(0, 1.1 * max(max(rates) for _, rates in curves))
    axes.legend()
    axes.set_title(title)
    axes.set_xlabel("step")
    axes.set_ylabel("learning rate")
    return axes.figure


def schedule_curve(d_model: int, warmup_steps: int, *, steps: int) -> tuple[list[int], list[float]]:
    """Steps and the paper's rate at each, first, last and peak among them.

    Args:
        d_model: The model's width.
        warmup_steps: The step of the highest rate.
        steps: The last step.

    Returns:
        Steps in order, about POINTS of them at most, and as many rates.

    Raises:
        TypeError, ValueError: As for inverse_square_root, or steps is not at least 1.
    """
    require_whole("warmup_steps", warmup_steps)
    require_whole("steps", steps)
    stride = max(1, steps // POINTS)
    x = sorted({*range(1, steps + 1, stride), min(warmup_steps, steps), steps})
    return x, [inverse_square_root(s, d_model=d_model, warmup_steps=warmup_steps) for s in x]


BAR_WIDTH, GAP = 0.38, 0.02


@styled
def plot_scores(
    evaluations: Mapping[str, Evaluation], *, title: str, axes: Axes | None = None
) -> Figure:
    """Draw token accuracy and greedy exact match of several models as pairs of bars.

    The left bar of a pair is the share of tokens that are right when the model is fed as in
    training; the right one, hatched, is the share of sequences that are right when it writes
    alone.

    Args:
        evaluations: One for each model, by its name.
        title: What the reader should see, as a sentence.
        axes: Where to draw; a new figure when None.

    Returns:
        The figure drawn on.

    Raises:
        ValueError: If there are no evaluations.
    """
    if not evaluations:
        raise ValueError("evaluations must hold at least one model, got none")
    axes = new_axes(axes, min(3.5 + 1.6 * len(evaluations), 9), 3.6)
    middle = np.arange(len(evaluations))
    step = (BAR_WIDTH + GAP) / 2
    for side, label, colour, hatch, scores in (
        (-step, "tokens, fed as in training", BLUE, None, _tokens(evaluations)),
        (step, "sequences, written alone", VERMILION, "//", _alone(evaluations)),
    ):
        style = {"color": colour, "hatch": hatch, "edgecolor": "white", "linewidth": 0}
        bars = axes.bar(middle + side, scores, BAR_WIDTH, label=label, **style)
        axes.bar_label(bars, [f"{score:.2f}" for score in scores], padding=2)
    axes.set_xticks(middle, [literal(name) for name in evaluations])
    axes.set(ylim=(0, 1.12), ylabel="share that is right")
    axes.set_yticks([0, 0.5, 1])
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    axes.set_title(title)
    return axes.figure


def _tokens(evaluations: Mapping[str, Evaluation]) -> list[float]:
    return [each.token_accuracy for each in evaluations.values()]


def _alone(evaluations: Mapping[str, Evaluation]) -> list[float]:
    return [each.exact_match for each in evaluations.values()]
