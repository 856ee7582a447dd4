"""The picture of a word's merges shows every step that changes it, each piece above its bytes."""

import pytest
from matplotlib.colors import to_rgba

from transformer_edu.teaching.merge_steps import (
    COLUMN,
    GAP,
    LONGEST_WORD,
    describe_merge_steps,
    merge_steps,
    plot_merge_steps,
)
from transformer_edu.teaching.sample_text import SAMPLE_PAIRS
from transformer_edu.teaching.style import BLUE
from transformer_edu.training.tokenizer import train_tokenizer

MERGES = [(b"e", b"n"), (b"x", b"y"), (b" ", b"n"), (b"\xc3", b"\xa4"), (b"en", b"en")]


def test_only_the_merges_that_change_the_word_are_steps():
    steps = merge_steps(MERGES, " nenenä")
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
    for step in merge_steps(MERGES, " nenenä"):
        assert b"".join(step.pieces) == " nenenä".encode()
        assert len(step.joined) == len(step.pieces)


def test_the_last_step_is_how_the_tokenizer_encodes_the_word():
    tokenizer = train_tokenizer([pair[1] for pair in SAMPLE_PAIRS], vocabulary_size=460)
    for word in ("Straßenbahn", "Sommergarten", "Mädchen", "unbekannt"):
        pieces = merge_steps(tokenizer.merges, f" {word}")[-1].pieces
        assert pieces == tuple(tokenizer.pieces[i] for i in tokenizer.encode(word))


def test_a_piece_is_drawn_as_wide_as_its_bytes_and_what_is_new_in_blue():
    axes = plot_merge_steps(MERGES[:1], "nen", title="$t$").axes[0]
    boxes = [(box.get_x() / COLUMN, (box.get_width() + GAP) / COLUMN) for box in axes.patches]
    assert boxes == [pytest.approx(each) for each in [(0, 1), (1, 1), (2, 1), (0, 1), (1, 2)]]
    blue = [box.get_facecolor() == to_rgba(BLUE) for box in axes.patches]
    assert blue == [False] * 4 + [True]
    assert [text.get_text() for text in axes.texts] == ["n", "e", "n", "n", "en"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["bytes", "1"]
    assert axes.get_title(loc="left") == "$t$"


def test_the_words_say_every_row():
    assert describe_merge_steps(MERGES, " nä") == (
        "nä, 2 merges. bytes: ▁ n C3 A4; merge 3: ▁n C3 A4; merge 4: ▁n ä"
    )


@pytest.mark.parametrize("word", ["", "a" * (LONGEST_WORD + 1), "ß" * 11])
def test_a_word_that_cannot_be_drawn_is_refused(word):
    message = f"word must have 1 to 20 bytes, got {len(word.encode())}"
    with pytest.raises(ValueError, match=message):
        plot_merge_steps(MERGES, word, title="t")
