"""The figures of lesson 8, each with its title and its description.

Used in notebooks/08_decoder.ipynb.
"""

from collections.abc import Sequence

from matplotlib.figure import Figure
from torch import Tensor

from transformer_course.decoder.next_word_bars import plot_influence
from transformer_course.drawing import course_map
from transformer_course.drawing.style import require_one_each


def show_map() -> None:
    """Show where the decoder is on the map."""
    course_map.show_map("decoder", title="The decoder: three sub-layers, repeated N times")


def plot_left_out(
    without_source: Tensor,
    without_target: Tensor,
    source_words: Sequence[str],
    reads: Sequence[str],
    labels: Sequence[str],
) -> Figure:
    """Draw how much each prediction changes without each word of the memory and of the target.

    Args:
        without_source: How much the predictions change without each source word, shape
            (prediction, source word), 0 or more.
        without_target: The same without each target word, shape (prediction, target word).
        source_words: What the encoder read.
        reads: What the decoder read.
        labels: What it should predict, one for each word that it read.

    Returns:
        A new figure; the title counts the cells that change.
    """
    require_one_each(len(reads), "words read", labels=labels)
    require_one_each(without_source.size(1), "words left out", source_words=source_words)
    panels = {
        "left out of the memory": (source_words, without_source),
        "left out of the German input": (reads, without_target),
    }
    rows = [f"{read} → {label}" for read, label in zip(reads, labels, strict=True)]
    left, right = (
        f"{int((changes != 0).sum())} of {changes.numel()}" for _, changes in panels.values()
    )
    title = f"{left} cells change on the left, {right} on the right"
    return plot_influence(panels, rows=rows, title=title)
