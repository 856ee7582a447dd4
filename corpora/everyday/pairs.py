"""Words, phrases and generated sentences in English and German, and their parts."""

from functools import cache
from random import Random

from corpora.everyday import (
    sentences_actions,
    sentences_being,
    sentences_dealing,
    sentences_joined,
    sentences_places,
    sentences_times,
)
from corpora.everyday.german_forms import nouns
from corpora.everyday.noun_phrases import adjectives, phrase
from corpora.everyday.tables import read_table
from transformer_edu.data.everyday import SEPARATOR, normal

GROUPS = (
    *sentences_actions.TEMPLATES,
    *sentences_being.TEMPLATES,
    *sentences_dealing.TEMPLATES,
    *sentences_places.TEMPLATES,
    *sentences_times.TEMPLATES,
    *sentences_joined.TEMPLATES,
)
MOST_TRIES = 2_000  # for a new sentence; after that, there is none left


def phrases() -> dict[str, str]:
    """The sentences and fixed phrases written by hand, German by English."""
    return {row["english"]: row["german"] for row in read_table("phrases")}


def held_out() -> dict[str, list[str]]:
    """The hand-written sentences for testing, which are never generated, and their translations."""
    rows = read_table("held_out")
    return {row["english"]: row["german"].split(SEPARATOR) for row in rows}


@cache
def words() -> dict[str, str]:
    """Words and short expressions alone, German by English.

    First come those of the table of words, then adjectives, then nouns with and without an article.
    """
    found = {row["english"]: row["german"] for row in read_table("words")}
    found |= {adjective.english: adjective.german for adjective in adjectives()}
    for noun in nouns():
        forms = [phrase(noun, determiner) for determiner in ("", "the", "a")]
        if noun.german_plural and noun.english_plural:
            forms += [phrase(noun, determiner, plural=True) for determiner in ("", "the")]
        for form in forms:
            found.setdefault(form.english, form.nom)
    return found


def all_names() -> list[str]:
    """The given names and family names of the people in the sentences."""
    return list(dict.fromkeys(row["name"] for row in read_table("people")))


def generate(rng: Random, count: int, fixed: dict[str, str]) -> dict[str, str]:
    """Sentences of the grammar, German by English, in the order in which they are generated.

    A sentence that is also a word or a phrase is kept, but does not count. No held-out sentence or
    accepted translation of one is generated.

    Args:
        rng: Decides the sentences.
        count: How many sentences that are not in fixed.
        fixed: Words and phrases, German by English.

    Raises:
        ValueError: If the templates do not have that many different sentences.
    """
    kept_out = {normal(text) for pair in held_out().items() for text in (pair[0], *pair[1])}
    weights, groups = zip(*GROUPS, strict=True)
    choices = [(list(group), list(group.values())) for group in groups]
    found: dict[str, str] = {}
    counted = tries = 0
    while counted < count:
        templates, template_weights = rng.choices(choices, weights)[0]
        english, german = rng.choices(templates, template_weights)[0](rng)
        tries += 1
        if english in found or normal(english) in kept_out or normal(german) in kept_out:
            if tries == MOST_TRIES:
                raise ValueError(f"count must be at most about {counted:,}, got {count:,}")
            continue
        found[english] = german
        counted += english not in fixed
        tries = 0
    return found


def choose_parts(
    fixed: dict[str, str], generated: dict[str, str], size: int, rng: Random
) -> tuple[list[str], list[str]]:
    """The English sentences of the validation and the test part; all others are for training.

    Sentences with the same German translation are in the same part. Those that share a sentence
    with a word or phrase, in either language, are in neither part.

    Args:
        fixed: Words and phrases, German by English.
        generated: Generated sentences, German by English.
        size: How many sentences each part has at least.
        rng: Decides which.
    """
    same_german: dict[str, list[str]] = {}
    for english, german in (fixed | generated | fixed).items():
        same_german.setdefault(normal(german), []).append(english)
    for_training = {normal(text) for pair in fixed.items() for text in pair}
    free = [
        group
        for german, group in same_german.items()
        if not for_training & {german, *map(normal, group)}
    ]
    rng.shuffle(free)
    validation: list[str] = []
    test: list[str] = []
    for group in free:
        if len(test) >= size:
            break
        part = validation if len(validation) < size else test
        part += group
    return validation, test
