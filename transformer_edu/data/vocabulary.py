"""Words and their token ids.

Met in notebooks/01_words_as_vectors.ipynb.
"""

from collections.abc import Iterable, Sequence

from transformer_edu.model.refusals import require_texts, require_whole
from transformer_edu.model.special_ids import SPECIAL_TOKENS, UNKNOWN_ID


class Vocabulary:
    """Words and their ids, the four special tokens first. ``encode(["</s>"])`` is unknown.

    Args:
        words: The words in the order of their ids; a word that comes again counts once.

    Raises:
        TypeError, ValueError: If words are not texts, or one is spelled like a special token.
    """

    def __init__(self, words: Iterable[str]) -> None:
        distinct = list(dict.fromkeys(require_texts("words", words)))
        for word in distinct:
            if word in SPECIAL_TOKENS:
                raise ValueError(f"words must not be spelled like a special token, got {word!r}")
        self.tokens = (*SPECIAL_TOKENS, *distinct)  # the token of id i is tokens[i]
        self._ids = {word: i for i, word in enumerate(distinct, start=len(SPECIAL_TOKENS))}

    def __len__(self) -> int:
        """Number of ids, the special tokens' included: the model's vocabulary_size."""
        return len(self.tokens)

    def encode(self, words: Sequence[str]) -> list[int]:
        """The id of every word, without start or end; a word never seen is UNKNOWN_ID.

        Raises:
            TypeError: If words is a single text: split it first.
        """
        return [self._ids.get(word, UNKNOWN_ID) for word in require_texts("words", words)]

    def decode(self, token_ids: Iterable[int]) -> list[str]:
        """The token of every id.

        Raises:
            TypeError, ValueError: If an id is not a whole number, or outside the vocabulary.
        """
        ids = list(token_ids)
        for token_id in ids:
            require_whole("token_ids", token_id, minimum=0, maximum=len(self.tokens) - 1)
        return [self.tokens[token_id] for token_id in ids]


class Words:
    """Texts whose tokens stand between spaces: what a tokenizer is to sentences.

    Args:
        vocabulary: The words and their ids.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary

    def __len__(self) -> int:
        """Number of ids."""
        return len(self.vocabulary)

    def encode(self, text: str) -> list[int]:
        """The id of every word; a word never seen is UNKNOWN_ID."""
        return self.vocabulary.encode(text.split())

    def decode(self, token_ids: Iterable[int]) -> str:
        """The words of ids, with spaces between them."""
        return " ".join(self.vocabulary.decode(token_ids))
