"""The data file of everyday English: one text with all pairs, packed with xz."""

import lzma
from collections.abc import Iterator
from random import Random

from corpora.everyday.exchanged_nouns import exchange_nouns
from corpora.everyday.pairs import (
    all_names,
    choose_parts,
    choose_phrases,
    generate,
    held_out,
    held_out_texts,
    phrases,
    words,
)
from transformer_edu.data.everyday import PHRASES_TO_CHOOSE_BY, SEPARATOR, normal

SEED = 0
COUNT = 150_000  # words, phrases and generated sentences
EXCHANGED = 60_000  # of these, phrases with a noun exchanged
PART_SIZE = 1000  # generated sentences for validation, and for testing


def make_text() -> bytes:
    """The unpacked text, in the form that transformer_edu/data/everyday.py describes."""
    return "".join("\t".join(row) + "\n" for row in make_rows()).encode()


def make_rows() -> Iterator[tuple[str, str, str, str]]:
    """Kind, part, English and German of every line."""
    fixed = words() | phrases()
    generated = generate(Random(SEED), COUNT - EXCHANGED - len(fixed), fixed)
    validation, test = choose_parts(fixed, generated, PART_SIZE, Random(SEED))
    validation += choose_phrases(phrases(), generated | words(), PHRASES_TO_CHOOSE_BY, Random(SEED))
    every = phrases() | generated
    unseen = {normal(text) for english in validation + test for text in (english, every[english])}
    to_learn = {
        english: german for english, german in phrases().items() if english not in validation
    }
    without = held_out_texts() | unseen | {normal(english) for english in fixed | generated}
    generated |= exchange_nouns(to_learn, EXCHANGED, Random(SEED), without)
    places = {
        english: f"{name} {place:04}"
        for name, part in (("validation", validation), ("test", test))
        for place, english in enumerate(part)
    }
    for kind, pairs in (("word", words()), ("phrase", phrases())):
        yield from ((kind, places.get(pair[0], "train"), *pair) for pair in pairs.items())
    for english, german in generated.items():
        part = "" if english in fixed else "train"
        yield "generated", places.get(english, part), english, german
    for kind, sentences in held_out().items():
        for english, accepted in sentences.items():
            yield "held out", kind, english, SEPARATOR.join(accepted)
    for name in all_names():
        yield "name", "", name, name


def pack(text: bytes) -> bytes:
    """The text packed with xz; the bytes depend only on the text and on the version of liblzma."""
    return lzma.compress(text, preset=9 | lzma.PRESET_EXTREME)
