"""Sentences written by hand with a noun exchanged, as Fadaee et al. 2017 do for rare words.

*The model has never seen these words* becomes *The model has never seen these secrets*. The other
noun is of the same kind, number and German gender, so that nothing else of the sentence changes.
"""

import re
from collections.abc import Collection, Iterator
from functools import cache
from random import Random
from typing import NamedTuple

from corpora.everyday.english_forms import with_article
from corpora.everyday.german_forms import nouns
from transformer_edu.data.augmentation import TextPair
from transformer_edu.data.everyday import normal

EXCHANGED = 0.7  # share of the nouns of a sentence that are exchanged
PLURAL = "plural"
NO_KIND = {"mine", "female"}  # classes that say nothing about what a noun means
BARE = r"\b(?:after|at|before|by|from|in|into|on|to) "  # before school, in bed: idioms
MOST_ROUNDS = 50  # through the sentences


class Form(NamedTuple):
    """A noun in the singular or plural; forms with the same pattern can take each other's place."""

    english: str
    german: str
    pattern: tuple[str, bool]
    classes: frozenset[str]


@cache
def forms() -> dict[str, list[Form]]:
    """The singulars and plurals that stay the same in three German cases, by the English form."""
    found: dict[str, list[Form]] = {}
    for noun in nouns():
        classes = noun.classes - NO_KIND
        if noun.gender != "p" and not noun.weak and not noun.always_plural:
            pattern = (noun.gender, noun.mass)
            found.setdefault(noun.english, []).append(
                Form(noun.english, noun.german, pattern, classes)
            )
        if noun.english_plural and noun.german_plural:
            pattern = (PLURAL, noun.german_plural.endswith(("n", "s")))  # no -n in the dative
            found.setdefault(noun.english_plural, []).append(
                Form(noun.english_plural, noun.german_plural, pattern, classes)
            )
    return found


@cache
def alike(pattern: tuple[str, bool], kind: str) -> list[Form]:
    """The forms of a pattern whose nouns are of a kind."""
    every = (form for several in forms().values() for form in several)
    return [form for form in every if form.pattern == pattern and kind in form.classes]


def exchange_nouns(
    pairs: dict[str, str], count: int, rng: Random, without: Collection[str]
) -> dict[str, str]:
    """New sentences, German by English.

    Args:
        pairs: The sentences written by hand, German by English.
        count: How many new ones.
        rng: Decides which nouns.
        without: What no new sentence may be, in either language, in its normal form.

    Raises:
        ValueError: If there are not so many.
    """
    found: dict[str, str] = {}
    for _ in range(MOST_ROUNDS):
        for pair in pairs.items():
            english, german = exchange_in(pair, rng)
            if english not in pairs and not {normal(english), normal(german)} & without:
                found.setdefault(english, german)
            if len(found) == count:
                return found
    raise ValueError(f"count must be at most {len(found):,}, got {count:,}")


def exchange_in(pair: TextPair, rng: Random) -> TextPair:
    """The pair with some of its nouns exchanged; the same pair if it has none, or by chance."""
    english, german = pair
    for form in list(forms_in(*pair)):
        others = [
            other
            for kind in sorted(form.classes)
            for other in alike(form.pattern, kind)
            if other.english != form.english
        ]
        if others and rng.random() < EXCHANGED:
            other = rng.choice(others)
            english = put_noun(english, form.english, other.english)
            german = re.sub(rf"\b{form.german}\b", other.german, german)
    return english, german


def forms_in(english: str, german: str) -> Iterator[Form]:
    """The nouns that stand in both sentences once."""
    words = re.findall(r"\w+", english.lower())
    spans = {" ".join(words[i : i + n]) for n in (1, 2) for i in range(len(words) - n + 1)}
    for span in sorted(spans & forms().keys()):
        for form in forms()[span]:
            once = len(re.findall(rf"\b{span}\b", english.lower())) == 1
            idiom = form.pattern[0] != PLURAL and re.search(BARE + span, english.lower())
            if once and not idiom and re.findall(r"\w+", german).count(form.german) == 1:
                yield form
                break


def put_noun(sentence: str, before: str, new: str) -> str:
    """The English sentence with another noun, and the article a or an that it needs."""

    def form(match: re.Match) -> str:
        """What takes the place of a match, with its capital."""
        article = match["article"]
        text = with_article(new) if article else new
        return text[0].upper() + text[1:] if match[0][0].isupper() else text

    return re.sub(rf"\b(?P<article>an? )?{before}\b", form, sentence, flags=re.IGNORECASE)
