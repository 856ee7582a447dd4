"""Every byte has its own spelling, the library's, and every piece its own look."""

import itertools

import pytest

from transformer_edu.training.byte_pieces import ALPHABET, readable, spell, spelt_bytes

EVERY_BYTE = [bytes([byte]) for byte in range(256)]


def test_the_alphabet_is_every_byte_once():
    assert sorted(ALPHABET) == EVERY_BYTE


def test_a_spelling_comes_back_and_holds_nothing_invisible():
    for piece in [*EVERY_BYTE, b"", " Häuser 中\n".encode()]:
        assert spelt_bytes(spell(piece)) == piece
        assert not set(spell(piece)) & set(" \t\n\r\x00")


def test_bytes_are_spelt_as_the_library_spells_them():
    library = pytest.importorskip("tokenizers").pre_tokenizers.ByteLevel(
        add_prefix_space=False, use_regex=False
    )
    text = "".join(map(chr, range(0x100))) + "\u0400中\U0001f600"
    spelt = "".join(piece for piece, _ in library.pre_tokenize_str(text))
    assert spelt == spell(text.encode())
    assert set(library.alphabet()) == set(map(spell, ALPHABET))


@pytest.mark.parametrize(
    ("piece", "seen"),
    [
        (" Hund", "▁Hund"),
        ("läuft", "läuft"),
        ("  ", "▁▁"),
        ("\n", "<0x0A>"),
        ("\u202e", "<0xE2><0x80><0xAE>"),  # turns the direction of whatever follows
        ("▁", "<0xE2><0x96><0x81>"),
    ],
)
def test_a_piece_is_shown_as_people_read_it(piece, seen):
    assert readable(piece.encode()) == seen


def test_half_a_character_is_shown_as_its_bytes():
    assert readable("ü".encode()[:1]) == "<0xC3>"
    assert readable(b" " + "ü".encode()[1:] + b"r") == "▁<0xBC>r"


def test_no_two_short_pieces_look_the_same():
    pieces = [bytes(pair) for pair in itertools.product(range(256), repeat=2)]
    assert len({*map(readable, pieces), *map(readable, EVERY_BYTE)}) == 256 * 257
