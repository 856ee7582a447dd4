"""Noun phrases in both languages, and the people in the sentences: pronouns, relatives, names."""

from dataclasses import dataclass
from functools import cache
from random import Random

from corpora.everyday.english_forms import with_article
from corpora.everyday.german_forms import Noun, adjective_form, inflect, nouns
from corpora.everyday.tables import read_table

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
ENGLISH_PERSONS = {  # by the pronoun for a noun phrase: possessive, reflexive
    "he": "his himself",
    "she": "her herself",
    "it": "its itself",
    "they": "their themselves",
}
PRONOUN_WEIGHTS = {"ich": 9, "du": 3, "er": 4, "sie": 4, "wir": 5, "sie_pl": 3}
TITLES = (("Mr.", "Herr", "Herrn", "he", "er"), ("Ms.", "Frau", "Frau", "she", "sie"))


@dataclass(frozen=True)
class NounPhrase:
    """A noun phrase or a pronoun.

    Args:
        english: As a subject.
        english_object: As an object.
        person: The English pronoun that a verb agrees with: "I", "you", "he", "it", "they", ...
        german: The forms of the cases; a pronoun has no genitive.
        german_person: ich, du, er, sie, es, wir, ihr, sie_pl or Sie.
        negative: The German accusative with kein; empty if nicht is used.
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
    def nom(self) -> str:
        """The German nominative."""
        return self.german["nom"]

    @property
    def acc(self) -> str:
        """The German accusative."""
        return self.german["acc"]

    @property
    def dat(self) -> str:
        """The German dative."""
        return self.german["dat"]

    @property
    def plural(self) -> bool:
        """Whether the English phrase is plural, which decides between is and are."""
        return self.person in ("we", "they")


@dataclass(frozen=True)
class Adjective:
    """An adjective: its English and German form, and its row of the table."""

    english: str
    german: str
    row: dict[str, str]


def english_person(noun: Noun, *, plural: bool) -> str:
    """The English pronoun that stands for a noun."""
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
    """A noun phrase; determiner is "the", "a", "my", ..., a number such as "two", or empty."""
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
    """The German noun phrase in one case."""
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
    """The adjectives that make sense with a noun; a class =key in the table means that noun."""
    wanted = {*noun.classes, "=" + noun.english.replace(" ", "_")} - {"be"}
    return tuple(a for a in adjectives() if wanted & set(a.row["classes"].split()))


@cache
def nouns_of(classes: str) -> tuple[Noun, ...]:
    """The nouns in one of the classes (separated by spaces); a class =key means that noun."""
    wanted = set(classes.split())
    named = {word[1:].replace("_", " ") for word in wanted if word.startswith("=")}
    unknown = named - {noun.english for noun in nouns()}
    if unknown:
        raise ValueError(f"classes must name nouns of the table, got {sorted(unknown)}")
    return tuple(n for n in nouns() if n.classes & wanted or n.english in named)


@cache
def pronoun(german_person: str) -> NounPhrase:
    """The personal pronoun."""
    words = PERSONS[german_person].split()
    german = {"nom": words[4], "acc": words[5], "dat": words[6]}
    return NounPhrase(words[0], words[1], words[0], german, german_person, is_pronoun=True)


def german_reflexive(german_person: str, *, dative: bool) -> str:
    """The reflexive pronoun: mich, dich, sich, ...; in the dative mir, dir, sich, ..."""
    return PERSONS[german_person].split()[8 if dative else 7]


def german_possessive(german_person: str) -> str:
    """The possessive without an ending: mein, dein, sein, ..."""
    return PERSONS[german_person].split()[9]


def english_possessive(subject: NounPhrase) -> str:
    """The possessive: my, your, his, ..."""
    if subject.is_pronoun:
        return PERSONS[subject.german_person].split()[2]
    return ENGLISH_PERSONS[subject.person].split()[0]


def english_reflexive(subject: NounPhrase) -> str:
    """The reflexive pronoun: myself, yourself, himself, ..."""
    if subject.is_pronoun:
        return PERSONS[subject.german_person].split()[3]
    return ENGLISH_PERSONS[subject.person].split()[1]


@cache
def names(kind: str) -> tuple[str, ...]:
    """The names of a kind: f and m for given names, family for family names."""
    return tuple(row["name"] for row in read_table("people") if row["kind"] == kind)


def named(name: str, person: str) -> NounPhrase:
    """A person by name; person is he or she."""
    german = dict.fromkeys(("nom", "acc", "dat"), name)
    return NounPhrase(name, name, person, german, "er" if person == "he" else "sie")


def given_name(rng: Random) -> NounPhrase:
    """A person by a given name."""
    kind = rng.choice("fm")
    return named(rng.choice(names(kind)), "she" if kind == "f" else "he")


def two_together(rng: Random) -> NounPhrase:
    """Two people: Tom and Anna, my aunt and Paul; if both have the same name, only one."""
    second = given_name(rng)
    first = given_name(rng) if rng.random() < 0.6 else relative(rng)
    if first.english == second.english:
        return second
    german = {case: f"{first.german[case]} und {second.german[case]}" for case in second.german}
    english = f"{first.english} and {second.english}"
    return NounPhrase(english, english, "they", german, "sie_pl")


def titled(rng: Random) -> NounPhrase:
    """Mr. or Ms. and a family name: Herr Weber, Herrn Weber."""
    english, nominative, oblique, person, german_person = rng.choice(TITLES)
    name = rng.choice(names("family"))
    german = {"nom": f"{nominative} {name}"}
    german |= dict.fromkeys(("acc", "dat"), f"{oblique} {name}")
    return NounPhrase(f"{english} {name}", f"{english} {name}", person, german, german_person)


def relative(rng: Random, possessive: str = "my") -> NounPhrase:
    """A relative, friend or colleague: my mother, her friends."""
    noun = rng.choice(nouns_of("kin mine"))
    more = rng.random() < 0.2 and noun.gender != "p" and noun.english not in (
        "mother", "father", "husband", "wife", "boss", "family",
        "grandmother", "grandfather", "grandma", "grandpa",
    )  # fmt: skip
    return phrase(noun, possessive, plural=more)


def people(rng: Random) -> NounPhrase:
    """One or more people: the children, the woman, the teachers."""
    noun = rng.choice(nouns_of("person"))
    return phrase(noun, "the", plural=rng.random() < 0.35)


def any_pronoun(rng: Random) -> NounPhrase:
    """A personal pronoun for people, most often I."""
    chosen = rng.choices(list(PRONOUN_WEIGHTS), list(PRONOUN_WEIGHTS.values()))[0]
    return pronoun(chosen)


def somebody(rng: Random) -> NounPhrase:
    """A subject: most often a pronoun, otherwise a name, two people, a relative or a person."""
    kind = rng.random()
    if kind < 0.6:
        return any_pronoun(rng)
    if kind < 0.72:
        return given_name(rng)
    if kind < 0.77:
        return two_together(rng)
    if kind < 0.92:
        return relative(rng)
    return titled(rng) if kind < 0.95 else people(rng)


def address(rng: Random) -> tuple[str, str, str]:
    """The address at the beginning of a question, in English and German, and the German person.

    Most often, it is empty, and the person is du. Excuse me, Mr. and Ms. go with Sie, several
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
        return f"{person.english}, ", f"{person.nom}, ", "Sie"
    if kind < 0.93:
        return "Excuse me, ", "Entschuldigung, ", "Sie"
    if kind < 0.96:
        return "Children, ", "Kinder, ", "ihr"
    first, second = rng.sample(names("f") + names("m"), 2)
    return f"{first} and {second}, ", f"{first} und {second}, ", "ihr"
