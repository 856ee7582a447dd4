"""The picture of pieces shows every piece once, in order, and tells words from parts."""

import ipywidgets as widgets
import matplotlib.pyplot as plt
import pytest
from matplotlib.colors import to_rgba

from transformer_course.drawing.style import BLUE
from transformer_course.texts.sentences import SAMPLE_PAIRS
from transformer_course.tokenization import pieces
from transformer_course.tokenization.pieces import (
    CHARACTER,
    COLUMN,
    FONT,
    FONT_SIZE,
    GAP,
    PART,
    SINGLE_BYTE,
    WHOLE_WORD,
    WIDTH,
    describe_merge_steps,
    describe_pieces,
    draw_piece,
    explore_merges,
    merge_steps,
    piece_label,
    plot_merge_steps,
    plot_pieces,
)
from transformer_edu.data.tokenizer import Tokenizer, train_tokenizer


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


def test_a_character_is_as_wide_as_the_boxes_reckon(axes):
    text = axes.text(0, 0, "m" * 10, family=FONT, fontsize=FONT_SIZE)
    width = text.get_window_extent().width / axes.figure.dpi  # inches
    assert width == pytest.approx(10 * CHARACTER, rel=0.03)


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
    axes = plot_pieces(TOKENIZER, TEXTS, title="t").axes[0]
    assert boxes(axes) == ["▁der", "▁in", "▁", "un", "C3", "9F", ".", "▁der"]
    assert [text.get_text() for text in axes.texts if "piece" in text.get_text()] == [
        "one: 7 pieces",
        r"\$two\$: 1 piece",
    ]


def test_an_empty_text_has_no_pieces():
    axes = plot_pieces(TOKENIZER, {"mine": "", "one": "der"}, title="t").axes[0]
    assert boxes(axes) == ["▁der"]


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


def test_the_words_hold_every_piece_between_bars():
    words = describe_pieces(TOKENIZER, TEXTS)
    assert "one, 7 pieces: ▁der|▁in|▁|un|C3|9F|." in words and "$two$, 1 piece: ▁der" in words


@pytest.fixture
def explored(monkeypatch) -> tuple:
    """What explore_merges hands to explore: its drawing, its words and its slider."""
    calls: list[tuple] = []
    monkeypatch.setattr(
        pieces, "explore", lambda draw, alt, **controls: calls.append((draw, alt, controls))
    )
    explore_merges(MERGES, TEXTS)
    return calls[0]


def test_a_single_piece_is_counted_as_one_in_title_heading_and_words(monkeypatch):
    calls: list[tuple] = []
    monkeypatch.setattr(pieces, "explore", lambda *given, **controls: calls.append(given))
    explore_merges(MERGES, {"one": "der"})
    ((draw, describe),) = calls
    axes = draw(6).axes[0]
    assert axes.get_title(loc="left") == "After 6 merges: 1 piece"
    assert axes.texts[0].get_text() == "one: 1 piece"
    assert describe(6).endswith("one, 1 piece: ▁der")


def test_the_slider_runs_from_no_merge_to_all(explored):
    draw, describe, controls = explored
    slider = controls["num_merges"]
    assert isinstance(slider, widgets.SelectionSlider)
    assert (slider.options, slider.value) == ((0, 6), 6)
    for num_merges, count in ((0, 17), (3, 11), (6, 8)):
        title = draw(num_merges).axes[0].get_title(loc="left")
        assert title == f"After {num_merges} merges: {count} pieces"
        assert describe(num_merges).startswith(f"after {num_merges} merges")


def test_the_reader_can_type_a_text_of_their_own(explored):
    draw, describe, controls = explored
    assert isinstance(controls["text"], widgets.Text) and controls["text"].value == ""
    said = describe(6, "der xyz")
    count = len(Tokenizer(MERGES).encode("der xyz"))
    assert f"your text, {count} pieces: ▁der|" in said
    words = [text.get_text() for text in draw(6, "der xyz").axes[0].texts]
    assert f"your text: {count} pieces" in words
    assert "your text" not in describe(6, " ")


def test_the_picture_keeps_its_size_while_the_slider_moves(explored):
    draw, _, _ = explored
    heights = {draw(num_merges).get_figheight() for num_merges in (0, 3, 6)}
    assert len(heights) == 1


STEP_MERGES = [(b"e", b"n"), (b"x", b"y"), (b" ", b"n"), (b"\xc3", b"\xa4"), (b"en", b"en")]


def test_only_the_merges_that_change_the_word_are_steps():
    steps = merge_steps(STEP_MERGES, " nenenä")
    assert [step.number for step in steps] == [0, 1, 3, 4, 5]
    assert steps[0].pieces == tuple(bytes([byte]) for byte in " nenenä".encode())
    assert steps[1].pieces == (b" ", b"n", b"en", b"en", b"\xc3", b"\xa4")
    assert steps[1].joined == (False, False, True, True, False, False)
    assert steps[-1].pieces == (b" n", b"enen", "ä".encode())
    assert steps[-1].joined == (False, True, False)


def test_a_piece_that_has_just_been_made_is_not_joined_again_by_the_same_merge():
    pairs = [(b"a", b"a"), (b"aa", b"a")]
    assert [step.pieces for step in merge_steps(pairs, "aaaaa")] == [
        (b"a",) * 5,
        (b"aa", b"aa", b"a"),
        (b"aa", b"aaa"),
    ]


def test_every_step_spells_the_word():
    for step in merge_steps(STEP_MERGES, " nenenä"):
        assert b"".join(step.pieces) == " nenenä".encode()
        assert len(step.joined) == len(step.pieces)


def test_the_last_step_is_how_the_tokenizer_encodes_the_word():
    tokenizer = train_tokenizer([pair[1] for pair in SAMPLE_PAIRS], vocabulary_size=460)
    for word in ("Straßenbahn", "Sommergarten", "Mädchen", "unbekannt"):
        pieces = merge_steps(tokenizer.merges, f" {word}")[-1].pieces
        assert pieces == tuple(tokenizer.pieces[i] for i in tokenizer.encode(word))


def test_a_piece_is_drawn_as_wide_as_its_bytes_and_what_is_new_in_blue():
    axes = plot_merge_steps(STEP_MERGES[:1], "nen", title="t").axes[0]
    boxes = [(box.get_x() / COLUMN, (box.get_width() + GAP) / COLUMN) for box in axes.patches]
    assert boxes == [pytest.approx(each) for each in [(0, 1), (1, 1), (2, 1), (0, 1), (1, 2)]]
    blue = [box.get_facecolor() == to_rgba(BLUE) for box in axes.patches]
    assert blue == [False] * 4 + [True]
    assert [text.get_text() for text in axes.texts] == ["n", "e", "n", "n", "en"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["bytes", "1"]


def test_the_words_say_every_row():
    assert describe_merge_steps(STEP_MERGES, " nä") == (
        "nä, 2 merges. bytes: ▁ n C3 A4; merge 3: ▁n C3 A4; merge 4: ▁n ä"
    )
