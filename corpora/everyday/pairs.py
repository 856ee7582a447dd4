"""Words, phrases and generated sentences in English and German, and their parts."""

from collections import Counter
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
from transformer_edu.data.augmentation import FINAL_MARKS
from transformer_edu.data.everyday import SEPARATOR, normal

GROUPS = (
    *sentences_actions.TEMPLATES,
    *sentences_being.TEMPLATES,
    *sentences_dealing.TEMPLATES,
    *sentences_places.TEMPLATES,
    *sentences_times.TEMPLATES,
    *sentences_joined.TEMPLATES,
)
WORD = "word"  # the topic of words in the table of the course
MOST_TRIES = 2_000  # for a new sentence; after that, there is none left


def phrases() -> dict[str, str]:
    """The sentences and fixed phrases written by hand, German by English."""
    rows = (*read_table("phrases"), *read_table("course"))
    return {row["english"]: row["german"] for row in rows if row["topic"] != WORD}


def held_out() -> dict[str, dict[str, list[str]]]:
    """The hand-written sentences for testing, which are never generated, by their kind.

    A sentence comes with its accepted translations; one of the kind "copied" with the word that has
    to come out unchanged.
    """
    found: dict[str, dict[str, list[str]]] = {}
    for table in ("held_out", "held_out_course"):
        for row in read_table(table):
            kind = found.setdefault(row.get("kind", "by hand"), {})
            kind[row["english"]] = row["german"].split(SEPARATOR)
    rows = read_table("held_out_copied")
    return found | {"copied": {row["english"]: [row["kept"]] for row in rows}}


def held_out_texts() -> set[str]:
    """The held-out sentences and their accepted translations, in the normal form."""
    return {
        normal(text)
        for kind, sentences in held_out().items()
        for english, accepted in sentences.items()
        for text in (english, *(() if kind == "copied" else accepted))
    }


@cache
def words() -> dict[str, str]:
    """Words and short expressions alone, German by English.

    First come those of the tables, then adjectives, then nouns with and without an article.
    """
    found = {row["english"]: row["german"] for row in read_table("words")}
    of_course = (row for row in read_table("course") if row["topic"] == WORD)
    found |= {row["english"]: row["german"] for row in of_course}
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
    kept_out = held_out_texts()
    copied = {word for [word] in held_out()["copied"].values()}  # the model has to have read none
    weights, groups = zip(*GROUPS, strict=True)
    choices = [(list(group), list(group.values())) for group in groups]
    found: dict[str, str] = {}
    counted = tries = 0
    while counted < count:
        templates, template_weights = rng.choices(choices, weights)[0]
        english, german = rng.choices(templates, template_weights)[0](rng)
        tries += 1
        is_kept_out = {normal(english), normal(german)} & kept_out or copied & {*german.split()}
        if english in found or is_kept_out:
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
    """The generated sentences of the validation and the test part; all others are for training.

    Sentences with the same German translation are in the same part. Those that share a sentence
    with a word or phrase, in either language, are in neither part.

    Args:
        fixed: Words and phrases, German by English.
        generated: Generated sentences, German by English.
        size: How many sentences each part has at least.
        rng: Decides which.
    """
    same_german = _by_translation(fixed | generated | fixed)
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


def choose_phrases(
    phrases: dict[str, str], others: dict[str, str], size: int, rng: Random
) -> list[str]:
    """Phrases for the validation part: whole sentences that share neither side with another pair.

    Args:
        phrases: German by English.
        others: Words and generated sentences, German by English.
        size: How many.
        rng: Decides which.
    """
    taken = {normal(text) for pair in others.items() for text in pair}
    same_german = _by_translation(phrases)
    same_english = Counter(map(normal, phrases))
    free = [
        english
        for english, german in phrases.items()
        if english[-1] in FINAL_MARKS
        and not taken & {normal(english), normal(german)}
        and len(same_german[normal(german)]) == same_english[normal(english)] == 1
    ]
    return rng.sample(free, size)


def _by_translation(pairs: dict[str, str]) -> dict[str, list[str]]:
    """The English sentences of each German one, capitals and final mark aside."""
    same_german: dict[str, list[str]] = {}
    for english, german in pairs.items():
        same_german.setdefault(normal(german), []).append(english)
    return same_german
