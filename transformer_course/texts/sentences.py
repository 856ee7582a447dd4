"""Texts in English and German, written for this course.

The sentences are everyday scenes whose words come again, letters and full stops only, and German
compounds with their English phrases: a text to count words in and to learn pieces from. The
captions are in the style of the translator's training data; none of them is part of that data.
Used in notebooks/00_start_here.ipynb and 14_tokenization.ipynb to 18_speed_and_scale.ipynb.
"""

from collections.abc import Iterable
from importlib import resources


def read_pairs(name: str) -> tuple[tuple[str, str], ...]:
    """The pairs of a file in this folder, without its header line.

    Args:
        name: The file: UTF-8, one pair a line, with a tab between its two texts.
    """
    text = resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
    return tuple(tuple(line.split("\t")) for line in text.splitlines()[1:])


def require_groups(name: str, groups: Iterable[tuple], wanted: str) -> list[tuple]:
    """The groups; refuse a text, whose letters would count as texts, and other numbers of texts.

    Args:
        name: Of groups, for the message.
        groups: Of texts that belong together.
        wanted: What a group holds, with commas between.
    """
    groups = list(groups)  # such as a zip, which can be read once
    for group in groups:
        if isinstance(group, str) or len(group) != len(wanted.split(",")):
            raise ValueError(f"{name} must hold ({wanted}), got {group!r}")
    return groups


def sentences_of(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """All sentences of some pairs, in both languages: each source, then its target."""
    groups = require_groups("pairs", pairs, "source, target")
    return [sentence for pair in groups for sentence in pair]


def number_of(english: str) -> int:
    """Where an English sentence stands in ALL_PAIRS.

    Raises:
        ValueError: If it does not stand there.
    """
    found = [number for number, (source, _) in enumerate(ALL_PAIRS) if source == english]
    if not found:
        raise ValueError(f"it must be one of the sentences in ALL_PAIRS, got {english!r}")
    return found[0]


FIRST_SENTENCES = read_pairs("first.tsv")  # what kind of sentence it is, English
SAMPLE_PAIRS = read_pairs("sentences.tsv")  # English, German
CAPTION_PAIRS = read_pairs("captions.tsv")  # English, German: captions of imagined pictures
ALL_PAIRS = CAPTION_PAIRS + SAMPLE_PAIRS
# German words of the captions and the English words that they clearly translate.
UNDISPUTED = {german: english for english, german in read_pairs("words.tsv")}
# English, the right German, the German with one wrong word. Lines come in pairs: what is right in
# the first is wrong in the second.
_CONTRASTS = read_pairs("agreement.tsv")
AGREEMENT = {
    kind: tuple(texts for about, *texts in _CONTRASTS if about == kind)
    for kind in ("gender", "number")
}
