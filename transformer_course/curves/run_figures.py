"""Training runs: curves of all seeds, one run's losses, BLEU, learning rates, scores, symptoms.

Used in notebooks/08_decoder.ipynb, 10_training.ipynb, 11_diagnosis.ipynb and
15_translation.ipynb.
"""

from collections.abc import Collection, Mapping, Sequence
from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D

from transformer_course.curves.stored_runs import MEASURES, Glance, StoredRuns
from transformer_course.drawing.grid import KEY_AXIS, QUERY_AXIS, draw_weights
from transformer_course.drawing.style import BLUE, VERMILION, literal, styled, title_above
from transformer_edu.model.vocabulary import SPECIAL_TOKENS, START_ID
from transformer_edu.training.config import inverse_square_root
from transformer_edu.training.evaluation import Evaluation

LABELS = {"loss": "loss (nats per token)", "exact_match": "exact match", "bleu": "BLEU"}
TEACHER_FORCING, EXACT_MATCH = "tokens (teacher forcing)", "sequences (exact match)"
LEGEND_LETTERS = 66  # of all names together, if the legend is to be one line


@styled
def plot_runs(
    variants: Sequence[StoredRuns],
    *,
    title: str,
    names: Sequence[str] | None = None,
) -> Figure:
    """Draw the loss and the exact match of several variants while they train.

    A line is the median of the seeds, the band around it reaches from the worst to the best.

    Args:
        variants: At most five; the lines' colors and markers follow their order.
        title: What the reader should see, as a sentence.
        names: What the variants are called in the legend; their own names when None.

    Returns:
        A new figure with one legend.
    """
    names = [each.variant for each in variants] if names is None else names
    columns = len(names) if sum(map(len, names)) < LEGEND_LETTERS else 2
    size = (8.4, 2.9 + 0.28 * -(-len(names) // columns))
    figure, panels = plt.subplots(1, 2, figsize=size)
    for axes, measure in zip(panels, ("loss", "exact_match"), strict=True):
        for place, (each, name) in enumerate(zip(variants, names, strict=True)):
            _draw_seeds(axes, each, measure, name=name, place=place)
        _label(axes, LABELS[measure], is_fraction=measure != "loss")
    _add_head(figure, title, legend_of=panels[0], columns=columns)
    return figure


def describe_runs(variants: Sequence[StoredRuns]) -> str:
    """Where the variants end, in words: for the alternative text of their figure."""
    return "; ".join(
        f"{each.variant}: loss {_span(each, 'loss')}, exact match {_span(each, 'exact_match')}"
        for each in variants
    )


def run_table(variants: Collection[StoredRuns]) -> str:
    """The last evaluation of every variant, smallest and largest over the seeds, to print."""
    width = max(len(each.variant) for each in variants)
    lines = [f"{'':{width}}  {'loss':>11}  {'token accuracy':>14}  {'exact match':>11}"]
    for each in variants:
        loss, tokens, exact = (_span(each, measure) for measure in MEASURES)
        lines.append(f"{each.variant:{width}}  {loss:>11}  {tokens:>14}  {exact:>11}")
    return "\n".join(lines)


def _span(runs: StoredRuns, measure: str) -> str:
    """The last values of all seeds, as one number where they round to the same."""
    ends = sorted(f"{curve[-1]:.2f}" for curve in runs.curves(measure))
    return ends[0] if ends[0] == ends[-1] else f"{ends[0]} – {ends[-1]}"


def _draw_line(
    axes: Axes,
    x: Sequence[float],
    y: Sequence[float],
    name: str,
    *,
    marks: int = 6,
    first: int = 0,
    **style: object,
) -> Line2D:
    """The line of every figure here: about so many markers, from the first one on."""
    markers = (first, max(1, len(x) // marks))
    (line,) = axes.plot(x, y, label=literal(name, longest=None), markevery=markers, **style)
    return line


def _draw_seeds(
    axes: Axes, runs: StoredRuns, measure: str, *, name: str = "", place: int = 0
) -> None:
    """One variant: the seeds' median as a line, their range as a band; place chooses the look."""
    curves = np.array(runs.curves(measure))  # (seed, evaluation)
    styles = list(plt.rcParams["axes.prop_cycle"])
    style = styles[place % len(styles)]
    # Markers of different lines stand apart, so that lines that coincide are all visible.
    first = place % max(1, len(runs.steps) // 6)
    _draw_line(axes, runs.steps, np.median(curves, axis=0), name, first=first, **style)
    low, high = curves.min(axis=0), curves.max(axis=0)
    axes.fill_between(runs.steps, low, high, color=style["color"], alpha=0.2, linewidth=0)


def _label(axes: Axes, y_label: str, *, is_fraction: bool = False) -> None:
    """Names of both axes; the scale begins at 0, and ends at 1 for a fraction."""
    axes.set(xlabel="training step", ylabel=y_label)
    axes.set_ylim(*((-0.04, 1.04) if is_fraction else (0, None)))


def _add_head(figure: Figure, title: str, *, legend_of: Axes, columns: int = 2) -> None:
    """The title over all panels, and below them one legend."""
    handles, labels = legend_of.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns)
    title_above(figure, title)


@styled
def plot_losses(
    losses: Sequence[float], levels: Mapping[str, float], *, steps: int, title: str
) -> Figure:
    """Draw the loss of every step so far, and levels to compare it with.

    Args:
        losses: One for each step, the first of step 1.
        levels: Losses by name, such as a floor; each is a dashed line over the whole width.
        steps: How far the axis reaches, so that a growing curve keeps its place.
        title: What the reader should see, as a sentence.

    Returns:
        A new figure; its label says in words what it shows.
    """
    figure, axes = plt.subplots(figsize=(7, 3.4))
    axes.plot(range(1, len(losses) + 1), losses, color=BLUE, marker="", linewidth=1.5)
    for name, level in levels.items():
        axes.axhline(level, linestyle="--", linewidth=1.5, color=VERMILION, marker="")
        axes.annotate(
            literal(f"{name} = {level:.2f}", longest=None),
            (1, level),
            xytext=(4, 0),
            va="center",
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            fontsize=12,
            color=VERMILION,
        )
    _label(axes, LABELS["loss"])
    axes.set_xlim(0, steps)
    axes.set_title(title)
    compared = "".join(f"; {name} is {level:.2f}" for name, level in levels.items())
    figure.set_label(f"{title}. The loss of {len(losses)} of {steps} steps{compared}")
    return figure


Record = Mapping[str, float]


@styled
def plot_progress(runs: Mapping[str, Sequence[Record]], *, title: str) -> Figure:
    """Draw the loss and the BLEU of runs on held-out pairs; their lengths may differ much.

    Args:
        runs: By name, their records: each has step, validation_loss and bleu.
        title: What the reader should see, as a sentence.

    Returns:
        A new figure; x is logarithmic.
    """
    figure, panels = plt.subplots(1, 2, figsize=(9, 3.7))
    alone = {"marker": ""} if len(runs) == 1 else {}  # one line needs no marks to be told apart
    for axes, measure in zip(panels, ("validation_loss", "bleu"), strict=True):
        for name, records in runs.items():
            steps = [record["step"] for record in records]
            _draw_line(axes, steps, [record[measure] for record in records], name, marks=8, **alone)
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:,.0f}")
        _label(axes, LABELS[measure.removeprefix("validation_")])
    _add_head(figure, title, legend_of=panels[0])
    return figure


def describe_progress(runs: Mapping[str, Sequence[Record]]) -> str:
    """Where each run begins and ends, in words; takes what plot_progress does."""
    return "; ".join(
        f"{name}: from step {records[0]['step']:,} to {records[-1]['step']:,} the loss goes from "
        f"{records[0]['validation_loss']:.1f} to {records[-1]['validation_loss']:.1f}, BLEU from "
        f"{records[0]['bleu']:.0f} to {records[-1]['bleu']:.0f}"
        for name, records in runs.items()
    )


STEPS, POINTS = 20_000, 400  # of every schedule; more points cannot be told apart


@styled
def plot_schedules(choices: Sequence[tuple[int, int]]) -> Figure:
    """Draw equation 3 for several models, each peak marked with its rate.

    Args:
        choices: The d_model and warmup_steps of each curve; the warm-up ends within 20,000 steps.

    Returns:
        A new figure.
    """
    figure, axes = plt.subplots(figsize=(7, 3.4))
    highest = 0.0
    for number, (d_model, warmup_steps) in enumerate(choices):
        x = sorted({*range(1, STEPS + 1, STEPS // POINTS), warmup_steps, STEPS})
        rates = [inverse_square_root(s, d_model=d_model, warmup_steps=warmup_steps) for s in x]
        highest = max(highest, *rates)
        name = f"d_model {d_model:,}, warm-up {warmup_steps:,}"
        # Curves of one width coincide: their markers stand apart, so that both are visible.
        first = number * len(x) // (8 * len(choices))
        line = _draw_line(axes, x, rates, name, marks=8, first=first)
        peak = rates[x.index(warmup_steps)]
        offset = {"xytext": (4, 4), "textcoords": "offset points"}
        axes.annotate(f"{peak:.2g}", (warmup_steps, peak), color=line.get_color(), **offset)
    axes.set(xlim=(0, STEPS), ylim=(0, 1.1 * highest), xlabel="step", ylabel="learning rate")
    axes.legend()
    axes.set_title("The rate rises until the warm-up ends, then falls as 1/√step")
    return figure


BAR_WIDTH, GAP = 0.38, 0.02


@styled
def plot_scores(evaluations: Mapping[str, Evaluation], *, title: str) -> Figure:
    """Draw token accuracy and exact match of several models as pairs of bars.

    The left bar of a pair is the fraction of correct tokens with teacher forcing; the right one,
    hatched, is the fraction of correct sequences when the model generates on its own.

    Args:
        evaluations: One for each model, by its name.
        title: What the reader should see, as a sentence.

    Returns:
        A new figure.
    """
    figure, axes = plt.subplots(figsize=(min(3.5 + 1.6 * len(evaluations), 9), 3.6))
    middle, step = np.arange(len(evaluations)), (BAR_WIDTH + GAP) / 2
    tokens = [each.token_accuracy for each in evaluations.values()]
    sequences = [each.exact_match for each in evaluations.values()]
    for side, label, color, hatch, heights in (
        (-step, TEACHER_FORCING, BLUE, None, tokens),
        (step, EXACT_MATCH, VERMILION, "//", sequences),
    ):
        style = {"color": color, "hatch": hatch, "edgecolor": "white", "linewidth": 0}
        bars = axes.bar(middle + side, heights, BAR_WIDTH, label=label, **style)
        axes.bar_label(bars, [f"{height:.2f}" for height in heights], padding=2)
    axes.set_xticks(middle, [literal(name) for name in evaluations])
    axes.set(ylim=(0, 1.12), ylabel="fraction correct")
    axes.set_yticks([0, 0.5, 1])
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    axes.set_title(title)
    return figure


LETTERS = 16  # of a column's heading, in one line
BETWEEN_COLUMNS = -0.08  # of a column's width: the middle of a sheet without a middle column


@styled
def plot_symptoms(variants: Sequence[StoredRuns], *, title: str) -> Figure:
    """Draw for each variant a column: loss, token accuracy and exact match, cross-attention.

    The attention is one head of the last cross-attention on one held-out pair.

    Args:
        variants: At most four.
        title: What the reader should see, as a sentence.

    Returns:
        A new figure; the rows share their scales.
    """
    size = (1.6 + 1.75 * len(variants), 5.6)
    figure, grid = plt.subplots(
        3, len(variants), figsize=size, squeeze=False, height_ratios=(1, 1, 1.8), sharey="row"
    )
    for each, (loss, scores, attention) in zip(variants, grid.T, strict=True):
        _draw_seeds(loss, each, "loss", name=each.variant)
        loss.set_title(fill(literal(each.variant, longest=None), LETTERS), fontsize=13)
        loss.tick_params(labelbottom=False)  # the scores below name the steps
        _draw_seeds(scores, each, "token_accuracy", name=TEACHER_FORCING)
        _draw_seeds(scores, each, "exact_match", name=EXACT_MATCH, place=1)
        for line in (*loss.lines, *scores.lines):
            line.set_clip_on(False)  # markers at 0 and at 1 stay whole
        image = _draw_glance(attention, each.glance)
    highest = grid[0, 0].get_ylim()[1]
    grid[0, 0].set(ylabel="loss", ylim=(0, 1.05 * highest))  # room for the first marker
    grid[1, 0].set(ylabel="fraction\ncorrect", ylim=(-0.04, 1.04), yticks=(0, 0.5, 1))
    grid[2, 0].set_ylabel(QUERY_AXIS)
    middle = len(variants) // 2
    center = 0.5 if len(variants) % 2 else BETWEEN_COLUMNS
    grid[1, middle].set_xlabel("training step", x=center)
    grid[2, middle].set_xlabel(KEY_AXIS, x=center)
    figure.colorbar(image, ax=grid[2], label="attention weight", shrink=0.8)
    _add_head(figure, title, legend_of=grid[1, 0])
    return figure


def _draw_glance(axes: Axes, glance: Glance) -> AxesImage:
    """The attention of one pair; the labels stand upright because the columns are narrow."""
    given = [SPECIAL_TOKENS[START_ID], *glance.target]
    weights = torch.tensor(glance.weights, device="cpu")
    image = draw_weights(axes, weights, given, glance.source, numbered=False)
    upright = {"rotation": 90, "ha": "center", "va": "top", "rotation_mode": "default"}
    plt.setp(axes.get_xticklabels(), **upright)
    axes.tick_params(labelsize=11)
    return image


def generated_table(variants: Sequence[StoredRuns]) -> str:
    """What each variant generates for its held-out source, below the target, to print."""
    width = max(len(each.variant) for each in variants)
    lines = [f"{'target':{width}}  {' '.join(variants[0].glance.target)}"]
    lines += [
        f"{each.variant:{width}}  {' '.join(each.glance.written) or '(nothing)'}"
        for each in variants
    ]
    return "\n".join(lines)
