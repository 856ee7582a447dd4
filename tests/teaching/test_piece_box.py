"""A piece's box shows the piece as it is written."""

import matplotlib.pyplot as plt
import pytest

from transformer_edu.teaching.piece_box import (
    CHARACTER,
    FONT,
    FONT_SIZE,
    PART,
    SINGLE_BYTE,
    WHOLE_WORD,
    draw_piece,
    piece_label,
)


@pytest.fixture
def axes():
    yield plt.figure(figsize=(2, 2)).add_axes((0, 0, 1, 1))
    plt.close("all")


@pytest.mark.parametrize(
    ("piece", "label"),
    [
        (b" the", "▁the"),
        ("Straß".encode(), "Straß"),
        (b"\xc3", "C3"),
        (b"a\xc3", "aC3"),
        (b"\n", "0A"),
        (b"<0x0g>", "<0x0g>"),
        (b"$x$", "$x$"),
    ],
)
def test_a_label_is_the_text_or_the_bytes_of_what_cannot_be_seen(piece, label):
    assert piece_label(piece) == label


def test_a_box_stands_where_it_is_told_with_its_label_in_the_middle(axes):
    draw_piece(axes, b"$en$", (0.5, 1.0), (0.75, 0.25), PART)
    (box,), (text,) = axes.patches, axes.texts
    assert (box.get_x(), box.get_y(), box.get_width(), box.get_height()) == (0.5, 1, 0.75, 0.25)
    assert text.get_position() == (0.875, 1.125)
    assert text.get_text() == "$en$" and not text.get_parse_math()


def test_the_looks_differ_in_more_than_one_way():
    looks = (WHOLE_WORD, PART, SINGLE_BYTE)
    assert len({look.name for look in looks}) == len({look.fill for look in looks}) == 3
    assert WHOLE_WORD.weight != PART.weight == SINGLE_BYTE.weight


def test_a_character_is_as_wide_as_the_boxes_reckon(axes):
    text = axes.text(0, 0, "m" * 10, family=FONT, fontsize=FONT_SIZE)
    width = text.get_window_extent().width / axes.figure.dpi  # inches
    assert width == pytest.approx(10 * CHARACTER, rel=0.03)
