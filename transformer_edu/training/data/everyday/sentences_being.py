"""Sentences about what somebody or something is like, alone or compared."""

from dataclasses import replace
from random import Random

from transformer_edu.training.data.everyday.clauses import Pair, finish
from transformer_edu.training.data.everyday.english_forms import (
    comparative,
    finite_form,
    negated,
)
from transformer_edu.training.data.everyday.german_nouns import Noun
from transformer_edu.training.data.everyday.german_verbs import finite
from transformer_edu.training.data.everyday.noun_phrases import (
    Adjective,
    NounPhrase,
    adjectives,
    adjectives_for,
    nouns_of,
    phrase,
)
from transformer_edu.training.data.everyday.subjects import (
    any_pronoun,
    given_name,
    relative,
)
from transformer_edu.training.data.everyday.tables import read_table

THINGS = (
    "animal fruit vegetable dish cooked groceries drink clothing portable device furniture room "
    "home vehicle building nature landscape media event topic kitchen household opening body town "
    "plant sky picture"
)
RIVALS = {"animal", "vehicle", "subject", "transport", "landscape", "fruit", "town", "sweet"}
POSSESSIVES = ("my", "your", "his", "her", "our", "their")
UNOWNED = {
    "nature",
    "landscape",
    "sky",
    "town",
    "wild",
    "farm",
    "building",
    "media",
    "event",
    "transport",
}


def be_and_sein(subject: NounPhrase, tense: str) -> Pair:
    """The forms of to be and sein."""
    return finite_form("be", subject.person, tense), finite("sein", subject.german_person, tense)


def described(rng: Random) -> tuple[NounPhrase, Adjective]:
    """A thing or person and an adjective that fits it."""
    if rng.random() < 0.35:
        who = rng.choice([any_pronoun, given_name, relative])(rng)
        fitting = [a for a in adjectives() if "be" in a.row["classes"].split()]
        return who, rng.choice(fitting)
    while True:
        noun = rng.choice(nouns_of(THINGS + " person"))
        if adjectives_for(noun):
            break
    many = rng.random() < 0.25 and bool(noun.german_plural) and bool(noun.english_plural)
    many = (many or "body" in noun.classes) and not (noun.always_plural or noun.gender == "p")
    determiner = owner_or_the(rng, noun)
    return phrase(noun, determiner, plural=many), rng.choice(adjectives_for(noun))


def owner_or_the(rng: Random, noun: Noun) -> str:
    """The, this, or a possessive where people own such things."""
    if noun.classes & UNOWNED or "person" in noun.classes and "mine" not in noun.classes:
        return rng.choice(["the", "the", "this"]) if "sky" not in noun.classes else "the"
    if "body" in noun.classes:
        return rng.choice(POSSESSIVES[:4])
    return rng.choice(["the", "the", "this", *POSSESSIVES])


def quality(rng: Random) -> Pair:
    """The soup is very hot. Was your trip interesting?"""
    subject, adjective = described(rng)
    graded = "absolute" not in adjective.row["classes"].split()
    tense = "past" if graded and rng.random() < 0.2 else "present"
    be, sein = be_and_sein(subject, tense)
    degree = degree_word(rng) if graded and rng.random() < 0.4 else ("", "")
    if "praise" in adjective.row["classes"] and degree[0] in ("too", "a bit"):
        degree = "very", "sehr"
    english = f"{degree[0]} {adjective.english}".strip()
    german = f"{degree[1]} {adjective.german}".strip()
    kind = rng.random()
    if kind < 0.2 and degree[0] in ("", "very", "really"):
        asked = f"{be} {subject.english} {english}", f"{sein} {subject.german['nom']} {german}"
        return finish(asked, "?")
    if kind < 0.35 and degree[0] in ("", "very"):
        return finish(
            (deny(subject, be, english), f"{subject.german['nom']} {sein} nicht {german}")
        )
    return finish((affirm(rng, subject, be, english), f"{subject.german['nom']} {sein} {german}"))


def affirm(rng: Random, subject: NounPhrase, be: str, rest: str) -> str:
    """Subject, to be and the rest, contracted behind a pronoun mostly."""
    if subject.is_pronoun and be in ("am", "is", "are") and rng.random() < 0.75:
        short = {"am": "'m", "is": "'s", "are": "'re"}[be]
        return f"{subject.english}{short} {rest}"
    return f"{subject.english} {be} {rest}"


def deny(subject: NounPhrase, be: str, rest: str) -> str:
    """The same with not."""
    if be == "am":
        return f"I'm not {rest}"
    return f"{subject.english} {negated(be, contracted=True)} {rest}"


def degree_word(rng: Random) -> Pair:
    """very, too, quite, really or a bit."""
    row = rng.choice([r for r in read_table("adverbs") if r["kind"] == "degree"])
    return row["english"], row["german"]


def german_comparative(adjective: Adjective) -> str:
    """The comparative from the table, or the regular one."""
    return adjective.row["comparative"] or adjective.german.removesuffix("e") + "er"


def german_superlative(adjective: Adjective) -> str:
    """The superlative's stem: größt, schönst, süßest."""
    if adjective.row["superlative"]:
        return adjective.row["superlative"]
    longer = adjective.german.endswith(("d", "t", "s", "ß", "z", "x", "sch"))
    return adjective.german + ("est" if longer else "st")


def english_comparative(adjective: Adjective) -> str:
    """The comparative from the table, or the regular one."""
    return adjective.row["english_comparative"] or comparative(adjective.english)


def english_superlative(adjective: Adjective) -> str:
    """biggest, best, most beautiful."""
    form = english_comparative(adjective)
    if form in ("better", "worse"):
        return {"better": "best", "worse": "worst"}[form]
    return form.replace("more ", "most ") if "more " in form else form[:-1] + "st"


def comparing(rng: Random) -> Pair:
    """Your car is faster than my bicycle. Anna is not as tall as Tom."""
    one, other, adjective = compared(rng)
    be, sein = be_and_sein(one, "present")
    start, anfang = f"{one.english} {be}", f"{one.german['nom']} {sein}"
    target, ziel = other.english_object, other.german["nom"]
    if rng.random() < 0.6:
        much = rng.random() < 0.2
        more, mehr = english_comparative(adjective), german_comparative(adjective)
        english = f"{start} {'much ' * much}{more} than {target}"
        return finish((english, f"{anfang} {'viel ' * much}{mehr} als {ziel}"))
    negative = rng.random() < 0.5
    start += " not" * negative
    english = f"{start} as {adjective.english} as {target}"
    return finish((english, f"{anfang} {'nicht' if negative else 'genauso'} "
                            f"{'so ' * negative}{adjective.german} wie {ziel}"))  # fmt: skip


def compared(rng: Random) -> tuple[NounPhrase, NounPhrase, Adjective]:
    """Two that differ, and an adjective with degrees for both."""
    if rng.random() < 0.45:
        one = rng.choice([any_pronoun, given_name, relative])(rng)
        other = rng.choice([given_name, relative])(rng)
        if one.english != other.english and not other.english.endswith("family"):
            fitting = [a for a in adjectives() if graded_for_people(a)]
            return one, other, rng.choice(fitting)
    while True:
        adjective = rng.choice([a for a in adjectives() if "absolute" not in a.row["classes"]])
        kind = rng.choice(adjective.row["classes"].split())
        found = nouns_of(kind)
        if kind != "be" and found:
            break
    first = rng.choice(found)
    rivals = [n for n in found if n is not first and kind in RIVALS]
    same = not rivals or rng.random() < 0.35
    if same and not first.classes & UNOWNED and not first.classes & {"person"}:
        mine, yours = rng.sample(POSSESSIVES, 2)
        return phrase(first, mine), phrase(first, yours), adjective
    if rivals:
        return phrase(first, "the"), phrase(rng.choice(rivals), "the"), adjective
    this = phrase(first, "this")
    article = this.german_person
    another = {"er": "der andere", "sie": "die andere", "es": "das andere", "sie_pl": "die anderen"}
    german = {"nom": another[article]}
    return this, replace(this, english_object="the other one", german=german), adjective


def graded_for_people(adjective: Adjective) -> bool:
    """Whether people are compared by an adjective."""
    classes = adjective.row["classes"].split()
    return "be" in classes and "absolute" not in classes


def superlative(rng: Random) -> Pair:
    """This is the oldest church in the city. Anna is the tallest."""
    noun = rng.choice(nouns_of("building town room sight device clothing readable media animal"))
    fitting = [a for a in adjectives_for(noun) if "absolute" not in a.row["classes"].split()]
    if not fitting:
        return superlative(rng)
    adjective = rng.choice(fitting)
    best = replace(adjective, english=english_superlative(adjective),
                   german=german_superlative(adjective))  # fmt: skip
    if adjective.german in ("lila", "rosa", "orange") or noun.always_plural:
        return superlative(rng)
    thing = phrase(noun, "the", adjective=best)
    where, wo = rng.choice((("in the city", "in der Stadt"), ("here", "hier")))
    if not noun.classes & {"building", "sight"}:
        where = wo = ""
    if rng.random() < 0.4:
        return finish((f"which {noun.english} is the {best.english}",
                       f"{phrase(noun, 'which').german['nom']} ist "
                       f"am {best.german}en"), "?")  # fmt: skip
    english = f"this is {thing.english} {where}".strip()
    return finish((english, f"das ist {thing.german['nom']} {wo}".strip()))


TEMPLATES = {
    quality: 14,
    comparing: 6,
    superlative: 2,
}
