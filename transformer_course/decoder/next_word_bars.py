"""What a decoder predicts: the likeliest next words, and what they depend on."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from torch import Tensor

from transformer_course.decoder.next_words import DecodingStep
from transformer_course.drawing.grid import as_array, hatch
from transformer_course.drawing.style import (
    BLUE,
    GRAY,
    PALE,
    WEIGHT_COLORS,
    literal,
    styled,
    title_above,
)

PANEL_TITLE, LABEL_SIZE = 13, 13
LONGEST_BEGINNING = 32  # characters


@styled
def plot_next_words(probabilities: Mapping[str, Mapping[str, float]]) -> Figure:
    """Draw for every beginning of a sentence how probable the next words are.

    The title and the figure's label name the likeliest word after each.

    Args:
        probabilities: By beginning: words with their probabilities, the likeliest first.

    Returns:
        A new figure with a panel for each beginning.
    """
    if not probabilities:
        raise ValueError("probabilities must be of at least one beginning, got none")
    figure, grid = plt.subplots(
        1, len(probabilities), figsize=(3.4 * len(probabilities), 3), squeeze=False
    )
    for axes, (beginning, words) in zip(grid[0], probabilities.items(), strict=True):
        _draw_words(axes, words)
        axes.set_title(
            f"{literal(beginning, longest=LONGEST_BEGINNING)} …", fontsize=PANEL_TITLE, loc="left"
        )
    figure.supxlabel("probability of the next word", fontsize=LABEL_SIZE)
    best = [next(iter(words)) for words in probabilities.values()]
    title_above(figure, "Most probable next words: " + ", ".join(literal(word) for word in best))
    after = (f"after {beginning}: {next(iter(p))}" for beginning, p in probabilities.items())
    figure.set_label(f"the most probable next words as bars; the longest bar {', '.join(after)}")
    return figure


@styled
def plot_decoding_step(source: Sequence[str], step: DecodingStep, *, title: str) -> Figure:
    """Draw one step of a decoder: what it attends to in the source, its mask, and the next tokens.

    Args:
        source: The tokens of the source.
        step: What was recorded.
        title: What the reader should see, as a sentence.

    Returns:
        A new figure with three panels.
    """
    figure, (attended, mask, likely) = plt.subplots(
        1, 3, figsize=(10, 0.9 + 0.32 * len(source)), width_ratios=(1, 2, 2.4)
    )
    weights, length = as_array(step.attention)[:, None], len(step.read)
    attended.imshow(weights, cmap=WEIGHT_COLORS, vmin=0, vmax=1, aspect="auto")
    attended.set_yticks(range(len(source)), [literal(token) for token in source])
    attended.set_title("cross-attention", fontsize=PANEL_TITLE)
    allowed = torch.ones(length, length, device="cpu").tril()
    mask.imshow(as_array(allowed), aspect="auto", cmap=ListedColormap([PALE, BLUE]), vmin=0, vmax=1)
    hatch(mask, allowed == 0)
    mask.set_yticks(range(length), [literal(token) for token in step.read])
    mask.set_title("tokens read, causal mask", fontsize=PANEL_TITLE)
    for axes in (attended, mask):
        axes.set_xticks([])
        axes.tick_params(length=0)
    _draw_words(likely, dict(step.candidates))
    likely.set_title("probability of the next token", fontsize=PANEL_TITLE)
    title_above(figure, title)
    figure.set_label(
        f"the decoder has read {' '.join(step.read)}: a row of the causal mask for each of these "
        "tokens, its cross-attention as colors of the source tokens, and the most probable next "
        "tokens as bars"
    )
    return figure


def _draw_words(axes: Axes, words: Mapping[str, float]) -> None:
    names, values = [literal(word) for word in words], list(words.values())
    colors = [BLUE, *[PALE] * (len(names) - 1)]
    bars = axes.barh(range(len(names)), values, color=colors, edgecolor=GRAY, linewidth=1)
    labels = ["< 0.01" if value < 0.005 else f"{value:.2f}" for value in values]
    axes.bar_label(bars, labels, padding=3, fontsize=12)
    axes.set_yticks(range(len(names)), names)
    axes.set(xlim=(0, 1.25), xticks=[0, 0.5, 1])
    axes.invert_yaxis()


@styled
def plot_influence(
    panels: Mapping[str, tuple[Sequence[str], Tensor]], *, rows: Sequence[str], title: str
) -> Figure:
    """Draw how much every prediction changes when one word is left out; exact zeros are hatched.

    The colors compare the words of one row: 1 is the largest change in the row of a panel.

    Args:
        panels: By panel title: the words that are left out, and the changes, shape
            (prediction, word), 0 or more.
        rows: Labels of the predictions.
        title: What the reader should see, as a sentence.

    Returns:
        A new figure, its panels next to each other, on one scale.
    """
    columns = [len(words) for words, _ in panels.values()]
    figure, grid = plt.subplots(
        1,
        len(panels),
        figsize=(2.6 + 0.42 * sum(columns), 1.9 + 0.36 * len(rows)),
        squeeze=False,
        sharey=True,
        width_ratios=columns,
    )
    for axes, (name, (words, changes)) in zip(grid[0], panels.items(), strict=True):
        image = _draw_changes(axes, changes)
        names = [literal(word) for word in words]
        axes.set_xticks(range(len(words)), names, rotation=60, ha="right", rotation_mode="anchor")
        axes.set_title(literal(name, longest=None), fontsize=PANEL_TITLE)
    grid[0, 0].set_yticks(range(len(rows)), [literal(row) for row in rows])
    figure.supylabel("reads → predicts", fontsize=LABEL_SIZE)
    figure.colorbar(image, ax=grid, label="change of the prediction (largest in its row: 1)")
    title_above(figure, title)
    figure.set_label(
        f"a row for each prediction, a column for each word that is left out. {title}. "
        + "; ".join(
            f"{name}: {int((changes != 0).sum())} of {changes.numel()} cells change"
            for name, (_, changes) in panels.items()
        )
    )
    return figure


def _draw_changes(axes: Axes, changes: Tensor) -> AxesImage:
    """One grid; cells without any change are pale and hatched."""
    colors = plt.get_cmap(WEIGHT_COLORS).with_extremes(bad=PALE)
    fractions = as_array(changes / changes.amax(dim=1, keepdim=True).clamp(min=1e-9))
    shown = np.ma.masked_equal(fractions, 0)
    image = axes.imshow(shown, cmap=colors, vmin=0, vmax=1, aspect="auto")
    hatch(axes, changes.cpu() == 0)
    axes.tick_params(length=0)
    return image
