"""What lesson 14 counts: tokens of texts, and how a vocabulary grows with its text.

Used in notebooks/14_tokenization.ipynb.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from transformer_edu.data.tokenizer import Tokenizer

LAST = 20  # pairs of a text that are looked at for something new


def count_tokens(tokenizer: Tokenizer, texts: Sequence[str]) -> int:
    """How many tokens some texts have together."""
    return sum(len(token_ids) for token_ids in tokenizer.encode_all(texts))


def ids_of(tokenizer: Tokenizer, texts: Sequence[str]) -> set[int]:
    """The ids that occur in some texts."""
    return set().union(*tokenizer.encode_all(texts))


class Growth(NamedTuple):
    """How a vocabulary grows.

    Args:
        different: How many different pieces all texts have.
        late: How many of them only the last 20 texts have.
    """

    different: int
    late: int


def vocabulary_growth(
    pairs: Sequence[tuple[str, str]], cut: Callable[[str], list[str]]
) -> dict[str, Growth]:
    """How many different English words, German words and German characters some pairs have.

    Args:
        pairs: English and German sentences, more than 20 pairs.
        cut: Cuts a sentence into words.

    Raises:
        ValueError: If there are 20 pairs or fewer.
    """
    if len(pairs) <= LAST:
        raise ValueError(f"pairs must be more than {LAST}, got {len(pairs)}")
    english, german = zip(*pairs, strict=True)
    return {
        "English words": _growth(english, cut),
        "German words": _growth(german, cut),
        "characters": _growth(german, list),
    }


def _growth(texts: Sequence[str], cut: Callable[[str], list[str]]) -> Growth:
    pieces = [set(cut(text)) for text in texts]
    early, all_pieces = set().union(*pieces[:-LAST]), set().union(*pieces)
    return Growth(len(all_pieces), len(all_pieces - early))
