"""Tasks small enough to learn in seconds: copy, reverse, English to German number words.

A task is a list of pairs (source, target) of token ids, in three parts that share no source: one
to learn from, one to evaluate on during training, one to test with at the end.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

import torch

from transformer_edu.data.number_words import (
    ENGLISH_WORDS,
    GERMAN_WORDS,
    LARGEST_NUMBER,
    english_words,
    german_words,
)
from transformer_edu.data.vocabulary import Vocabulary
from transformer_edu.model.refusals import require_pairs, require_whole
from transformer_edu.model.special_ids import END_ID, PADDING_ID, START_ID

Pair = tuple[list[int], list[int]]  # source and target ids, without start, end or padding
MARKS = frozenset({PADDING_ID, START_ID, END_ID})


@dataclass(frozen=True, kw_only=True)
class Task:
    """Pairs of token ids to learn from, and others to evaluate on and to test with.

    Args:
        name: What the task is called in figures and messages.
        vocabulary: The joint vocabulary of sources and targets.
        train, validation, test: The pairs of each part.

    Raises:
        TypeError, ValueError: If a part holds no pairs of ids, or an id of padding, start or end.
    """

    name: str
    vocabulary: Vocabulary
    train: list[Pair]
    validation: list[Pair]
    test: list[Pair]

    def __post_init__(self) -> None:
        """Refuse what is no pair of ids, and ids that are masked or would end a target early."""
        for part in ("train", "validation", "test"):
            require_pairs(part, getattr(self, part))
            for number, pair in enumerate(getattr(self, part), start=1):
                if not all(map(MARKS.isdisjoint, pair)):
                    got = f"{pair} as pair {number:,}"
                    raise ValueError(f"{part} must hold no padding, start or end, got {got}")


def number_words_task(
    *, train_size: int = 4000, validation_size: int = 500, test_size: int = 500, seed: int = 0
) -> Task:
    """Translate numbers from English to German words, 1 to 999,999.

    The 27 numbers that are a single English word, like *seven* and *thirty*, are always in the
    training part: a model cannot guess a word. All others may be held out.

    Args:
        train_size: Number of pairs to learn from, at least 27.
        validation_size, test_size: Number of pairs of the other parts.
        seed: Decides which numbers are drawn; the same seed gives the same task.

    Raises:
        TypeError, ValueError: If a size or the seed is not a whole number in its range, or
            there are fewer numbers than asked for.
    """
    sizes = _require_sizes("number words", (train_size, validation_size, test_size), LARGEST_NUMBER)
    require_whole("seed", seed, minimum=0, maximum=2**64 - 1)
    dictionary = [number for number in range(1, 100) if len(english_words(number)) == 1]
    if train_size < len(dictionary):
        raise ValueError(f"train_size must be at least {len(dictionary)}, got {train_size}")
    drawn = _draw_numbers(sum(sizes) - len(dictionary), dictionary, seed)
    vocabulary = Vocabulary([*ENGLISH_WORDS, *GERMAN_WORDS])
    both = [(english_words(number), german_words(number)) for number in [*dictionary, *drawn]]
    pairs = [(vocabulary.encode(english), vocabulary.encode(german)) for english, german in both]
    return _split("number words", vocabulary, pairs, sizes)


def _draw_numbers(count: int, without: Sequence[int], seed: int) -> list[int]:
    """Draw different numbers of all kinds, none of those in without.

    Every *shape*, that is every choice of which of the six digits are zero, is equally likely
    until its numbers run out. Drawn evenly, nine numbers in ten would have six digits, and *one
    hundred thousand* would hardly occur.
    """
    generator = torch.Generator().manual_seed(seed)
    number = torch.arange(1, LARGEST_NUMBER + 1, device="cpu")
    number = number[~torch.isin(number, torch.tensor(without, device="cpu"))]
    digits = number.unsqueeze(1) // 10 ** torch.arange(6, device="cpu") % 10  # (number, digit)
    # A shape with n digits that are not zero holds 9ⁿ numbers, which share its chance.
    chance = 9.0 ** -(digits != 0).sum(dim=1).double()
    drawn = chance.multinomial(count, replacement=False, generator=generator)
    # Without replacement the likely ones tend to come first: shuffle before splitting.
    return number[drawn[torch.randperm(count, generator=generator, device="cpu")]].tolist()


@dataclass(frozen=True, kw_only=True)
class SymbolSettings:
    """Sizes of the copy and the reverse task; with the defaults it is drawn in a second.

    Args:
        num_symbols: Different symbols; with the four special tokens, the vocabulary's size.
        shortest, longest: Fewest and most symbols in a sequence. Every length is drawn equally
            often, but each sequence counts once: lengths with few sequences run out.
        train_size, validation_size, test_size: Number of pairs of each part.
        seed: Decides which sequences are drawn.

    Raises:
        TypeError, ValueError: If a size is not a whole number of at least 1, shortest is above
            longest, or there are fewer sequences than asked for.
    """

    num_symbols: int = 16
    shortest: int = 8
    longest: int = 8
    train_size: int = 20_000
    validation_size: int = 500
    test_size: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse sizes that cannot be drawn."""
        for name in ("num_symbols", "shortest", "longest"):
            require_whole(name, getattr(self, name), maximum=10_000)
        require_whole("seed", self.seed, minimum=0)
        if self.shortest > self.longest:
            got = f"{self.shortest} and {self.longest}"
            raise ValueError(f"shortest must be at most longest, got {got}")
        distinct = sum(self.num_symbols**n for n in range(self.shortest, self.longest + 1))
        _require_sizes("symbols", self.sizes, distinct)

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Sizes of the three parts."""
        return self.train_size, self.validation_size, self.test_size


def copy_task(**settings: int) -> Task:
    """Write the source again, symbol by symbol; settings are those of SymbolSettings."""
    return _symbol_task("copy", SymbolSettings(**settings), list)


def reverse_task(**settings: int) -> Task:
    """Write the source backwards: impossible without knowing positions (SymbolSettings)."""
    return _symbol_task("reverse", SymbolSettings(**settings), lambda symbols: symbols[::-1])


def _symbol_task(
    name: str, settings: SymbolSettings, answer: Callable[[list[int]], list[int]]
) -> Task:
    """Draw different sequences of symbols, named "0", "1", …, and answer each."""
    vocabulary = Vocabulary(str(symbol) for symbol in range(settings.num_symbols))
    symbols = range(len(vocabulary) - settings.num_symbols, len(vocabulary))
    generator = random.Random(settings.seed)
    drawn: dict[tuple[int, ...], None] = {}  # a dict keeps the order of drawing, a set does not
    while len(drawn) < sum(settings.sizes):
        length = generator.randint(settings.shortest, settings.longest)
        drawn[tuple(generator.choices(symbols, k=length))] = None
    pairs = [(list(source), answer(list(source))) for source in drawn]
    return _split(name, vocabulary, pairs, settings.sizes)


def _split(
    name: str, vocabulary: Vocabulary, pairs: Sequence[Pair], sizes: tuple[int, int, int]
) -> Task:
    """Split different pairs, drawn in random order, into the three parts."""
    left = iter(pairs)
    train, validation, test = (list(islice(left, size)) for size in sizes)
    return Task(name=name, vocabulary=vocabulary, train=train, validation=validation, test=test)


def _require_sizes(name: str, sizes: tuple[int, int, int], distinct: int) -> tuple[int, int, int]:
    """Refuse sizes below one, and more pairs than there are."""
    for part, size in zip(("train_size", "validation_size", "test_size"), sizes, strict=True):
        require_whole(part, size)
    if sum(sizes) > distinct:
        wanted = f"share the {distinct:,} different pairs of the task {name}"
        raise ValueError(f"train, validation and test must {wanted}, got {sum(sizes):,}")
    return sizes
