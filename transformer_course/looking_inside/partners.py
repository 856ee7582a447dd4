"""The cells between a word and its translation, and the sentences in which a head finds them."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from transformer_course.looking.head_roles import group_pieces, share_on, spell_word
from transformer_edu.data.toy_tasks import Pair


def partner_cells(
    pairs: Sequence[Pair],
    pieces: Sequence[bytes],
    partners: Mapping[str, str],
    *,
    reads: bool = False,
) -> Tensor:
    """The cells of a cross-attention where a target word meets its partner in the source.

    A word that was cut into pieces has as many rows and columns. Words whose partner does not
    stand in the source exactly once are left out.

    Args:
        pairs: Source and target ids, without special tokens.
        pieces: The bytes of each token, as Tokenizer.pieces has them.
        partners: The source word that a target word stands for.
        reads: Take the row that *reads* a piece as its input, which is one later than the row
            that *predicts* it.

    Returns:
        True for those cells, shape (batch, query, key), as make_batch would pad them.
    """
    queries = max(len(target) for _, target in pairs) + 1
    keys = max(len(source) for source, _ in pairs)
    cells = torch.zeros(len(pairs), queries, keys, dtype=torch.bool, device="cpu")
    for number, (source, target) in enumerate(pairs):
        there = word_places(source, pieces)
        for word, rows in word_places(target, pieces):
            found = [columns for other, columns in there if other == partners.get(word)]
            if len(found) == 1:
                first, end = rows.start + reads, rows.stop + reads
                cells[number, first:end, found[0].start : found[0].stop] = True
    return cells


def word_places(token_ids: Sequence[int], pieces: Sequence[bytes]) -> list[tuple[str, range]]:
    """Each word of a sentence, and the places of its pieces.

    Args:
        token_ids: The sentence's.
        pieces: The bytes of each token, as Tokenizer.pieces has them.
    """
    words, start = [], 0
    for word in group_pieces([pieces[token_id] for token_id in token_ids]):
        words.append((spell_word(word), range(start, start + len(word))))
        start += len(word)
    return words


def hits_on(weights: Tensor, cells: Tensor) -> Tensor:
    """How often a head's largest weight falls on a cell: the fraction of the rows that have one.

    Args:
        weights: As for share_on.
        cells: As for share_on.

    Returns:
        From 0 to 1, shape (..., heads).

    Raises:
        ValueError: As for share_on.
    """
    favorites = weights.argmax(dim=-1, keepdim=True)
    return share_on(torch.zeros_like(weights).scatter_(-1, favorites, 1.0), cells)
