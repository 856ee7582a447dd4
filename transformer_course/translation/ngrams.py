"""The n-grams of a translation as bars below its words: which of them the reference has, too."""

from collections import Counter
from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from transformer_course.drawing.style import BLUE, GRAY, literal, styled

LONGEST = 4  # words of an n-gram in BLEU
LANE, GAP = 0.34, 0.3  # heights: of a row of bars, and between two groups of rows


@styled
def plot_ngrams(hypothesis: Sequence[str], reference: Sequence[str]) -> Figure:
    """Draw every n-gram of a translation, from 1 to 4 words, below the words that it holds.

    Filled bars count as matches: the reference has this n-gram, and has it so often. The others
    are outlined. The figure's label says it in words.

    Args:
        hypothesis: The words of the translation.
        reference: The words of the reference.

    Returns:
        A new figure.
    """
    figure, axes = plt.subplots(figsize=(min(2.6 + 1.0 * len(hypothesis), 10), 4.2))
    for place, word in enumerate(hypothesis):
        axes.text(place + 0.5, 0.15, literal(word), ha="center", va="bottom", fontsize=14)
    top, said = 0.0, []
    for n in range(1, LONGEST + 1):
        found = matches(hypothesis, reference, n)
        _draw_group(axes, found, n, top)
        said.append(f"{sum(found)} of {len(found)}")
        middle = top - n * LANE / 2
        axes.text(-0.3, middle, _name(n), ha="right", va="center")
        axes.text(len(hypothesis) + 0.3, middle, said[-1], ha="left", va="center")
        top -= n * LANE + GAP
    axes.set(xlim=(-1.6, len(hypothesis) + 1.3), ylim=(top, 0.8))
    axes.set_axis_off()
    title = f"Matches: {said[0]} {_name(1)}, {said[-1]} {_name(LONGEST)}"
    axes.set_title(title)
    counts = ", ".join(f"{count} {_name(n)}" for n, count in enumerate(said, start=1))
    figure.set_label(f"{' '.join(hypothesis)}: of its n-grams the reference has {counts}")
    return figure


def ngrams_of(words: Sequence[str], n: int) -> list[tuple[str, ...]]:
    """Every run of n words, in order; one that comes twice is there twice."""
    if isinstance(words, str):  # its letters would count as words
        raise TypeError(f"words must be a list of words, got {words!r}")
    return [tuple(words[start : start + n]) for start in range(len(words) - n + 1)]


def matches(hypothesis: Sequence[str], reference: Sequence[str], n: int) -> list[bool]:
    """Whether each n-gram of the hypothesis counts as a match, in order.

    Args:
        hypothesis: Words.
        reference: Words. An n-gram that it has twice can match twice.
        n: How many words an n-gram has.
    """
    left = Counter(ngrams_of(reference, n))
    found = []
    for ngram in ngrams_of(hypothesis, n):
        found.append(left[ngram] > 0)
        left[ngram] -= 1
    return found


def _name(n: int) -> str:
    return "words" if n == 1 else f"{n}-grams"


def _draw_group(axes: Axes, found: Sequence[bool], n: int, top: float) -> None:
    """The n-grams of one length, in n rows so that neighbors do not cover each other."""
    for start, is_match in enumerate(found):
        y = top - (start % n + 0.5) * LANE
        style = {"facecolor": BLUE if is_match else "none", "edgecolor": BLUE if is_match else GRAY}
        dashes = "solid" if is_match else (0, (3, 2))
        axes.barh(
            y, n - 0.16, LANE * 0.62, left=start + 0.08, linestyle=dashes, linewidth=1.2, **style
        )
