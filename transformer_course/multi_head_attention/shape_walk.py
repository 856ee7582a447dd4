"""How a trace is shown: as a table of one line for each tensor, and as a walk in pictures."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from textwrap import fill

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from transformer_course.drawing.pen import QUIET, Box, Pen
from transformer_course.drawing.style import styled
from transformer_course.looking.shape_trace import Step

PAGE, MOST_NUMBERS = 100, 3  # columns of the table; numbers of one token in it
MOST_ROWS = 16  # in one picture
WIDTH, LEFT, MIDDLE, RIGHT = 7.4, 0.05, 3.42, 5.0  # inches: the drawing's own unit is the inch
LONGEST_SIDE, APART, ROW_GAP, FOOT = 0.86, 1.02, 0.24, 0.36
MOST_SHEETS, LIFT = 8, 0.03  # of one pile, and how far each lies behind the one before
FILL = {"d_head": "#CDE9DC", "key": "#F3D9E6", "d_model": "#CFE3F1", "d_ff": "#CFE3F1"}


def print_trace(steps: Sequence[Step]) -> None:
    """Print one line for each step: what it is, its axes, the first numbers of one token, source.

    No line is longer than 100 columns; the package's files stand without their folders.

    Args:
        steps: What trace returned.
    """
    columns = [
        ["  " + step.words for step in steps],
        [shape_in_words(step) for step in steps],
        [_short(step.source) for step in steps],
    ]
    words, shape, source = (max(map(len, column), default=0) for column in columns)
    room = PAGE - words - shape - source - 6  # for the numbers, between the other columns
    place = None
    for step, name, axes, line in zip(steps, *columns, strict=True):
        if step.place != place:
            place = step.place
            print(place)
        numbers = _numbers(step, room)
        text = f"{name:<{words}}  {axes:<{shape}}  {numbers:<{max(room, 0)}}  {line}".rstrip()
        print(text if len(text) <= PAGE else text[: PAGE - 1] + "…")


def shape_in_words(step: Step) -> str:
    """*batch 2, query 10, d_model 512*, or the bare lengths when the axes have no names."""
    if not step.axes:
        return " × ".join(map(str, step.shape)) or "one number"
    return ", ".join(f"{axis} {length}" for axis, length in zip(step.axes, step.shape, strict=True))


def _short(source: str) -> str:
    """The package's files by their own name, others with their folders."""
    return source.rpartition("/")[2] if source.startswith("transformer_edu/") else source


def _numbers(step: Step, room: int) -> str:
    """As many of the first numbers as fit, and whether there are more."""
    texts = [f"{value:.2f}" if isinstance(value, float) else str(value) for value in step.values]
    for count in range(min(MOST_NUMBERS, len(texts)), 0, -1):
        more = " …" if step.shape and step.shape[-1] > count else ""
        line = " ".join(f"{text:>5}" for text in texts[:count]) + more
        if len(line) <= room:
            return line
    return ""


@styled
def plot_shape_walk(steps: Sequence[Step], *, title: str) -> Figure:
    """Draw the tensors from top to bottom as sheets of paper: one sentence of the batch.

    A sheet is as high and as wide as the logarithms of its last two axes; the heads are a pile.
    Queries, keys and values stand side by side.

    Args:
        steps: What trace returned, or a part of it.
        title: What the reader should see, as a sentence; drawn literally.

    Returns:
        A new figure.

    Raises:
        ValueError: If there are no steps, or more rows than fit on a page.
    """
    rows = _rows(steps)
    if not 0 < len(rows) <= MOST_ROWS:
        raise ValueError(f"steps must fill 1 to {MOST_ROWS} rows, got {len(rows)}; trace one layer")
    largest = max(length for step in steps for length in (*step.shape[-2:], 1))
    piles = [[_Pile(step, largest) for step in row] for row in rows]
    heights = [max(pile.height for pile in row) + ROW_GAP for row in piles]
    figure = plt.figure(figsize=(WIDTH, sum(heights) + FOOT + 0.4), layout="none")
    axes = figure.add_axes((0, 0, 1, (sum(heights) + FOOT) / figure.get_figheight()))
    axes.set(xlim=(0, WIDTH), ylim=(-FOOT, sum(heights)), aspect="equal")
    axes.set_axis_off()
    axes.set_title(title, loc="left", x=0.005, parse_math=False)
    pen, bottom = Pen(axes, set()), sum(heights)
    for row, height in zip(piles, heights, strict=True):
        bottom -= height
        for place, pile in enumerate(row):
            pile.move(MIDDLE + APART * (place - (len(row) - 1) / 2), bottom)
        _draw_row(pen, row)
    for above, below in pairwise(piles):
        _draw_arrows(pen, above, below)
    _draw_values(pen, piles)
    words = "One sentence of the batch. Sides grow as the logarithm of their length"
    pen.words(words + "; a pile: all heads.", LEFT, -0.2, strong=False, align="left")
    return figure


def _rows(steps: Sequence[Step]) -> list[list[Step]]:
    """One row for each step, but one for all inputs, and one for Q, K and V."""
    rows: list[list[Step]] = []
    for step in steps:
        last = rows[-1][-1] if rows else None
        inputs = last and last.is_input and step.is_input
        letters = last and (last.words[:2], step.words[:2]) in (("Q ", "K "), ("K ", "V "))
        if (inputs or letters) and len(rows[-1]) < 3:
            rows[-1].append(step)
        else:
            rows.append([step])
    return rows


def _letter(step: Step) -> str:
    """Q, K or V, and nothing for other steps."""
    return step.words[0] if step.words[:2] in ("Q ", "K ", "V ") else ""


def _is_mask(step: Step) -> bool:
    return step.is_input and step.words.endswith("mask")


class _Pile:
    """One tensor as sheets of paper: the last two axes, once for each head."""

    def __init__(self, step: Step, largest: int) -> None:
        def side(length: int) -> float:
            return LONGEST_SIDE * math.log2(1 + length) / math.log2(1 + largest)

        rows, columns = ((1, 1) + step.shape)[-2:]
        heads = dict(zip(step.axes, step.shape, strict=False)).get("heads", 1)
        self.step = step
        self.sheets = min(heads, MOST_SHEETS)
        self.sheet = Box("", 0, 0, side(columns), side(rows))
        self.height = self.sheet.height + LIFT * (self.sheets - 1)

    def move(self, x: float, bottom: float) -> None:
        width = self.sheet.width
        self.sheet = replace(self.sheet, left=x - width / 2, bottom=bottom)

    @property
    def top(self) -> float:
        return self.sheet.bottom + self.height

    def draw(self, pen: Pen) -> None:
        axis = self.step.axes[-1] if self.step.axes else ""
        for number in reversed(range(self.sheets)):
            shift = LIFT * number
            sheet = replace(
                self.sheet, left=self.sheet.left + shift, bottom=self.sheet.bottom + shift
            )
            pen.rounded(sheet, False, fill=FILL.get(axis, QUIET), layer=4 - number / 10)
        pen.words(_letter(self.step), self.sheet.x, self.sheet.y, strong=True)


def _draw_row(pen: Pen, row: Sequence[_Pile]) -> None:
    """What it is on the left, the sheets in the middle, shape and axes on the right."""
    steps = [pile.step for pile in row]
    plain = [step.words[2:].removeprefix("= ") if _letter(step) else step.words for step in steps]
    words = ", ".join(dict.fromkeys(plain))
    y = row[0].sheet.bottom + row[0].height / 2
    pen.words(fill(words, 23), LEFT, y, strong=False, align="left")
    for pile in row:
        pile.draw(pen)
    upper, lower = _shape_lines([step for step in steps if not _is_mask(step)] or steps)
    pen.words(upper, RIGHT, y + 0.1, strong=True, align="left")
    pen.words(lower, RIGHT, y - 0.1, strong=lower.endswith(")"), align="left")


def _shape_lines(steps: Sequence[Step]) -> tuple[str, str]:
    """Shape and axes; where shapes differ, the shape of each."""
    first, last = steps[0], steps[-1]
    if first.shape != last.shape:
        names = [_letter(step) or step.words for step in steps]
        rest = ", ".join(
            n for n, step in zip(names, steps, strict=True) if step.shape == last.shape
        )
        return f"{names[0]} {first.shape}", f"{rest} {last.shape}"
    names = zip(first.axes, last.axes, strict=False)
    return str(first.shape), ", ".join(a if a == b else "position" for a, b in names)


def _draw_arrows(pen: Pen, above: Sequence[_Pile], below: Sequence[_Pile]) -> None:
    """From each sheet to what is made of it; V passes the scores by, a mask makes nothing."""
    above = [pile for pile in above if not _is_mask(pile.step)]
    if len(above) == 3 and len(below) == 1 and _letter(above[0].step):
        above = above[:2]
    for place in range(max(len(above), len(below))):
        upper, lower = above[min(place, len(above) - 1)], below[min(place, len(below) - 1)]
        end = (lower.sheet.x, lower.top + 0.03)
        pen.arrow((upper.sheet.x, upper.sheet.bottom - 0.02), end)


def _draw_values(pen: Pen, rows: Sequence[Sequence[_Pile]]) -> None:
    """From the values down past the scores and weights to where they are used."""
    for index, row in enumerate(rows):
        for user in (later[0] for later in rows[index + 2 :] if len(row) == 3):
            if user.step.words.endswith("times V") and len(rows[index + 1]) == 1:
                values, y = row[2], user.sheet.y
                right = user.sheet.left + user.sheet.width + LIFT * (user.sheets - 1)
                start = (values.sheet.x, values.sheet.bottom - 0.02)
                pen.arrow(start, (values.sheet.x, y), (right + 0.03, y))
                break
