"""Noun phrases in both languages: a determiner, an adjective and a noun, in the cases."""

from dataclasses import dataclass
from functools import cache

from transformer_edu.training.data.everyday.english_forms import with_article
from transformer_edu.training.data.everyday.german_nouns import (
    Noun,
    adjective_form,
    inflect,
    nouns,
)
from transformer_edu.training.data.everyday.tables import read_table

CASES = ("nom", "acc", "dat", "gen")
DETERMINERS = {
    "the": "der",
    "a": "ein",
    "": "",
    "this": "dies",
    "every": "jed",
    "which": "welch",
    "my": "mein",
    "your": "dein",
    "his": "sein",
    "her": "ihr",
    "our": "unser",
    "their": "ihr",
    "your (formal)": "Ihr",
    "your (several)": "euer",
}
GERMAN_PERSON = {"m": "er", "f": "sie", "n": "es", "p": "sie_pl"}
NUMBERS = {"two": "zwei", "three": "drei", "four": "vier", "five": "fünf", "six": "sechs"}


@dataclass(frozen=True)
class NounPhrase:
    """A noun phrase or a pronoun.

    Args:
        english: As a subject.
        english_object: As an object.
        person: The English pronoun that a verb agrees with: "I", "you", "he", "it", "they", ...
        german: The forms of the cases; a pronoun has no genitive.
        german_person: ich, du, er, sie, es, wir, ihr, sie_pl or Sie.
        negative: The German accusative with kein, empty where nicht is used.
        is_pronoun: Whether it is a pronoun.
    """

    english: str
    english_object: str
    person: str
    german: dict[str, str]
    german_person: str
    negative: str = ""
    is_pronoun: bool = False

    @property
    def plural(self) -> bool:
        """Whether the English phrase is plural, which decides between is and are."""
        return self.person in ("we", "they")


@dataclass(frozen=True)
class Adjective:
    """An adjective: its English and German form, and the rest of its row."""

    english: str
    german: str
    row: dict[str, str]


def english_person(noun: Noun, *, plural: bool) -> str:
    """The English pronoun for a noun."""
    if plural or noun.always_plural:
        return "they"
    if noun.classes & {"male", "person"}:
        return "she" if noun.english in ("woman", "girl") else "he"
    return "she" if "female" in noun.classes else "it"


def phrase(
    noun: Noun,
    determiner: str,
    *,
    plural: bool = False,
    adjective: Adjective | None = None,
) -> NounPhrase:
    """The noun phrase with an English determiner: "the", "a", "my", ..., a number, or none."""
    if determiner == "a" and plural:
        determiner = ""
    word = noun.english_plural if plural else noun.english
    words = f"{adjective.english} {word}" if adjective else word
    if determiner == "a":
        english = words if noun.always_plural or noun.mass else with_article(words)
    else:
        shown = "these" if determiner == "this" and (plural or noun.always_plural) else determiner
        english = f"{shown.split(' (')[0]} {words}".strip()
    gender = "p" if plural else noun.gender
    german = {case: german_phrase(noun, determiner, case, plural, adjective) for case in CASES}
    indefinite = determiner in ("", "a")
    kein = german_phrase(noun, "kein", "acc", plural, adjective) if indefinite else ""
    return NounPhrase(
        english=english,
        english_object=english,
        person=english_person(noun, plural=plural),
        german=german,
        german_person=GERMAN_PERSON[gender],
        negative=kein,
    )


def german_phrase(
    noun: Noun, determiner: str, case: str, plural: bool, adjective: Adjective | None
) -> str:
    """The German side of a phrase in one case."""
    gender = "p" if plural or noun.gender == "p" else noun.gender
    if determiner in NUMBERS:
        start, kind = NUMBERS[determiner], ""
    elif determiner == "a" and (noun.mass or "illness" in noun.classes):
        start = kind = ""
    else:
        kind = DETERMINERS.get(determiner, determiner)
        start = inflect(kind, case, gender) if kind else ""
    words = [start]
    if adjective:
        words.append(adjective_form(adjective.german, kind, case, gender))
    words.append(noun.german_form(case, plural=plural or gender == "p"))
    return " ".join(word for word in words if word)


@cache
def adjectives() -> tuple[Adjective, ...]:
    """All adjectives of the table."""
    rows = read_table("adjectives")
    return tuple(Adjective(row["english"], row["german"], row) for row in rows)


@cache
def adjectives_for(noun: Noun) -> tuple[Adjective, ...]:
    """The adjectives that make sense with a noun; a class =key in the table names one noun."""
    wanted = {*noun.classes, "=" + noun.english.replace(" ", "_")} - {"be"}
    return tuple(a for a in adjectives() if wanted & set(a.row["classes"].split()))


@cache
def nouns_of(classes: str) -> tuple[Noun, ...]:
    """The nouns that belong to one of some classes, separated by spaces; =key names one noun."""
    wanted = set(classes.split())
    named = {word[1:].replace("_", " ") for word in wanted if word.startswith("=")}
    unknown = named - {noun.english for noun in nouns()}
    if unknown:
        raise ValueError(f"classes must name nouns of the table, got {sorted(unknown)}")
    return tuple(n for n in nouns() if n.classes & wanted or n.english in named)
