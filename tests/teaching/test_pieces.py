"""The picture of pieces shows every piece once, in order, and tells words from parts."""

import ipywidgets as widgets
import pytest
from matplotlib.colors import to_rgba

from transformer_edu.teaching import pieces
from transformer_edu.teaching.piece_box import PART, SINGLE_BYTE, WHOLE_WORD
from transformer_edu.teaching.pieces import (
    WIDTH,
    describe_pieces,
    explore_merges,
    plot_pieces,
)
from transformer_edu.training.tokenizer import Tokenizer

MERGES = [(b" ", b"d"), (b"e", b"r"), (b" d", b"er"), (b"i", b"n"), (b" ", b"in"), (b"u", b"n")]
TOKENIZER = Tokenizer(MERGES)
TEXTS = {"one": "der in unß.", "$two$": "der"}


def boxes(axes) -> list[str]:
    """What stands in the boxes; the other texts are the headings."""
    return [text.get_text() for text in axes.texts if "piece" not in text.get_text()]


def looks(axes) -> list[str]:
    names = {to_rgba(look.fill): look.name for look in (WHOLE_WORD, PART, SINGLE_BYTE)}
    return [names[box.get_facecolor()] for box in axes.patches]


def test_every_piece_is_drawn_in_its_order_below_its_name():
    axes = plot_pieces(TOKENIZER, TEXTS, title="$t$").axes[0]
    assert boxes(axes) == ["▁der", "▁in", "▁", "un", "C3", "9F", ".", "▁der"]
    assert [text.get_text() for text in axes.texts if "piece" in text.get_text()] == [
        "one: 7 pieces",
        r"\$two\$: 1 pieces",
    ]
    assert axes.get_title(loc="left") == "$t$"


def test_whole_words_parts_and_single_bytes_are_told_apart():
    axes = plot_pieces(TOKENIZER, {"one": "der derin un in"}, title="t").axes[0]
    assert boxes(axes) == ["▁der", "▁der", "in", "▁", "un", "▁in"]
    whole, part, byte = WHOLE_WORD.name, PART.name, SINGLE_BYTE.name
    assert looks(axes) == [whole, part, part, byte, part, whole]
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert legend == [whole, part, byte]


def test_a_word_before_punctuation_is_whole_and_one_before_half_a_character_is_not():
    axes = plot_pieces(TOKENIZER, {"one": "der.", "two": "derß"}, title="t").axes[0]
    assert looks(axes)[0] == WHOLE_WORD.name and looks(axes)[2] == PART.name


def test_boxes_do_not_overlap_and_stay_within_the_figure():
    axes = plot_pieces(TOKENIZER, {"one": "der in " * 20, "two": "x" * 100}, title="t").axes[0]
    rows: dict[float, list] = {}
    for box in axes.patches:
        rows.setdefault(round(box.get_y(), 3), []).append(box)
    assert len(rows) > 3
    for row in rows.values():
        edges = [edge for box in row for edge in (box.get_x(), box.get_x() + box.get_width())]
        assert edges == sorted(edges) and edges[-1] <= WIDTH
    assert min(rows) >= axes.get_ylim()[0]


def test_room_for_more_lines_makes_the_figure_higher():
    low, high = (
        plot_pieces(TOKENIZER, TEXTS, title="t", num_lines=lines).get_figheight()
        for lines in (1, 3)
    )
    assert high > low


def test_the_words_hold_every_piece_between_bars():
    words = describe_pieces(TOKENIZER, TEXTS)
    assert "one, 7 pieces: ▁der|▁in|▁|un|C3|9F|." in words and "$two$, 1 pieces: ▁der" in words


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({}, "texts must need 1 to 16 lines of boxes, got 0"),
        ({"one": ""}, "text 'one' must hold something to draw, got none"),
        ({"one": "x" * 1000}, "texts must need 1 to 16 lines of boxes, got"),
    ],
    ids=["none", "empty", "long"],
)
def test_what_cannot_be_drawn_is_refused(texts, message):
    with pytest.raises(ValueError, match=message):
        plot_pieces(TOKENIZER, texts, title="t")


@pytest.fixture
def explored(monkeypatch) -> tuple:
    """What explore_merges hands to explore: its drawing, its words and its slider."""
    calls: list[tuple] = []
    monkeypatch.setattr(
        pieces, "explore", lambda draw, alt, **controls: calls.append((draw, alt, controls))
    )
    explore_merges(MERGES, TEXTS)
    return calls[0]


def test_the_slider_runs_from_no_merge_to_all(explored):
    draw, describe, controls = explored
    slider = controls["num_merges"]
    assert isinstance(slider, widgets.IntSlider)
    assert (slider.min, slider.max, slider.value) == (0, 6, 6)
    for num_merges, count in ((0, 17), (3, 11), (6, 8)):
        title = draw(num_merges).axes[0].get_title(loc="left")
        assert title == f"After {num_merges} merges: {count} pieces"
        assert describe(num_merges).startswith(f"after {num_merges} merges")


def test_the_picture_keeps_its_size_while_the_slider_moves(explored):
    draw, _, _ = explored
    heights = {draw(num_merges).get_figheight() for num_merges in (0, 3, 6)}
    assert len(heights) == 1


def test_nothing_to_explore_is_refused():
    with pytest.raises(ValueError, match="texts must hold at least one text, got none"):
        explore_merges(MERGES, {})
