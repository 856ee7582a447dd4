"""How a model learns to copy, step by step under the hand, without a kernel."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import torch
from matplotlib.figure import Figure

from transformer_course.circuits.jumps import JUMPS, Jump, stored_jumps
from transformer_course.drawing.grid import KEY_AXIS, QUERY_AXIS, draw_weights, hatch
from transformer_course.drawing.style import BLUE, GREEN, VERMILION, styled, title_above
from transformer_course.viewer.live import show_live

CURVES = {
    "accuracy on words that come again": "accuracy",
    "layer 1: weight on the word before": "before",
    "layer 2: weight after an earlier one": "after",
}


@dataclass(frozen=True, kw_only=True)
class Maps:
    """The attention of the best head of each role on one text, at every step of a stored training.

    Args:
        words: Of the text.
        before: In whole percent, shape (step, query, key): the head of layer 1.
        after: Likewise: the head of layer 2.
    """

    words: tuple[str, ...]
    before: list[list[list[int]]]
    after: list[list[list[int]]]


def stored_maps(path: Path = JUMPS) -> Maps:
    """The maps of the first training of two layers, as experiments/circuits.py has stored them."""
    stored = json.loads(path.read_text(encoding="utf-8"))["maps"]
    return Maps(words=tuple(stored["words"]), before=stored["before"], after=stored["after"])


def role_cells(words: Sequence[str]) -> dict[str, list[tuple[int, int]]]:
    """The cells (query, key) of both roles in a text."""
    places = range(len(words))
    return {
        "before": [(query, query - 1) for query in places[1:]],
        "after": [
            (query, key)
            for query in places
            for key in range(1, query + 1)
            if words[key - 1] == words[query]
        ],
    }


def show_jump_live() -> None:
    """Let the reader go through the steps of a stored training: curves, and two heads' maps."""
    jump, maps = stored_jumps("two layers")[0], stored_maps()
    cells = role_cells(maps.words)
    names = {"before": "layer 1", "after": "layer 2"}
    show_live(
        __file__,
        {
            "words": list(maps.words),
            "steps": list(jump.steps),
            "first": len(jump.steps) - 1,
            "losses": list(jump.again),
            "curves": [
                {"name": name, "values": list(getattr(jump, key))} for name, key in CURVES.items()
            ],
            "maps": [
                {"name": names[role], "role": cells[role], "weights": getattr(maps, role)}
                for role in names
            ],
        },
        title="Copying appears suddenly, and two maps change at the same time",
        still=plot_moment(jump, maps),
        height=600,
        phone_height=760,
    )


@styled
def plot_moment(jump: Jump, maps: Maps) -> Figure:
    """Draw the curves of a training, and the maps of both heads at its end.

    Args:
        jump: The training.
        maps: Of the same training.

    Returns:
        A new figure; its label says the same in words.
    """
    figure, (axes, *grids) = plt.subplots(1, 3, figsize=(12, 4.4))
    styles = ((BLUE, "-"), (VERMILION, "--"), (GREEN, ":"))
    for (name, key), (color, line) in zip(CURVES.items(), styles, strict=True):
        axes.plot(jump.steps, getattr(jump, key), line, color=color, marker="", label=name)
    axes.set_ylim(0, 1.05)
    axes.set(xlabel="training steps", ylabel="accuracy, or attention weight")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), fontsize=10)
    later = torch.ones(len(maps.words), len(maps.words), dtype=torch.bool).triu(1)
    for grid, weights, layer in zip(grids, (maps.before, maps.after), (1, 2), strict=True):
        draw_weights(grid, torch.tensor(weights[-1]) / 100, maps.words, maps.words, numbered=False)
        hatch(grid, later)
        grid.tick_params(axis="x", rotation=90)
        grid.set(xlabel=KEY_AXIS, ylabel=QUERY_AXIS)
        grid.set_title(f"layer {layer}, after {jump.steps[-1]} steps", fontsize=12)
    middle = next(n for n, right in enumerate(jump.accuracy) if right > 0.5)
    title = f"Copying appears suddenly: {jump.accuracy[middle - 1]:.0%} at step "
    title += f"{jump.steps[middle - 1]}, {jump.accuracy[middle]:.0%} at step {jump.steps[middle]}"
    title_above(figure, title)
    figure.set_label(
        f"{title}. At the end, {jump.accuracy[-1]:.1%} of the words that come again are right; one "
        f"head gives {jump.before[-1]:.0%} of its weight to the word before, the other "
        f"{jump.after[-1]:.0%} to words after an earlier one"
    )
    return figure
