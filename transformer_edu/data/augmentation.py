"""Training pairs as people type them, and words split in more than one way.

People leave out capitals and the final mark, and their names are in no corpus. A model that was
trained on such sentences, with the whole translation, translates them like others.
"""

import re
from collections.abc import Collection, Sequence
from random import Random

from transformer_edu.data.tokenizer import ALPHABET, Tokenizer

TextPair = tuple[str, str]  # a source text and its translation
SMALL = 0.15  # share of the sources in small letters
UNMARKED = 0.25  # share of the sources without their final mark
RENAMED = 0.5  # share of the pairs with a name that get an invented one
SPLIT = 0.5  # share of the sentences whose words are split at random
LETTERS = {letter[0]: letter for letter in ALPHABET}
FINAL_MARKS = ".!?"
ONSETS = [*"BDFGHJKLMNPRSTVW", "Br", "Ch", "Dr", "Gr", "Kl", "Kr", "Sch", "Sh", "St", "Th", "Tr"]
VOWELS = [*"aeiou", "ai", "au", "ea", "ei", "ie", "oo"]
CODAS = ["", "", "", "l", "n", "r", "s", "m", "ck", "th", "tt"]


def vary(pairs: Sequence[TextPair], rng: Random, names: Collection[str] = ()) -> list[TextPair]:
    """The same pairs, some sources as people type them; the translations keep their form.

    Args:
        pairs: Texts and their translations.
        rng: Decides which are changed.
        names: Given names; half of the pairs with one of them on both sides get an invented name.
    """
    varied = []
    for source, target in pairs:
        found = set(re.findall(r"\w+", source)) & set(names)
        if found and rng.random() < RENAMED:
            for name in sorted(found):
                source, target = replace_name(source, target, name, invent_name(rng))
        if rng.random() < SMALL:
            source = source.lower()
        if rng.random() < UNMARKED:
            source = source.rstrip(FINAL_MARKS)
        varied.append((source, target))
    return varied


def replace_name(source: str, target: str, name: str, new: str) -> TextPair:
    """The pair with a new name on both sides; unchanged if only one side has the name."""
    word = re.compile(rf"\b{name}\b")
    count = len(word.findall(source))
    if count != len(word.findall(target)) or re.search(rf"\b{name}s\b", target):
        return source, target
    return word.sub(new, source), word.sub(new, target)


def invent_name(rng: Random) -> str:
    """A name of two or three random syllables, such as Trolei or Kamoth."""
    count = rng.choice((2, 2, 3))
    syllables = [rng.choice(ONSETS).lower() + rng.choice(VOWELS) for _ in range(count)]
    return "".join(syllables).capitalize() + rng.choice(CODAS)


class RandomSplits:
    """Splits words in other ways than the tokenizer: BPE dropout (Provilkov et al. 2020).

    At every step, each possible merge is left out with a probability. So the model sees words in
    rarer, shorter pieces too, and a small corpus in a new form each time.

    Args:
        tokenizer: Its pieces and merges are used.
        dropout: Probability of leaving a merge out, from 0 to below 1.
        rng: Decides which.
    """

    def __init__(self, tokenizer: Tokenizer, dropout: float, rng: Random) -> None:
        if not 0 <= dropout < 1:
            raise ValueError(f"dropout must be from 0 to below 1, got {dropout}")
        self.tokenizer, self.dropout, self.rng = tokenizer, dropout, rng
        self.ranks = {pair: rank for rank, pair in enumerate(tokenizer.merges)}
        self.ids = {piece: number for number, piece in enumerate(tokenizer.pieces) if piece}

    def encode_some(self, texts: Sequence[str], ids: Sequence[list[int]]) -> list[list[int]]:
        """Token ids of texts: half of them are split at random, the others keep theirs."""
        return [
            self.encode(text) if self.rng.random() < SPLIT else plain
            for text, plain in zip(texts, ids, strict=True)
        ]

    def encode(self, text: str) -> list[int]:
        """Token ids whose pieces spell the text, split at random."""
        words = self.tokenizer.words(text)
        return [self.ids[piece] for word in words for piece in self.split(word)]

    def split(self, word: bytes) -> list[bytes]:
        """The pieces of one word."""
        pieces = [LETTERS[byte] for byte in word]
        while len(pieces) > 1:
            ranked = [
                (rank, place)
                for place, pair in enumerate(zip(pieces, pieces[1:], strict=False))
                if (rank := self.ranks.get(pair)) is not None and self.rng.random() >= self.dropout
            ]
            if not ranked:
                break
            _, place = min(ranked)
            pieces[place : place + 2] = [pieces[place] + pieces[place + 1]]
        return pieces
