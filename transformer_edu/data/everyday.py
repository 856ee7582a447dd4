"""Everyday English and German: 150,000 sentence pairs, and hand-written sentences to test with.

All of it is in one file beside this module: lines of text in UTF-8, packed with xz. A line has four
cells, separated by tabs: kind, part, English, German. The kinds are:

- word: a word or short expression alone.
- phrase: a sentence or fixed phrase written by hand; some are in the validation part.
- generated: a sentence of a grammar; then come phrases with a noun exchanged for another one.
- held out: a sentence written by hand that is in no part, and all its accepted translations.
- name: a name of a person in the sentences.

The part is train, validation or test; in the last two, the sentence's place in the part follows. A
generated sentence that is also a word or a phrase is in no part. A held-out sentence has its kind
there, which HELD_OUT explains. What makes the file is in the
repository and not installed: the tables, the grammar and the command of corpora/everyday.
"""

import hashlib
import lzma
from functools import cache
from pathlib import Path

from transformer_edu.data.parallel_text import ParallelText
from transformer_edu.model.refusals import require_choice

FILE = Path(__file__).with_name("everyday.tsv.xz")
CHECKSUM = "495250a21d9b5a0bdc6d3a7617395aae19dfe7e0ba01b145dcc1fc5e4f2da2a4"
SEPARATOR = " | "  # between accepted translations
PHRASES_TO_CHOOSE_BY = 300  # the last of the validation part
HELD_OUT = {  # kinds of held-out sentences, and what they are about
    "by hand": "everyday life",
    "course": "the words of a course on the Transformer",
    "everyday": "everyday life, by another author",
    "ten": "what newcomers to the course typed first",
    "copied": "a word that no other sentence has, given instead of translations",
}


@cache
def everyday_pairs() -> ParallelText:
    """150,000 different everyday sentences in English with their German translations.

    Single words and fixed phrases come first, and are in the training part but for 300 phrases, the
    last of the validation part, which are for choosing by. An English sentence has one translation.
    English sentences with the same translation are in the same part, so that no sentence of either
    language is in two parts. No held-out sentence is among them. The German for "you" is "du",
    except to strangers (Mr. Weber; Excuse me) and to several people.

    Raises:
        OSError: If the data file is missing or is not the one of this version.
    """
    kinds, places = read_everyday()
    fixed = kinds["word"] | kinds["phrase"]
    pairs = fixed | generated() | fixed  # what is written by hand keeps its translation
    validation, test = (
        [(places[place], pairs[places[place]]) for place in sorted(places) if part in place]
        for part in ("validation", "test")
    )
    for_training = pairs.keys() - set(places.values())
    train = [pair for pair in pairs.items() if pair[0] in for_training]
    order: dict[str, int] = {}
    for _, german in train:
        order.setdefault(normal(german), len(order))
    train.sort(key=lambda pair: order[normal(pair[1])])  # the same translation, side by side
    return ParallelText(train, validation, test)


@cache
def held_out(kind: str = "by hand") -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The hand-written sentences of a kind that are in no part, with their accepted translations.

    Args:
        kind: One of HELD_OUT.

    Raises:
        OSError, ValueError: As for everyday_pairs; or if there is no such kind.
    """
    require_choice("kind", kind, HELD_OUT)
    rows = read_everyday()[0][f"held out {kind}"].items()
    return tuple((english, tuple(german.split(SEPARATOR))) for english, german in rows)


def words() -> dict[str, str]:
    """Words and short expressions alone, German by English."""
    return read_everyday()[0]["word"]


def phrases() -> dict[str, str]:
    """Sentences and fixed phrases written by hand to learn from, German by English."""
    kinds, places = read_everyday()
    to_choose_by = set(places.values())
    return {pair[0]: pair[1] for pair in kinds["phrase"].items() if pair[0] not in to_choose_by}


def generated() -> dict[str, str]:
    """Sentences of the grammar, German by English, in the order in which they were generated."""
    return read_everyday()[0]["generated"]


def given_names() -> frozenset[str]:
    """The given names of the people in the sentences, and their family names."""
    return frozenset(read_everyday()[0]["name"])


def normal(text: str) -> str:
    """A sentence without capitals and final mark, as translations of it are compared."""
    return text.lower().rstrip(".!?")


@cache
def read_everyday(path: Path = FILE) -> tuple[dict[str, dict[str, str]], dict[str, str]]:
    """The lines of each kind, German by English; and the sentences of two parts, by their place.

    Args:
        path: The data file.

    Raises:
        OSError: If it is missing or does not hold the text with the checksum above.
    """
    try:
        text = lzma.decompress(path.read_bytes())
        found = checksum_of(text)
    except lzma.LZMAError:
        text, found = b"", "a damaged archive"
    if found != CHECKSUM:
        wanted = f"hold the text with the SHA-256 {CHECKSUM}"
        raise OSError(f"{path} must {wanted}, got {found}: install transformer-edu again")
    kinds: dict[str, dict[str, str]] = {}
    places: dict[str, str] = {}  # "validation 0017"
    for line in text.decode().splitlines():
        kind, part, english, german = line.split("\t")
        if kind == "held out":
            kind = f"held out {part}"
        elif part not in ("", "train"):
            places[part] = english
        kinds.setdefault(kind, {})[english] = german
    return kinds, places


def checksum_of(text: bytes) -> str:
    """The SHA-256 of the unpacked text."""
    return hashlib.sha256(text).hexdigest()
