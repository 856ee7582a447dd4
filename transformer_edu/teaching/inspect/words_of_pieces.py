"""From pieces of words to words: a model works with pieces, a reader with words.

Used in notebooks/15_translation.ipynb and 16_looking_inside.ipynb, for figures of attention and
for the partners of words.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

SPACE = b" "


def group_pieces(pieces: Sequence[bytes]) -> list[list[bytes]]:
    """Put the pieces of a word together; punctuation stands alone.

    Args:
        pieces: The bytes of each, as Tokenizer.pieces has them; a word begins with a space.

    Returns:
        The pieces of each word.
    """
    words: list[list[bytes]] = []
    for piece in pieces:
        before = words[-1][-1] if words else b""
        goes_on = before == SPACE or (_in_word(before[-1:]) and _in_word(piece[:1]))
        if not goes_on or piece.startswith(SPACE):
            words.append([])
        words[-1].append(piece)
    return words


def _in_word(byte: bytes) -> bool:
    """Whether a byte, or none, is a letter or digit, or a part of a character beyond ASCII."""
    return byte.isalnum() or byte >= b"\x80"


def spell_word(pieces: Sequence[bytes]) -> str:
    """A word as a reader writes it.

    Args:
        pieces: The bytes of its pieces.
    """
    return b"".join(pieces).removeprefix(SPACE).decode(errors="replace")


def join_pieces(
    weights: Tensor,
    target_words: Sequence[Sequence[bytes]],
    source_words: Sequence[Sequence[bytes]],
) -> Tensor:
    """Attention between words, from that between their pieces.

    Args:
        weights: Shape (heads, target piece, source piece).
        target_words: The pieces of each word, row by row; at least one piece each.
        source_words: The pieces of each word, column by column; at least one piece each.

    Returns:
        Shape (heads, target word, source word); its rows sum to what those of weights do.
    """
    rows = weights.split(list(map(len, target_words)), dim=1)
    by_word = torch.stack([row.mean(dim=1) for row in rows], dim=1)
    columns = by_word.split(list(map(len, source_words)), dim=2)
    return torch.stack([column.sum(dim=2) for column in columns], dim=2)
