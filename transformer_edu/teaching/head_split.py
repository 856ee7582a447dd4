"""Which number goes to which head: the split of a projected vector, cell by cell."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from transformer_edu.teaching.style import BLUE, GREEN, PURPLE, VERMILION, literal, styled

WORD_COLOURS = (BLUE, VERMILION, GREEN, PURPLE)
LARGEST_WIDTH = 8  # numbers of one word; beyond it the cells could not be read
CELL = 0.5  # inches
HEAD_GAP = 0.8  # between two heads, in cells
CAPTION_ROOM = 1.1  # above the cells, in cells


@styled
def plot_head_split(
    splits: Mapping[str, Tensor], *, tokens: Sequence[str], d_model: int, title: str
) -> Figure:
    """Draw where each number of each word went, in one panel per way of splitting.

    Number the cells of the projected matrix (position, d_model) row by row from 0, split that,
    and hand over the result. Every cell keeps the colour and the first letter of its word and
    its place in the word's vector, so that a number in a wrong row is seen at once.

    Args:
        splits: By name, the numbers 0 … position · d_model - 1 as (head, position, d_head), or
            unsplit as (position, d_model).
        tokens: The words, at most four, each with another first letter.
        d_model: Numbers in each word's vector, at most eight.
        title: What the reader should see, as a sentence.

    Returns:
        A new figure.

    Raises:
        ValueError: If there is no split, one does not hold each number once, or there is too
            much to draw.
    """
    _require_words(tokens, d_model)
    if not splits:
        raise ValueError("splits must hold at least one split, got none")
    blocks = {name: _blocks(name, split, tokens, d_model) for name, split in splits.items()}
    widths = [sum(len(head[0]) + HEAD_GAP for head in heads) for heads in blocks.values()]
    size = (CELL * (sum(widths) + 2 * len(widths)), CELL * (len(tokens) + CAPTION_ROOM + 2))
    figure, row = plt.subplots(1, len(blocks), figsize=size, width_ratios=widths, squeeze=False)
    for axes, (name, heads) in zip(row[0], blocks.items(), strict=True):
        _draw_split(axes, name, heads, tokens, d_model)
    figure.suptitle(title, fontsize=14, x=0.01, ha="left")
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
                _draw_cell(axes, left + column, position, tokens[word], place, WORD_COLOURS[word])
        left += width + HEAD_GAP
    axes.set(xlim=(-0.05, left - HEAD_GAP + 0.05), ylim=(len(tokens) + 0.05, 0.3 - CAPTION_ROOM))
    axes.set_aspect("equal")
    axes.set_yticks(
        [position + 0.5 for position in range(len(tokens))], [literal(token) for token in tokens]
    )
    axes.set_xticks([])
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.set_title(name, fontsize=13)
    axes.set_xlabel("number in the vector")


def _draw_cell(axes: Axes, left: float, position: int, token: str, place: int, colour: str) -> None:
    axes.add_patch(Rectangle((left, position), 1, 1, facecolor=colour, edgecolor="white", lw=2))
    name = literal(token[0] + str(place + 1))
    at = (left + 0.5, position + 0.52)
    axes.text(*at, name, ha="center", va="center", color="white", fontsize=12, weight="bold")


def _require_words(tokens: Sequence[str], d_model: int) -> None:
    initials = {token[:1] for token in tokens}
    if not 0 < len(tokens) <= len(WORD_COLOURS) or len(initials) < len(tokens) or "" in initials:
        raise ValueError(
            f"tokens must be 1 to {len(WORD_COLOURS)} words with different first letters, "
            f"got {list(tokens)}"
        )
    if not 0 < d_model <= LARGEST_WIDTH:
        raise ValueError(f"d_model must be 1 to {LARGEST_WIDTH}, got {d_model}")


def _blocks(name: str, split: Tensor, tokens: Sequence[str], d_model: int) -> list[list[list[int]]]:
    """A split as lists (head, position, number); an unsplit matrix is a single head."""
    heads = split.unsqueeze(0) if split.dim() == 2 else split
    numbers = sorted(heads.flatten().tolist())
    if (
        heads.dim() != 3
        or heads.size(1) != len(tokens)
        or numbers != list(range(len(tokens) * d_model))
    ):
        raise ValueError(
            f"split {name!r} must hold the numbers 0 to {len(tokens) * d_model - 1} once each as "
            f"(head, {len(tokens)}, d_head), got shape {tuple(split.shape)}"
        )
    return heads.tolist()
