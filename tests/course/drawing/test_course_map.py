"""The map shows every part of Figure 1, whole and legible, and marks what it is asked to."""

import itertools

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from transformer_course.drawing.course_map import (
    COMPONENTS,
    TITLE_SIZE,
    describe_architecture,
    plot_architecture,
)
from transformer_course.drawing.pen import STRONG_EDGE
from transformer_course.drawing.style import BLUE

LESSONS = (
    (),
    "token embedding",
    "attention",
    ("masked self-attention", "padding mask", "causal mask"),
    ("attention", "heads"),
    "positional encoding",
    ("feed-forward", "add & norm", "residual connection"),
    "encoder",
    "decoder",
    ("cross-attention", "memory"),
    "transformer",
)


def texts(figure: Figure) -> list[Text]:
    return [text for text in figure.axes[0].texts if text.get_text()]


def labels(figure: Figure) -> list[str]:
    return [text.get_text().replace("\n", " ") for text in texts(figure)]


def bold_labels(figure: Figure) -> set[str]:
    return {
        text.get_text().replace("\n", " ")
        for text in texts(figure)
        if text.get_fontweight() == "bold"
    }


def title(figure: Figure) -> Text:
    return next(text for text in figure.axes[0].get_children() if is_title(text))


def is_title(artist: object) -> bool:
    return isinstance(artist, Text) and artist.get_fontsize() == TITLE_SIZE and artist.get_text()


def pixels(figure: Figure) -> np.ndarray:
    figure.set_dpi(50)
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba()).copy()


def extent(artist: Text | FancyBboxPatch) -> Bbox:
    return artist.get_window_extent(artist.figure.canvas.get_renderer())


def boxes(figure: Figure) -> list[FancyBboxPatch]:
    return [patch for patch in figure.axes[0].patches if isinstance(patch, FancyBboxPatch)]


def test_every_part_of_the_model_is_drawn_as_often_as_it_occurs():
    shown = labels(plot_architecture())
    assert shown.count("Add & Norm") == 5
    assert shown.count("Feed-forward") == 2
    assert shown.count("Token embedding × √d_model") == 2
    assert shown.count("+ Positional encoding") == 2
    for once in (
        "Source tokens",
        "Target tokens (shifted right)",
        "Self-attention",
        "Masked self-attention",
        "Cross-attention",
        "Memory",
        "Encoder",
        "Decoder",
        "Output projection",
        "Softmax",
        "padding mask",
        "causal mask",
        "heads",
        "residual connection",
    ):
        assert shown.count(once) == 1, once


def test_every_highlight_makes_a_picture_of_its_own():
    pictures = [pixels(plot_architecture(highlight)) for highlight in ((), *COMPONENTS)]
    for one, other in itertools.combinations(pictures, 2):
        assert not np.array_equal(one, other)


def test_what_is_highlighted_is_bold_and_nothing_else_is():
    assert bold_labels(plot_architecture()) == set()
    assert bold_labels(plot_architecture("cross-attention")) == {"Cross-attention"}
    assert bold_labels(plot_architecture(["memory", "softmax"])) == {"Memory", "Softmax"}
    whole = plot_architecture("transformer")
    assert bold_labels(whole) == set(labels(whole)) - {"next token"}


def test_color_is_never_the_only_sign():
    for box in boxes(plot_architecture("decoder")):
        filled = to_hex(box.get_facecolor()).upper() == BLUE
        if filled:
            assert box.get_linewidth() > 2
            assert to_hex(box.get_edgecolor()).upper() == STRONG_EDGE


def test_the_encoder_alone_is_marked_when_it_is_asked_for():
    marked = bold_labels(plot_architecture("encoder"))
    assert {"Encoder", "Self-attention", "Feed-forward", "Add & Norm"} <= marked
    assert not {"Decoder", "Cross-attention", "Memory"} & marked


@pytest.mark.parametrize("highlight", LESSONS, ids=str)
def test_no_words_overlap_and_none_leave_the_picture(highlight):
    figure = plot_architecture(highlight, title="Where we are: the whole model in one picture")
    words = [extent(text) for text in (*texts(figure), title(figure))]
    for one, other in itertools.combinations(words, 2):
        assert not one.overlaps(other)
    for one in words:
        assert figure.bbox.x0 <= one.x0
        assert one.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= one.y0
        assert one.y1 <= figure.bbox.y1


@pytest.mark.parametrize("highlight", LESSONS, ids=str)
def test_every_label_in_a_box_fits_into_it(highlight):
    figure = plot_architecture(highlight)
    outlines = [extent(box) for box in boxes(figure) if box.get_zorder() == 3]  # piles lie below
    inside = 0
    for label in map(extent, texts(figure)):
        x, y = (label.x0 + label.x1) / 2, (label.y0 + label.y1) / 2
        around = [outline for outline in outlines if outline.contains(x, y)]
        inside += bool(around)
        for outline in around:
            assert outline.x0 < label.x0
            assert label.x1 < outline.x1
            assert outline.y0 < label.y0
            assert label.y1 < outline.y1
    assert inside == 19  # every box of the map has its words


def test_the_description_names_the_parts_and_what_is_highlighted():
    words = describe_architecture(("memory", "cross-attention"))
    for part in ("source tokens", "feed-forward", "masked self-attention", "softmax", "Add & Norm"):
        assert part in words
    assert words.endswith("Highlighted: cross-attention, memory.")
    assert describe_architecture().endswith("Highlighted: nothing.")


@pytest.mark.parametrize("function", [plot_architecture, describe_architecture])
def test_an_unknown_component_is_refused_with_the_known_ones(function):
    with pytest.raises(ValueError, match="component of the map, got 'atention'; it has tokens, "):
        function(("memory", "atention"))
