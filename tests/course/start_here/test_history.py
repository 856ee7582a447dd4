"""Three ways to translate: what is in color leads to the word that is about to be written."""

import pytest
from matplotlib.colors import to_rgba
from matplotlib.patches import ArrowStyle, FancyArrowPatch

from transformer_course.drawing.style import VERMILION
from transformer_course.start_here.history import plot_history

SOURCE, TARGET = ["a", "b", "c"], ["p", "q", "r", "s"]


def colored_lines(axes) -> int:
    return sum(line.get_color() == VERMILION for line in axes.lines)


def colored_arrows(axes) -> int:
    arrows = [each for each in axes.patches if isinstance(each, FancyArrowPatch)]
    return sum(arrow.get_edgecolor()[:3] == to_rgba(VERMILION)[:3] for arrow in arrows)


@pytest.mark.parametrize("marked", [0, 2, 3])
def test_the_marked_word_has_a_line_to_each_word_read_and_an_arc_to_each_written_before(marked):
    recurrent, attending, transformer = plot_history(SOURCE, TARGET, marked=marked).axes
    assert [colored_lines(axes) for axes in (recurrent, attending, transformer)] == [0, 3, 3]
    assert colored_arrows(transformer) == marked


def test_only_recurrent_translators_have_chains():
    def heads(axes) -> int:
        arrows = [each for each in axes.patches if isinstance(each, FancyArrowPatch)]
        return sum(isinstance(each.get_arrowstyle(), ArrowStyle.CurveFilledB) for each in arrows)

    chains = [heads(axes) for axes in plot_history(SOURCE, TARGET, marked=1).axes]
    # a chain along each sentence and two arrows at the vector; the middle encoder reads both ways
    assert chains == [2 + 3 + 2, 2 * 2 + 3, 0]


def test_a_word_that_is_not_there_cannot_be_marked():
    with pytest.raises(ValueError, match=f"marked must be at most {len(TARGET) - 1}, got 9"):
        plot_history(SOURCE, TARGET, marked=9)


def test_the_title_names_the_marked_word():
    figure = plot_history(SOURCE, TARGET, marked=1)
    assert figure.get_suptitle().endswith("from q") and "one vector" in figure.get_label()
