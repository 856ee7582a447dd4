"""How models learned to copy, as experiments/circuits.py has stored it, and its figures.

Used in notebooks/21_circuits.ipynb.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from transformer_course.drawing.style import BLUE, GREEN, VERMILION, literal, styled
from transformer_edu.model.refusals import require_choice

JUMPS = Path(__file__).with_name("jumps.json")
KINDS = ("two layers", "one layer", "one period")  # of models


@dataclass(frozen=True, kw_only=True)
class Jump:
    """One training, and what the model depends on at its end.

    Args:
        name: One of KINDS.
        seed: Decides the first weights and the texts.
        steps: When it was measured.
        accuracy: On words that come again, by step.
        first: The loss of words that come for the first time, by step.
        again: The loss of words that come again, by step.
        before: The best score of a head of the first layer on the word before, by step.
        after: The best score of a head of the last layer on words after an earlier one, by step.
        ends: Accuracies and a score at the end, by what was done; "whole" on texts of all periods.
    """

    name: str
    seed: int
    steps: tuple[int, ...]
    accuracy: tuple[float, ...]
    first: tuple[float, ...]
    again: tuple[float, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]
    ends: Mapping[str, float]


def stored_jumps(name: str, path: Path = JUMPS) -> list[Jump]:
    """The trainings of one of KINDS, one for each seed."""
    require_choice("name", name, KINDS)
    rows = json.loads(path.read_text(encoding="utf-8"))["jumps"]
    return [
        Jump(**{key: tuple(each) if isinstance(each, list) else each for key, each in row.items()})
        for row in rows
        if row["name"] == name
    ]


@styled
def plot_jumps(kinds: Mapping[str, Sequence[Jump]]) -> Figure:
    """Draw the accuracy on words that come again over the steps, a line for each seed.

    Args:
        kinds: At most three kinds of models by their name in the figure.

    Returns:
        A new figure; its label says the same in words.
    """
    figure, axes = plt.subplots(figsize=(7, 3.6))
    styles = ((BLUE, "-"), (VERMILION, "--"), (GREEN, ":"))
    for (name, jumps), (color, line) in zip(kinds.items(), styles, strict=False):
        for order, jump in enumerate(jumps):
            label = literal(name, longest=None) if order == 0 else None
            axes.plot(jump.steps, jump.accuracy, line, color=color, marker="", label=label)
    axes.set_ylim(0, 1.05)
    axes.legend()
    ends = [f"{name} {_median_end(jumps):.2f}" for name, jumps in kinds.items()]
    title = f"Median accuracy: {'; '.join(ends)}"
    axes.set_title(literal(title, longest=None))
    axes.set(xlabel="training steps", ylabel="accuracy on words that come again")
    counts = [len(jumps) for jumps in kinds.values()]
    each = f"each of {counts[0]} seeds" if len(set(counts)) == 1 < counts[0] else "each training"
    figure.set_label(f"{title}. One line for {each}")
    return figure


def _median_end(jumps: Sequence[Jump]) -> float:
    """The median accuracy at the end of some trainings."""
    return median(jump.accuracy[-1] for jump in jumps)
