"""The pen tells what is highlighted from what is not by line, weight and color at once."""

import matplotlib.pyplot as plt
import pytest
from matplotlib.colors import to_hex, to_rgb

from transformer_course.drawing.pen import INK, QUIET, STRONG_EDGE, STRONG_WASH, Box, Pen
from transformer_course.drawing.style import BLUE

BOX = Box("cross", left=1, bottom=2, width=4, height=0.5, components=("cross-attention",))


@pytest.fixture
def axes():
    yield plt.figure().add_axes((0, 0, 1, 1))
    plt.close("all")


def luminance(color: str) -> float:
    """The relative luminance of WCAG 2.1."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_a_box_knows_its_edges_and_its_middle():
    assert (BOX.right, BOX.top, BOX.x, BOX.y) == (5, 2.5, 3, 2.25)


def test_words_and_highlights_can_be_read():
    assert contrast(INK, QUIET) >= 4.5
    assert contrast(INK, STRONG_WASH) >= 4.5
    assert contrast("white", BLUE) >= 4.5
    assert contrast(BLUE, QUIET) >= 3
    assert contrast(STRONG_EDGE, "white") >= 3


def test_only_what_is_highlighted_is_strong():
    pen = Pen(None, {"memory"})
    assert pen.is_strong("encoder", "memory")
    assert not pen.is_strong("encoder")
    assert Pen(None, {"transformer"}).is_strong("encoder")


def test_a_highlighted_box_has_a_heavier_outline_and_bold_words(axes):
    for highlight in (set(), {"cross-attention"}):
        Pen(axes, highlight).box(BOX)
    quiet, strong = (patch for patch in axes.patches if patch.get_zorder() == 3)
    assert strong.get_linewidth() > 2 * quiet.get_linewidth()
    assert [text.get_fontweight() for text in axes.texts] == ["normal", "bold"]


@pytest.mark.parametrize(("name", "hidden"), [("causal mask", 3), ("padding mask", 3)])
def test_a_mask_hides_the_cells_that_it_is_named_after(axes, name, hidden):
    Pen(axes, set()).mask(name, 0.0, 0.0)
    frame, *cells = axes.patches
    assert len(cells) == hidden
    corners = {(round(cell.get_x() / cell.get_width()), cell.get_y() > 0) for cell in cells}
    assert ((1, True) in corners) == (name == "causal mask")
    assert all(cell.get_x() + cell.get_width() <= frame.get_width() + 1e-9 for cell in cells)


def test_an_allowed_cell_is_blue_as_in_the_pictures_of_masks(axes):
    Pen(axes, {"causal mask"}).mask("causal mask", 0.0, 0.0)
    frame, *hidden = axes.patches
    assert to_hex(frame.get_facecolor()) == BLUE.lower()
    assert {to_hex(cell.get_facecolor()) for cell in hidden} == {"#ffffff"}
