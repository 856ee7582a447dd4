"""How one word is built: a row of boxes for every merge that changes it.

Used in notebooks/13_tokenization.ipynb.
"""

from collections.abc import Sequence
from typing import NamedTuple

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from transformer_edu.teaching.piece_box import (
    PART,
    SINGLE_BYTE,
    WHOLE_WORD,
    draw_piece,
    piece_label,
)
from transformer_edu.teaching.style import literal, styled

COLUMN, ROW, BOX_HEIGHT, GAP = 0.44, 0.4, 0.31, 0.05  # inches; a column is a byte
LEFT, BELOW, ABOVE = 0.95, 0.45, 0.05  # inches around the boxes
LONGEST_WORD, LEAST_WIDTH = 20, 12  # in bytes


class MergeStep(NamedTuple):
    """A word's pieces after a merge.

    Attributes:
        number: Of the merge, counted from 1; 0 before the first.
        pieces: From left to right.
        joined: Which of them the merge has made.
    """

    number: int
    pieces: tuple[bytes, ...]
    joined: tuple[bool, ...]


def merge_steps(merges: Sequence[tuple[bytes, bytes]], word: str) -> list[MergeStep]:
    """The merges that change a word, in their order, after the step of its single bytes.

    Args:
        merges: Which two pieces are joined, in the order in which that was learned.
        word: With the space before it, if it has one.

    Raises:
        ValueError: If word is empty or has more than 20 bytes.
    """
    content = word.encode()
    if not 0 < len(content) <= LONGEST_WORD:
        raise ValueError(f"word must have 1 to {LONGEST_WORD} bytes, got {len(content)}")
    pieces = tuple(bytes([byte]) for byte in content)
    steps = [MergeStep(0, pieces, (False,) * len(pieces))]
    for number, pair in enumerate(merges, start=1):
        step = _step(number, pieces, pair)
        if any(step.joined):
            steps.append(step)
            pieces = step.pieces
    return steps


def _step(number: int, pieces: tuple[bytes, ...], pair: tuple[bytes, bytes]) -> MergeStep:
    """What one merge makes of the pieces, from left to right."""
    after: list[bytes] = []
    joined: list[bool] = []
    for piece in pieces:
        if after and not joined[-1] and (after[-1], piece) == pair:
            after[-1] += piece
            joined[-1] = True
        else:
            after.append(piece)
            joined.append(False)
    return MergeStep(number, tuple(after), tuple(joined))


@styled
def plot_merge_steps(merges: Sequence[tuple[bytes, bytes]], word: str, *, title: str) -> Figure:
    """Draw a word's single bytes and, below, its pieces after every merge that changes it.

    A piece stands where its bytes stand; the one that a merge has made is drawn strong.

    Args:
        merges: Which two pieces are joined, in the order in which that was learned.
        word: With the space before it, if it has one.
        title: What the reader should see, as a sentence.

    Returns:
        A new figure.

    Raises:
        ValueError: If word is empty or too long.
    """
    steps = merge_steps(merges, word)
    columns = max(len(steps[0].pieces), LEAST_WIDTH)
    width, height = LEFT + COLUMN * columns, BELOW + ROW * len(steps) + ABOVE
    figure = plt.figure(figsize=(width, height), layout="none")
    axes = figure.add_axes(
        (LEFT / width, BELOW / height, 1 - LEFT / width, ROW * len(steps) / height)
    )
    axes.set(xlim=(0, COLUMN * columns), ylim=(-ROW * len(steps), 0))
    for row, step in enumerate(steps, start=1):
        left = 0.0
        for piece, joined in zip(step.pieces, step.joined, strict=True):
            look = WHOLE_WORD if joined else SINGLE_BYTE if len(piece) == 1 else PART
            size = (COLUMN * len(piece) - GAP, BOX_HEIGHT)
            draw_piece(axes, piece, (left, -ROW * row + GAP), size, look)
            left += COLUMN * len(piece)
    names = ["bytes", *(f"{step.number}" for step in steps[1:])]
    axes.set_yticks([-ROW * (row + 0.5) for row in range(len(steps))], names)
    axes.set_xticks([])
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.tick_params(length=0)
    axes.set_xlabel("the word, from left to right", loc="left")
    axes.set_ylabel("number of the merge")
    axes.set_title(title, parse_math=False)
    return figure


def describe_merge_steps(merges: Sequence[tuple[bytes, bytes]], word: str) -> str:
    """The picture in words, for its alternative text."""
    steps = merge_steps(merges, word)
    rows = [
        f"{f'merge {step.number}' if step.number else 'bytes'}: "
        f"{' '.join(map(piece_label, step.pieces))}"
        for step in steps
    ]
    return f"{literal(word.strip())}, {len(steps) - 1} merges. {'; '.join(rows)}"
