"""The figures of lesson 22: directions in a plane, and what features tell and change."""

import math
from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from torch import Tensor

from transformer_course.drawing.charts import names_of_largest, plot_bars, plot_grouped_bars
from transformer_course.drawing.style import BLUE, GRAY, literal, styled, title_above
from transformer_course.features.stored import Measured

KEPT = 0.5  # the length from which a direction counts as kept


@styled
def plot_directions(directions: Mapping[str, Tensor]) -> Figure:
    """Draw the directions of some features in a plane; the title counts those that are kept.

    Args:
        directions: By what a panel shows, a column for each feature, shape (2, feature).
    """
    for name, columns in directions.items():
        if columns.dim() != 2 or len(columns) != 2:
            wanted, got = "the shape (2, feature)", tuple(columns.shape)
            raise ValueError(f"the directions {name!r} must have {wanted}, got {got}")
    figure, places = plt.subplots(
        1, len(directions), figsize=(3.2 * len(directions), 3.6), squeeze=False
    )
    counts = {}
    for axes, (name, columns) in zip(places[0], directions.items(), strict=True):
        counts[name] = int((columns.norm(dim=0) > KEPT).sum())
        for number, (x, y) in enumerate(columns.T.tolist(), start=1):
            length = (x * x + y * y) ** 0.5
            color = BLUE if length > KEPT else GRAY
            axes.annotate(
                "", (x, y), (0, 0), arrowprops={"arrowstyle": "->", "color": color, "linewidth": 2}
            )
            if length > KEPT:
                axes.text(1.2 * x, 1.2 * y, str(number), ha="center", va="center", color=color)
        axes.set(xlim=(-1.5, 1.5), ylim=(-1.5, 1.5), aspect="equal", xticks=[], yticks=[])
        axes.set_title(literal(name, longest=None), fontsize=13, loc="center")
    sizes = dict.fromkeys(columns.size(1) for columns in directions.values())
    said = ", ".join(f"{count} when {name}" for name, count in counts.items())
    different = " or ".join(map(str, dict.fromkeys(counts.values())))
    title = f"Two numbers for {' or '.join(map(str, sizes))} features keep {different} of them"
    title_above(figure, title)
    figure.set_label(f"{title}: {said}. Each kept feature is an arrow in the plane")
    return figure


def plot_words(words: Mapping[str, float], feature: int) -> Figure:
    """Draw the words that excite a feature, by their part of its total activity.

    Args:
        words: The largest parts by word, the largest first.
        feature: Its number.
    """
    title = literal(_title_of(words, feature), longest=None)
    figure = plot_bars(words or {"": 0.0}, y_label="part of its activity", title=title, top=1)
    figure.set_label(describe_words(words, feature))
    return figure


def describe_words(words: Mapping[str, float], feature: int) -> str:
    """The figure of plot_words in words.

    Args:
        words, feature: As for plot_words.
    """
    parts = (f"{word} {part:.2f}" for word, part in words.items())
    return ": ".join([_title_of(words, feature), ", ".join(parts)]).removesuffix(": ")


def _title_of(words: Mapping[str, float], feature: int) -> str:
    """The word with the largest part, or that there is none."""
    if not words:
        return f"Feature {feature} is never active"
    first, part = next(iter(words.items()))
    return f"Feature {feature}: {part:.0%} of its activity is at “{first}”"


def plot_scores(scores: Mapping[str, float]) -> Figure:
    """Draw how well some numbers tell plural nouns from singular ones; the title names the best.

    Args:
        scores: AUC on words that were not used to choose, by what is scored.
    """
    largest = max(scores.values())
    verb = "has" if [*scores.values()].count(largest) == 1 else "have"
    title = f"Plural or singular: {names_of_largest(scores)} {verb} the largest AUC, {largest:.2f}"
    figure = plot_bars(scores, y_label="AUC on other words", title=title, top=1)
    figure.set_label(f"{title}: {', '.join(f'{n} {each:.2f}' for n, each in scores.items())}")
    return figure


def plot_flips(flips: Mapping[str, Mapping[str, float]], total: int) -> Figure:
    """Draw how many articles change when the noun's vector moves along features.

    Args:
        flips: By how many features, the number of changes by features, then by random features.
        total: How many sentences there are.
    """
    name, last = list(flips.items())[-1]
    chosen, control, *_ = last.values()
    title = f"{name}: {chosen:.0f} of {total} articles change, with random ones {control:.0f}"
    figure = plot_grouped_bars(flips, x_label=f"changed articles, of {total}", title=title)
    figure.set_label(f"{title}; all: {dict(flips)}")
    return figure


def plot_seeds(runs: Sequence[Measured]) -> Figure:
    """Draw what trainings with different seeds find.

    Args:
        runs: One for each seed.
    """
    groups = {
        f"seed {run.seed}": {
            "plural: AUC": run.plural,
            "flips (fraction)": run.flips[-1] / run.sentences,
            "single words (fraction)": run.single_words,
        }
        for run in runs
    }
    lowest = math.floor(100 * min(run.plural for run in runs)) / 100  # not more than it is
    count = {1: "One seed", 2: "Two seeds", 3: "Three seeds"}.get(len(runs), f"{len(runs)} seeds")
    title = f"{count}: the AUC for plural is at least {lowest:.2f}"
    figure = plot_grouped_bars(groups, x_label="AUC, or fraction", title=title)
    figure.set_label(f"{title}; {groups}")
    return figure
