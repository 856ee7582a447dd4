"""Several heads: the split into heads, what each attends to, how many lookups it holds.

A head has the same color in all figures.
"""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from transformer_course.drawing.grid import as_array
from transformer_course.drawing.style import (
    BLACK,
    BLUE,
    GREEN,
    PURPLE,
    VERMILION,
    literal,
    require_one_each,
    styled,
    title_above,
)
from transformer_course.looking.attention_maps import require_zero_to_one
from transformer_edu.model.refusals import require_whole

HEAD_COLORS = (BLUE, VERMILION, GREEN, PURPLE)  # of heads or words; then again from the first


CELL = 0.5  # inches
HEAD_GAP = 0.8  # between two heads, in cells
CAPTION_ROOM = 1.1  # above the cells, in cells


@styled
def plot_head_split(
    splits: Mapping[str, Tensor], *, tokens: Sequence[str], d_model: int, title: str
) -> Figure:
    """Draw where each number of each word went, in one panel per way of splitting.

    Number the cells of the projected matrix (position, d_model) row by row from 0, and pass the
    split of that matrix. Every cell keeps the color and the first letter of its word and its place
    in the word's vector, so that a number in a wrong row is visible.

    Args:
        splits: By name, the numbers 0 … position · d_model - 1 as (head, position, d_head), or
            unsplit as (position, d_model).
        tokens: The words, at most four, with different first letters.
        d_model: Numbers in each word's vector.
        title: What the reader should see, as a sentence.

    Returns:
        A new figure.
    """
    # As lists (head, position, number); an unsplit matrix is a single head.
    blocks = {
        name: (split if split.dim() == 3 else split.unsqueeze(0)).tolist()
        for name, split in splits.items()
    }
    widths = [sum(len(head[0]) + HEAD_GAP for head in heads) for heads in blocks.values()]
    size = (CELL * (sum(widths) + 2 * len(widths)), CELL * (len(tokens) + CAPTION_ROOM + 2))
    figure, row = plt.subplots(1, len(blocks), figsize=size, width_ratios=widths, squeeze=False)
    for axes, (name, heads) in zip(row[0], blocks.items(), strict=True):
        _draw_split(axes, name, heads, tokens, d_model)
    title_above(figure, title)
    return figure


def _draw_split(
    axes: Axes, name: str, heads: list[list[list[int]]], tokens: Sequence[str], d_model: int
) -> None:
    """One panel: the heads side by side, a row for each position."""
    left = 0.0
    for number, head in enumerate(heads, start=1):
        width = len(head[0])
        if len(heads) > 1:
            axes.text(left + width / 2, -0.25, f"head {number}", ha="center", fontsize=12)
        for position, cells in enumerate(head):
            for column, cell in enumerate(cells):
                word, place = divmod(cell, d_model)
                _draw_cell(axes, left + column, position, tokens[word], place, HEAD_COLORS[word])
        left += width + HEAD_GAP
    axes.set(xlim=(-0.05, left - HEAD_GAP + 0.05), ylim=(len(tokens) + 0.05, 0.3 - CAPTION_ROOM))
    axes.set_aspect("equal")
    axes.set_yticks(
        [position + 0.5 for position in range(len(tokens))], [literal(token) for token in tokens]
    )
    axes.set_xticks([])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    axes.set_title(name, fontsize=13)
    axes.set_xlabel("component")


def _draw_cell(axes: Axes, left: float, position: int, token: str, place: int, color: str) -> None:
    axes.add_patch(Rectangle((left, position), 1, 1, facecolor=color, edgecolor="white", lw=2))
    name = literal(token[0] + str(place + 1))
    at = (left + 0.5, position + 0.52)
    axes.text(*at, name, ha="center", va="center", color="white", fontsize=12, weight="bold")


MARKERS = ("o", "s")
FAINTEST = 0.04  # weights below it are not drawn
ASKED = ("before", "after", "both")
SAME_PLACE = 0.06  # marks nearer than this share a text


@styled
def plot_heads_of_word(weights: Tensor, *, words: Sequence[str], word: int) -> Figure:
    """Draw what every head of one layer attends to, from one word: a fan of lines for each head.

    The title, and the figure's label, count the words with a head's largest weight.

    Args:
        weights: Of this word as the query, shape (head, key); a line's width is its weight.
        words: One per key.
        word: Which of them is the query.

    Returns:
        A new figure.
    """
    if weights.dim() != 2 or not len(weights):
        raise ValueError(f"weights must be (head, key) of one word, got {tuple(weights.shape)}")
    require_zero_to_one("weights", as_array(weights))
    require_one_each(weights.size(-1), "keys", words=words)
    require_whole("word", word, minimum=0, maximum=len(words) - 1)
    figure, axes = plt.subplots(figsize=(9.5, 3.9))
    heads = [(number + 0.5) / len(weights) for number in range(len(weights))]
    places = [(number + 0.5) / len(words) for number in range(len(words))]
    best = weights.argmax(dim=-1).tolist()
    for number, (x, row) in enumerate(zip(heads, weights.tolist(), strict=True)):
        color = HEAD_COLORS[number % len(HEAD_COLORS)]
        axes.plot([0.5, x], [0.9, 0.68], color=color, marker="", linewidth=1)
        for place, weight in zip(places, row, strict=True):
            if weight > FAINTEST:
                style = {"linewidth": 10 * weight, "alpha": 0.35 + 0.65 * weight}
                axes.plot(
                    [x, place],
                    [0.58, 0.13],
                    color=color,
                    marker="",
                    solid_capstyle="round",
                    **style,
                )
        box = {"facecolor": "white", "edgecolor": color, "boxstyle": "round,pad=0.35", "lw": 2}
        where = {"ha": "center", "va": "center", "fontsize": 12}
        axes.text(x, 0.63, f"head {number + 1}", color=BLACK, bbox=box, **where)
    axes.text(0.5, 0.95, literal(words[word]), ha="center", va="center", fontsize=14, weight="bold")
    for place, (x, each) in enumerate(zip(places, words, strict=True)):
        weight = "bold" if place in best else "normal"
        axes.text(x, 0.06, literal(each), ha="center", va="center", fontsize=13, weight=weight)
    axes.set(xlim=(0, 1), ylim=(0, 1))
    axes.set_axis_off()
    count = len(set(best))
    to_words = "1 word" if count == 1 else f"{count} different words"
    title = f"{len(weights)} heads of one layer: their thickest lines go to {to_words}"
    if len(weights) == 1:
        title = "1 head of a layer: its thickest line goes to 1 word"
    axes.set_title(title)
    figure.set_label(
        f"from {words[word]} a fan of lines for every head. {title}: "
        + ", ".join(dict.fromkeys(words[key] for key in best))
    )
    return figure


@styled
def plot_lookups(runs: Mapping[str, Sequence[Mapping[str, float]]], *, chance: float) -> Figure:
    """Draw how often models named the word before, the word after, and both.

    Each run has a mark, and its number stands beside it; runs of a kind are above each other.

    The title compares the best of the first kind of model with the worst of the last.

    Args:
        runs: By the kind of model, the accuracy of every run, as neighbor_accuracy gives it.
        chance: What guessing one symbol reaches.

    Returns:
        A new figure; its label says the title.
    """
    figure, axes = plt.subplots(figsize=(8.5, 3.8))
    for kind, (name, results) in enumerate(runs.items()):
        xs, ys = [], []
        for place, asked in enumerate(ASKED):
            x = place + 0.4 * (kind - (len(runs) - 1) / 2)
            xs += [x] * len(results)
            ys += [result[asked] for result in results]
            _number_runs(axes, x, [result[asked] for result in results])
        color = HEAD_COLORS[kind % len(HEAD_COLORS)]
        axes.plot(
            xs, ys, MARKERS[kind % len(MARKERS)], color=color, markersize=9, label=literal(name)
        )
    axes.hlines(chance, -0.5, 1.5, color=BLACK, linestyle=":", linewidth=1.5, zorder=1)
    axes.text(1.5, chance + 0.02, "guessing", ha="right", va="bottom", fontsize=12)
    axes.set_xticks(range(len(ASKED)), ["symbol before", "symbol after", "both"])
    axes.set(xlim=(-0.5, 2.6), ylim=(-0.03, 1.08), ylabel="fraction right")
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    (first, some), *_, (last, others) = runs.items()
    most, least = max(run["both"] for run in some), min(run["both"] for run in others)
    title = f"Both right: best run with {first} {most:.0%}, worst with {last} {least:.0%}"
    axes.set_title(literal(title, longest=None))
    figure.set_label(f"{len(some)} marks for every kind of model and question. {title}")
    return figure


def _number_runs(axes: Axes, x: float, values: Sequence[float]) -> None:
    """The numbers of the runs beside their marks; one text for marks that are nearly the same."""
    rest = sorted(range(len(values)), key=values.__getitem__)
    while rest:
        near = [run for run in rest if values[run] - values[rest[0]] < SAME_PLACE]
        rest = rest[len(near) :]
        numbers = ", ".join(str(run + 1) for run in sorted(near))
        said = "all runs" if len(near) == len(values) else f"run {numbers}"
        y = sum(values[run] for run in near) / len(near)
        behind = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        axes.text(x + 0.07, y, said, va="center", fontsize=11, bbox=behind)
