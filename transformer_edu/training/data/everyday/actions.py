"""What somebody does: a verb with all that belongs to it, in both languages."""

import re
from dataclasses import dataclass
from functools import cache
from random import Random

from transformer_edu.training.data.everyday.german_nouns import Noun
from transformer_edu.training.data.everyday.german_verbs import takes_sein
from transformer_edu.training.data.everyday.noun_phrases import NounPhrase
from transformer_edu.training.data.everyday.subjects import (
    english_possessive,
    english_reflexive,
    german_possessive,
    german_reflexive,
)
from transformer_edu.training.data.everyday.tables import read_table

CHOICE = re.compile(r"\[(?P<plain>[^/\]]*)/(?P<negated>[^\]]*)\]")


@dataclass(frozen=True)
class Action:
    """A verb phrase in both languages.

    Args:
        english: The verb's base form stands first; one's and oneself wait for the subject.
        verb: The German infinitive without a separable prefix.
        prefix: The separable prefix, or empty.
        reflexive: "", "acc" or "dat".
        pronoun: A German pronoun as object, or empty.
        complement: What stands before the verb's end in German.
        negative: The same with nicht or kein.
        sein: Whether the perfect is made with sein.
        tags: What the tables say.
    """

    english: str
    verb: str
    prefix: str
    reflexive: str
    pronoun: str
    complement: str
    negative: str
    sein: bool
    tags: frozenset[str]


@cache
def actions(tags: str = "") -> tuple[Action, ...]:
    """The whole verb phrases of the table that have one of some tags, or all of them."""
    if not tags:
        return tuple(action_of(row) for row in read_table("actions"))
    return tuple(a for a in actions() if a.tags & set(tags.split()))


def split_verb(german: str) -> tuple[list[str], str, str, str]:
    """Words, prefix, infinitive and the case of sich in a phrase such as sich an|ziehen."""
    *words, last = german.split()
    prefix, _, verb = last.rpartition("|")
    reflexive = ""
    if words and words[0].startswith("sich"):
        reflexive = "dat" if words.pop(0) == "sich:dat" else "acc"
    return words, prefix, verb, reflexive


def auxiliary_is_sein(verb: str, reflexive: str, tags: frozenset[str]) -> bool:
    """Whether the perfect takes sein: the tags decide, then sich, then the verb."""
    if {"sein", "haben"} & tags:
        return "sein" in tags
    return not reflexive and takes_sein(verb)


def action_of(row: dict[str, str]) -> Action:
    """The action that a row of the table describes."""
    words, prefix, verb, reflexive = split_verb(re.sub(r"\[[^\]]*\]", quote_choice, row["german"]))
    text = " ".join(words).replace("\0", " ")
    tags = frozenset(row["tags"].split())
    return Action(
        english=row["english"],
        verb=verb,
        prefix=prefix,
        reflexive=reflexive,
        pronoun="",
        complement=" ".join(CHOICE.sub(r"\g<plain>", text).replace("*", "").split()),
        negative=" ".join(CHOICE.sub(r"\g<negated>", text).replace("*", "nicht").split()),
        sein=auxiliary_is_sein(verb, reflexive, tags),
        tags=tags,
    )


def quote_choice(match: re.Match[str]) -> str:
    """A choice [a/b] as one word, so that splitting at spaces keeps it together."""
    return match[0].replace(" ", "\0")


def english_for(action: Action, subject: NounPhrase) -> str:
    """The English verb phrase with one's and oneself made the subject's own."""
    if "one" not in action.english:
        return action.english
    text = re.sub(r"\bone's\b", english_possessive(subject), action.english)
    return re.sub(r"\boneself\b", english_reflexive(subject), text)


def german_for(text: str, subject: NounPhrase) -> str:
    """German words with sein-, sein-e, sein-en, ... made the subject's own."""
    if "sein-" not in text:
        return text
    possessive = german_possessive(subject.german_person)

    def own(match: re.Match[str]) -> str:
        stem = "eur" if possessive == "euer" and match[1] else possessive
        return stem + match[1]

    return re.sub(r"\bsein-(\w*)", own, text)


def pronoun_of(action: Action, subject: NounPhrase) -> str:
    """The German pronoun that stands early in the sentence: sich, or a pronoun object."""
    if action.reflexive:
        return german_reflexive(subject.german_person, dative=action.reflexive == "dat")
    return action.pronoun


def with_object(row: dict[str, str], thing: NounPhrase, *, bare: bool = False) -> Action:
    """The action of a verb from the table of verbs with its object.

    Args:
        row: The row of the verb.
        thing: The object.
        bare: Whether the object is part of the verb, as in Fußball spielen: nicht stands before.
    """
    words, prefix, verb, reflexive = split_verb(row["german"])
    tags = frozenset(row["tags"].split())
    preposition, _, case = row["frame"].rpartition("+")
    lead, form, pronoun = " ".join(words), thing.german[case], ""
    if preposition:
        complement = f"{lead} {preposition} {form}".strip()
        negative = f"kein{'e' if lead else ''} {complement}" if lead else f"nicht {complement}"
    elif thing.is_pronoun:
        complement, negative, pronoun = "", "nicht", form
    elif bare:
        complement, negative = form, f"nicht {form}"
    else:
        complement, negative = form, thing.negative or f"{form} nicht"
        if case == "dat" and thing.negative:
            negative = f"nicht {form}"
    head, _, particle = row["english"].partition("|")
    if particle and thing.is_pronoun:
        english = f"{head} {thing.english_object} {particle}"
    else:
        english = " ".join(part for part in (head, particle, thing.english_object) if part)
    sein = auxiliary_is_sein(verb, reflexive, tags)
    return Action(english, verb, prefix, reflexive, pronoun, complement, negative, sein, tags)


def choose(rng: Random, tags: str) -> Action:
    """An action with one of some tags."""
    return rng.choice(actions(tags))


def own_determiner(subject: NounPhrase) -> str:
    """The determiner for what is the subject's own: my for I; formal and plural you apart."""
    if subject.german_person == "Sie":
        return "your (formal)"
    if subject.german_person == "ihr":
        return "your (several)"
    return english_possessive(subject)


def is_bare(noun: Noun) -> bool:
    """Whether a noun belongs to the verb without an article: Klavier spielen."""
    return bool(noun.classes & {"instrument", "sport"})
