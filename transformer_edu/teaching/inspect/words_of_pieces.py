"""From pieces of words to words: a model reads and writes the former, a reader the latter.

Used in notebooks/14_translation.ipynb and 15_looking_inside.ipynb, for figures of attention and
for the partners of words.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_edu.teaching.inspect.refusals import require_floats

SPACE = b" "


def group_pieces(pieces: Sequence[bytes]) -> list[list[bytes]]:
    """Put the pieces of a word together; punctuation stands alone.

    Args:
        pieces: The bytes of each, as Tokenizer.pieces has them; a word begins with a space.

    Returns:
        The pieces of each word.

    Raises:
        TypeError: If pieces is no list of bytes.
    """
    _require_bytes("pieces", pieces)
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

    Raises:
        TypeError: If pieces is no list of bytes.
    """
    _require_bytes("pieces", pieces)
    return b"".join(pieces).removeprefix(SPACE).decode(errors="replace")


def join_pieces(
    weights: Tensor,
    target_words: Sequence[Sequence[bytes]],
    source_words: Sequence[Sequence[bytes]],
) -> Tensor:
    """Attention between words, from that between their pieces.

    Args:
        weights: Shape (heads, target piece, source piece).
        target_words: The pieces of each word, row by row.
        source_words: The pieces of each word, column by column.

    Returns:
        Shape (heads, target word, source word); its rows sum to what those of weights do.

    Raises:
        TypeError: If weights is no tensor of floating-point numbers, or the words are no lists
            of bytes.
        ValueError: If weights has other axes, or words that have not as many pieces as it.
    """
    require_floats("weights", weights)
    if weights.dim() != 3:
        raise ValueError(
            "weights must have shape (heads, target piece, source piece), "
            f"got {tuple(weights.shape)}"
        )
    rows = weights.split(_lengths("target_words", target_words, weights.size(1)), dim=1)
    by_word = torch.stack([row.mean(dim=1) for row in rows], dim=1)
    columns = by_word.split(_lengths("source_words", source_words, weights.size(2)), dim=2)
    return torch.stack([column.sum(dim=2) for column in columns], dim=2)


def _lengths(name: str, words: Sequence[Sequence[bytes]], count: int) -> list[int]:
    """How many pieces each word has, refused where that is none, or not count in all."""
    if not isinstance(words, list | tuple):
        raise TypeError(f"{name} must be a list of words, got {words!r}")
    for word in words:
        _require_bytes(name, word)
    lengths = [len(word) for word in words]
    if min(lengths, default=0) == 0 or sum(lengths) != count:
        raise ValueError(
            f"{name} must be words of at least one piece, of {count} in all, got {lengths}"
        )
    return lengths


def _require_bytes(name: str, pieces: Sequence[bytes]) -> None:
    """Refuse, with a TypeError, what is no list of bytes."""
    if not isinstance(pieces, list | tuple):
        raise TypeError(f"{name} must be the bytes of pieces, got {pieces!r}")
    for piece in pieces:
        if not isinstance(piece, bytes):
            raise TypeError(f"{name} must be the bytes of pieces, got {piece!r}")
