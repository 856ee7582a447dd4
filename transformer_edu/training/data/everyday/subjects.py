"""Who a sentence speaks of: pronouns, relatives, people with names; and whom it speaks to."""

from functools import cache
from random import Random

from transformer_edu.training.data.everyday.noun_phrases import NounPhrase, nouns_of, phrase
from transformer_edu.training.data.everyday.tables import read_table

# German person: English subject, object, possessive, reflexive, then German
# nominative, accusative, dative, reflexive accusative, reflexive dative, possessive.
PERSONS = {
    "ich": "I me my myself ich mich mir mich mir mein",
    "du": "you you your yourself du dich dir dich dir dein",
    "er": "he him his himself er ihn ihm sich sich sein",
    "sie": "she her her herself sie sie ihr sich sich ihr",
    "es": "it it its itself es es ihm sich sich sein",
    "wir": "we us our ourselves wir uns uns uns uns unser",
    "ihr": "you you your yourselves ihr euch euch euch euch euer",
    "sie_pl": "they them their themselves sie sie ihnen sich sich ihr",
    "Sie": "you you your yourself Sie Sie Ihnen sich sich Ihr",
}
ENGLISH_PERSONS = {  # of the pronoun that stands for a noun phrase: possessive, reflexive
    "he": "his himself",
    "she": "her herself",
    "it": "its itself",
    "they": "their themselves",
}
PRONOUN_WEIGHTS = {"ich": 9, "du": 3, "er": 4, "sie": 4, "wir": 5, "sie_pl": 3}
TITLES = (("Mr.", "Herr", "Herrn", "he", "er"), ("Ms.", "Frau", "Frau", "she", "sie"))


@cache
def pronoun(german_person: str) -> NounPhrase:
    """The personal pronoun."""
    words = PERSONS[german_person].split()
    german = {"nom": words[4], "acc": words[5], "dat": words[6]}
    return NounPhrase(words[0], words[1], words[0], german, german_person, is_pronoun=True)


def german_reflexive(german_person: str, *, dative: bool) -> str:
    """mich, dich, sich, ... or mir, dir, sich, ..."""
    return PERSONS[german_person].split()[8 if dative else 7]


def german_possessive(german_person: str) -> str:
    """mein, dein, sein, ... without an ending."""
    return PERSONS[german_person].split()[9]


def english_possessive(subject: NounPhrase) -> str:
    """my, your, his, ..."""
    if subject.is_pronoun:
        return PERSONS[subject.german_person].split()[2]
    return ENGLISH_PERSONS[subject.person].split()[0]


def english_reflexive(subject: NounPhrase) -> str:
    """myself, yourself, himself, ..."""
    if subject.is_pronoun:
        return PERSONS[subject.german_person].split()[3]
    return ENGLISH_PERSONS[subject.person].split()[1]


@cache
def names(kind: str) -> tuple[str, ...]:
    """Given names (f, m) or family names (family)."""
    return tuple(row["name"] for row in read_table("people") if row["kind"] == kind)


def named(name: str, person: str) -> NounPhrase:
    """Somebody by name; person is he or she."""
    german = dict.fromkeys(("nom", "acc", "dat"), name)
    return NounPhrase(name, name, person, german, "er" if person == "he" else "sie")


def given_name(rng: Random) -> NounPhrase:
    """Somebody by a given name."""
    kind = rng.choice("fm")
    return named(rng.choice(names(kind)), "she" if kind == "f" else "he")


def titled(rng: Random) -> NounPhrase:
    """Mr. or Ms. and a family name: Herr Weber, Herrn Weber."""
    english, nominative, oblique, person, german_person = rng.choice(TITLES)
    name = rng.choice(names("family"))
    german = {"nom": f"{nominative} {name}"}
    german |= dict.fromkeys(("acc", "dat"), f"{oblique} {name}")
    return NounPhrase(f"{english} {name}", f"{english} {name}", person, german, german_person)


def relative(rng: Random, possessive: str = "my") -> NounPhrase:
    """A relative, friend or colleague: my mother, my children's grandparents excepted."""
    noun = rng.choice(nouns_of("kin mine"))
    more = rng.random() < 0.2 and noun.gender != "p" and noun.english not in (
        "mother", "father", "husband", "wife", "boss", "family",
        "grandmother", "grandfather", "grandma", "grandpa",
    )  # fmt: skip
    return phrase(noun, possessive, plural=more)


def people(rng: Random) -> NounPhrase:
    """The children, the woman, the teachers: a person whom the listener knows."""
    noun = rng.choice(nouns_of("person"))
    return phrase(noun, "the", plural=rng.random() < 0.35)


def any_pronoun(rng: Random) -> NounPhrase:
    """A personal pronoun for people, I most often."""
    chosen = rng.choices(list(PRONOUN_WEIGHTS), list(PRONOUN_WEIGHTS.values()))[0]
    return pronoun(chosen)


def somebody(rng: Random) -> NounPhrase:
    """A subject: a pronoun mostly, else a name, a relative or a person."""
    kind = rng.random()
    if kind < 0.62:
        return any_pronoun(rng)
    if kind < 0.76:
        return given_name(rng)
    if kind < 0.92:
        return relative(rng)
    return titled(rng) if kind < 0.95 else people(rng)


def address(rng: Random) -> tuple[str, str, str]:
    """Whom a question or request is put to: what is said first in English and German, the person.

    Nobody is named mostly, and then you is du. Excuse me, Mr. and Ms. go with Sie, several
    people with ihr.
    """
    kind = rng.random()
    if kind < 0.62:
        return "", "", "du"
    if kind < 0.74:
        name = given_name(rng).english
        return f"{name}, ", f"{name}, ", "du"
    if kind < 0.84:
        person = titled(rng)
        return f"{person.english}, ", f"{person.german['nom']}, ", "Sie"
    if kind < 0.93:
        return "Excuse me, ", "Entschuldigung, ", "Sie"
    if kind < 0.96:
        return "Children, ", "Kinder, ", "ihr"
    first, second = rng.sample(names("f") + names("m"), 2)
    return f"{first} and {second}, ", f"{first} und {second}, ", "ihr"
