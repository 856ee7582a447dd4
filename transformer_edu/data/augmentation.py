"""Training pairs as people type them, and words split in more than one way.

People leave out capitals and the final mark, and their names are in no corpus. A model that was
trained on such sentences, with the whole translation, translates them like others.
"""

import re
from collections.abc import Collection, Sequence
from random import Random
from string import ascii_lowercase

from transformer_edu.data.tokenizer import ALPHABET, Tokenizer
from transformer_edu.model.refusals import require_probability

TextPair = tuple[str, str]  # a source text and its translation
SMALL = 0.15  # share of the sources in small letters
UNMARKED = 0.25  # share of the sources without their final mark
RENAMED = 0.8  # share of the names and numbers on both sides that are exchanged
RESPELLED = 0.3  # the same of other words that both sides spell alike, such as hotel and Hotel
SHORTEST = 4  # letters of such a word; shorter ones are often alike by chance
SPLIT = 0.5  # share of the sentences whose words are split at random
LETTERS = {letter[0]: letter for letter in ALPHABET}
FINAL_MARKS = ".!?"
ONSETS = [*"bdfghjklmnprstvwyz", "br", "ch", "cl", "cr", "dr", "fl", "fr", "gl", "gr", "kl", "kr"]
ONSETS += ["pl", "pr", "qu", "sch", "sh", "sk", "sl", "sp", "st", "sw", "th", "tr", "zh"]
VOWELS = [*"aaaeeeiiiooouuyäöüéáíó", "ai", "au", "ea", "ei", "ie", "oo", "ou", "ia", "io"]
CODAS = ["", "", "", "", *"lnrsmdktxz", "ck", "th", "tt", "ng", "nd", "sh", "ski", "son"]
NUMBER = re.compile(r"[1-9]\d{1,3}")


def vary(pairs: Sequence[TextPair], rng: Random, names: Collection[str] = ()) -> list[TextPair]:
    """The same pairs, some as people type them: with unknown names, or without capitals or marks.

    What both sides spell alike is exchanged on both, in two ways, so that a model learns to copy
    what it has never read: given names, numbers, and words such as *hotel* and *Hotel*.

    Args:
        pairs: Texts and their translations.
        rng: Decides which are changed.
        names: Given names.
    """
    varied = []
    for pair in pairs:
        for source, target in dict.fromkeys(exchange_words(*pair, rng, names) for _ in range(2)):
            source = source.lower() if rng.random() < SMALL else source
            source = source.rstrip(FINAL_MARKS) if rng.random() < UNMARKED else source
            varied.append((source, target))
    return varied


def exchange_words(source: str, target: str, rng: Random, names: Collection[str] = ()) -> TextPair:
    """The pair, some of the words that both sides spell alike exchanged for invented ones."""
    spoken = set(re.findall(r"\w+", source))
    for word in dict.fromkeys(re.findall(r"\w+", target)):
        if word in names and word in spoken and rng.random() < RENAMED:
            source, target = exchange(source, target, word, word, invent_name(rng))
        elif NUMBER.fullmatch(word) and word in spoken and rng.random() < RENAMED:
            number = str(rng.randrange(10 ** (len(word) - 1), 10 ** len(word)))
            source, target = exchange(source, target, word, word, number)
        elif len(word) >= SHORTEST and word.istitle() and rng.random() < RESPELLED:
            if word in spoken:
                source, target = exchange(source, target, word, word, invent_name(rng))
            elif word.lower() in spoken:
                source, target = exchange(source, target, word.lower(), word, invent_word(rng))
    return source, target


def exchange(source: str, target: str, before: str, in_target: str, new: str) -> TextPair:
    """The pair with a new word on both sides, as often; unchanged if a side declines the old one.

    Args:
        source, target: The pair.
        before: The word of the source.
        in_target: The same in the target; if it has a capital there, so will the new one.
        new: What stands in the source then.
    """
    old, translated = (rf"(?<![\w.,:]){word}(?!\w|[.,:]\d)" for word in (before, in_target))
    count = len(re.findall(old, source))
    if count != len(re.findall(translated, target)) or re.search(rf"\b{in_target}e?s\b", target):
        return source, target
    capital = new if before == in_target else new.capitalize()
    return re.sub(old, new, source), re.sub(translated, capital, target)


def invent_word(rng: Random) -> str:
    """A word of one to three syllables, such as trolei or kamoth; in half, one letter is odd."""
    syllables = [rng.choice(ONSETS) + rng.choice(VOWELS) for _ in range(rng.choice((1, 2, 2, 3)))]
    word = "".join(syllables) + rng.choice(CODAS)
    place = rng.randrange(1, 2 * len(word))
    return word[:place] + rng.choice(ascii_lowercase) * (place < len(word)) + word[place + 1 :]


def invent_name(rng: Random) -> str:
    """A name that nobody has: Trolei, Kamoth Brisaun, QuoGrai, DUXE or Zhiaud7."""
    first, second = (invent_word(rng).capitalize() for _ in range(2))
    forms = {
        first: 0.75,
        f"{first} {second}": 0.12,
        first[:4] + second[:5]: 0.05,
        first[:4].upper(): 0.05,
        f"{first}{rng.randrange(2, 100)}": 0.03,
    }
    return rng.choices(list(forms), list(forms.values()))[0]


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
        require_probability("dropout", dropout, below_one=True)
        if not callable(getattr(rng, "random", None)):
            raise TypeError(f"rng must be a random.Random, got {rng!r}")
        self.tokenizer, self.dropout, self.rng = tokenizer, dropout, rng
        self.ranks = {pair: rank for rank, pair in enumerate(tokenizer.merges)}
        self.ids = {piece: number for number, piece in enumerate(tokenizer.pieces) if piece}

    def encode_some(self, texts: Sequence[str], ids: Sequence[list[int]]) -> list[list[int]]:
        """Token ids of texts: half of them are split at random, the others keep theirs."""
        both = zip(texts, ids, strict=True)
        return [self.encode(text) if self.rng.random() < SPLIT else plain for text, plain in both]

    def encode(self, text: str) -> list[int]:
        """Token ids whose pieces spell the text, split at random."""
        return [self.ids[each] for word in self.tokenizer.words(text) for each in self.split(word)]

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
