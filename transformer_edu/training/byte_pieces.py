"""Pieces of text as bytes, and how to spell them: for the library, for a file, and for people."""

# Each byte is spelt as one visible character: the printable ones of Latin-1 as they are, the 68
# others in their order from U+0100 on. The library tokenizers does the same.
PRINTABLE = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
OTHERS = [byte for byte in range(256) if byte not in PRINTABLE]
SPELLING = {byte: chr(byte) for byte in PRINTABLE} | {
    byte: chr(0x100 + number) for number, byte in enumerate(OTHERS)
}
BYTES = {character: byte for byte, character in SPELLING.items()}
# In the order of the spelling, not of the bytes: so has the library, which breaks ties by it.
ALPHABET = tuple(bytes([BYTES[character]]) for character in sorted(BYTES))
SPACE = "▁"  # shown for a space


def spell(piece: bytes) -> str:
    """A piece without a space or a line break in it, whatever it holds: Ġ is a space."""
    return "".join(SPELLING[byte] for byte in piece)


def spelt_bytes(spelt: str) -> bytes:
    """What spell has spelt.

    Raises:
        KeyError: If a character is none that spells a byte.
    """
    return bytes(BYTES[character] for character in spelt)


def readable(piece: bytes) -> str:
    """A piece as people read it, a space as ▁; what cannot be seen is shown as its bytes, <0x0A>.

    So are half a character and the character ▁ itself: two pieces never look the same, unless
    their own text holds something like <0x0A>.
    """
    seen = []
    for character in piece.decode(errors="surrogateescape"):
        own = character.encode(errors="surrogateescape")
        if character == " ":
            seen.append(SPACE)
        elif character == SPACE or not character.isprintable():
            seen += (f"<0x{byte:02X}>" for byte in own)
        else:
            seen.append(character)
    return "".join(seen)
