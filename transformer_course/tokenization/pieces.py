"""Texts cut into pieces, as rows of boxes, and a slider for how many merges made them.

Used in notebooks/14_tokenization.ipynb.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import ipywidgets as widgets
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Patch

from transformer_course.drawing.display import explore
from transformer_course.drawing.style import BLACK, BLUE, GRAY, PALE, literal, styled
from transformer_edu.data.tokenizer import SPACE, Tokenizer, readable

FONT_SIZE, FONT = 12, "DejaVu Sans Mono"
CHARACTER = 0.101  # inches: how wide a character of that font is
INVISIBLE_BYTE = re.compile(r"<0x([0-9A-F]{2})>")


class PieceLook(NamedTuple):
    """How a piece is drawn; color is never all that tells two looks apart."""

    name: str
    fill: str
    edge: str
    ink: str
    weight: str


WHOLE_WORD = PieceLook("a whole word", BLUE, BLUE, "white", "bold")
PART = PieceLook("part of a word", PALE, GRAY, BLACK, "normal")
SINGLE_BYTE = PieceLook("a single byte", "white", GRAY, BLACK, "normal")


def piece_label(piece: bytes) -> str:
    """The label of a piece: its text, a space as ▁, a byte of half a character as C3."""
    return INVISIBLE_BYTE.sub(r"\1", readable(piece))


def draw_piece(
    axes: Axes,
    piece: bytes,
    corner: tuple[float, float],
    size: tuple[float, float],
    look: PieceLook,
) -> None:
    """Draw a box with a piece's label in its middle, as it is written.

    Args:
        axes: Where to draw; one unit is one inch in both directions.
        piece: Some bytes.
        corner: Left and bottom of the box.
        size: Its width and height.
        look: How it is drawn.
    """
    (left, bottom), (width, height) = corner, size
    axes.add_artist(  # add_patch would measure it, and the axes' limits are known
        FancyBboxPatch(
            corner,
            width,
            height,
            boxstyle="round,pad=0,rounding_size=0.05",
            facecolor=look.fill,
            edgecolor=look.edge,
            linewidth=1,
            clip_on=False,
        )
    )
    axes.text(
        left + width / 2,
        bottom + height / 2,
        piece_label(piece),
        ha="center",
        va="center_baseline",
        family=FONT,
        fontsize=FONT_SIZE,
        fontweight=look.weight,
        color=look.ink,
        parse_math=False,
    )


# In inches: the figure's width, a box's height and the room in it, the room between boxes, and
# what a text's heading, the room below a text, and the legend need.
WIDTH, BOX_HEIGHT, INSIDE, BETWEEN = 9.0, 0.3, 0.075, 0.04
LINE, HEADING, BELOW_TEXT, LEGEND = BOX_HEIGHT + 0.08, 0.33, 0.16, 0.4
NUMBERS_OF_MERGES, SHOWN_FIRST = (0, 30, 100, 300, 1000, 3000), 100  # of a slider


@styled
def plot_pieces(
    tokenizer: Tokenizer, texts: Mapping[str, str], *, title: str, num_lines: int = 1
) -> Figure:
    """Draw every text as its pieces: whole words in a strong color, parts of words pale.

    Args:
        tokenizer: What cuts the texts.
        texts: By the names that stand above them.
        title: What the reader should see, as a sentence.
        num_lines: Of boxes, for which there is room below every name, whether needed or not.

    Returns:
        A new figure; its label describes it.
    """
    rows = {name: _lines(_pieces(tokenizer, text)) for name, text in texts.items()}
    room = max(num_lines, *map(len, rows.values()))
    axes = _new_axes(len(rows) * (HEADING + room * LINE + BELOW_TEXT))
    top = axes.get_ylim()[1]
    for name, lines in rows.items():
        count = sum(map(len, lines))
        axes.text(0, top - 0.15, f"{literal(name)}: {_counted(count)}", va="center", fontsize=12)
        axes.plot([0, WIDTH], [top - HEADING + 0.02] * 2, color=PALE, linewidth=1, marker="")
        for number, line in enumerate(lines, start=1):
            _draw_line(axes, line, bottom=top - HEADING - number * LINE)
        top -= HEADING + room * LINE + BELOW_TEXT
    axes.set_title(title, parse_math=False)
    axes.figure.set_label(describe_pieces(tokenizer, texts))
    return axes.figure


def describe_pieces(tokenizer: Tokenizer, texts: Mapping[str, str]) -> str:
    """The picture in words, for its alternative text: the pieces between bars."""
    said = []
    for name, text in texts.items():
        pieces = _pieces(tokenizer, text)
        said.append(f"{name}, {_counted(len(pieces))}: {'|'.join(map(piece_label, pieces))}")
    return f"texts in pieces, {SPACE} is a space. {'; '.join(said)}"


def explore_merges(merges: Sequence[tuple[bytes, bytes]], texts: Mapping[str, str]) -> None:
    """Let the reader merge more and more, and watch the pieces of texts grow, also of their own.

    Args:
        merges: Which two pieces are joined, in the order in which that was learned.
        texts: By the names that stand above them.
    """
    # Single bytes need the most room; with room for them the picture never jumps.
    single_bytes = Tokenizer([])
    room = max(len(_lines(_pieces(single_bytes, text))) for text in texts.values())

    def with_own(text: str) -> Mapping[str, str]:
        return {"your text": text, **texts} if text.strip() else texts

    def draw(num_merges: int, text: str = "") -> Figure:
        tokenizer = Tokenizer(merges[:num_merges])
        count = sum(map(len, tokenizer.encode_all(with_own(text).values())))
        title = f"After {num_merges} merges: {_counted(count)}"
        return plot_pieces(tokenizer, with_own(text), title=title, num_lines=room)

    def describe(num_merges: int, text: str = "") -> str:
        words = describe_pieces(Tokenizer(merges[:num_merges]), with_own(text))
        return f"after {num_merges} merges, {words}"

    numbers = [number for number in NUMBERS_OF_MERGES if number < len(merges)] + [len(merges)]
    explore(
        draw,
        describe,
        num_merges=widgets.SelectionSlider(
            options=numbers,
            value=SHOWN_FIRST if SHOWN_FIRST in numbers else len(merges),
            description="number of merges",
        ),
        text=widgets.Text(continuous_update=False, description="your text, then Enter"),
    )


def _pieces(tokenizer: Tokenizer, text: str) -> list[bytes]:
    """The bytes of every token of a text."""
    return [tokenizer.pieces[token_id] for token_id in tokenizer.encode(text)]


def _counted(count: int) -> str:
    """How many pieces, in words."""
    return "1 piece" if count == 1 else f"{count} pieces"


def _width(piece: bytes) -> float:
    """Of a piece's box, in inches."""
    return CHARACTER * len(piece_label(piece)) + INSIDE


def _lines(pieces: Sequence[bytes]) -> list[list[tuple[bytes, PieceLook]]]:
    """The pieces with their looks, cut into lines that are not too wide."""
    lines: list[list[tuple[bytes, PieceLook]]] = [[]]
    used = 0.0
    for piece, look in zip(pieces, _looks(pieces), strict=True):
        used += _width(piece) + BETWEEN
        if used > WIDTH and lines[-1]:
            lines.append([])
            used = _width(piece) + BETWEEN
        lines[-1].append((piece, look))
    return lines


def _looks(pieces: Sequence[bytes]) -> list[PieceLook]:
    """Which pieces are whole words: those that begin one and are followed by a beginning."""
    # A word begins with a space or punctuation; its other bytes are letters or beyond ASCII.
    begins = [not piece[:1].isalnum() and piece[0] < 0x80 for piece in pieces]
    looks = []
    for piece, first, next_first in zip(pieces, begins, [*begins[1:], True], strict=False):
        whole = WHOLE_WORD if first and next_first else PART
        looks.append(SINGLE_BYTE if len(piece) == 1 else whole)
    return looks


def _draw_line(axes: Axes, line: Sequence[tuple[bytes, PieceLook]], *, bottom: float) -> None:
    left = 0.0
    for piece, look in line:
        draw_piece(axes, piece, (left, bottom), (_width(piece), BOX_HEIGHT), look)
        left += _width(piece) + BETWEEN


def _new_axes(height: float) -> Axes:
    """Axes whose unit is the inch, with the legend below."""
    whole = height + LEGEND
    figure = plt.figure(figsize=(WIDTH, whole), layout="none")
    axes = figure.add_axes((0, LEGEND / whole, 1, height / whole))
    axes.set(xlim=(0, WIDTH), ylim=(0, height))
    axes.set_axis_off()
    handles = [
        Patch(facecolor=look.fill, edgecolor=look.edge, label=look.name)
        for look in (WHOLE_WORD, PART, SINGLE_BYTE)
    ]
    axes.legend(handles=handles, ncols=3, loc="upper left", bbox_to_anchor=(0, 0), borderpad=0)
    return axes


COLUMN, ROW, STEP_HEIGHT, GAP = 0.44, 0.4, 0.31, 0.05  # inches; a column is a byte
LEFT, BELOW, ABOVE = 0.95, 0.45, 0.05  # inches around the boxes
LEAST_WIDTH = 12  # in bytes


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
    """
    pieces = tuple(bytes([byte]) for byte in word.encode())
    steps = [MergeStep(0, pieces, (False,) * len(pieces))]
    for number, pair in enumerate(merges, start=1):
        step = _step(number, pieces, pair)
        if any(step.joined):
            steps.append(step)
            pieces = step.pieces
    return steps


def _step(number: int, pieces: tuple[bytes, ...], pair: tuple[bytes, bytes]) -> MergeStep:
    """One merge applied to the pieces, from left to right."""
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
        A new figure; its label describes it.
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
            size = (COLUMN * len(piece) - GAP, STEP_HEIGHT)
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
    figure.set_label(describe_merge_steps(merges, word))
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
