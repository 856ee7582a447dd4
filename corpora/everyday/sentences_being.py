"""Sentences about what people and things are, what they are like, and what people have."""

from dataclasses import replace
from random import Random

from corpora.everyday.clauses import Pair, conjugated, finish
from corpora.everyday.english_forms import (
    comparative,
    finite_form,
    negated,
    with_article,
)
from corpora.everyday.german_forms import Noun
from corpora.everyday.noun_phrases import (
    Adjective,
    NounPhrase,
    adjectives,
    adjectives_for,
    any_pronoun,
    given_name,
    nouns_of,
    phrase,
    pronoun,
    relative,
)
from corpora.everyday.tables import read_table

THINGS = (
    "animal fruit vegetable dish cooked groceries drink clothing portable device furniture room "
    "home vehicle building nature landscape media event topic kitchen household opening body town "
    "plant sky picture"
)
RIVALS = {"animal", "vehicle", "subject", "transport", "landscape", "fruit", "town", "sweet"}
POSSESSIVES = ("my", "your", "his", "her", "our", "their")
PASSING = ("right", "wrong", "empty", "full", "wet", "dry", "clean")  # not in: I have a wrong bag
UNOWNED = "nature landscape sky town wild farm building media event transport"
HAD = "pet vehicle device portable instrument home furniture clothing have gift"


def described(rng: Random) -> tuple[NounPhrase, Adjective]:
    """A thing or a person, and an adjective that fits."""
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
    """The, this, or, if people own such things, a possessive."""
    if (
        noun.classes & set(UNOWNED.split())
        or "person" in noun.classes
        and "mine" not in noun.classes
    ):
        return rng.choice(["the", "the", "this"]) if "sky" not in noun.classes else "the"
    if "body" in noun.classes:
        return rng.choice(POSSESSIVES[:4])
    return rng.choice(["the", "the", "this", *POSSESSIVES])


def quality(rng: Random) -> Pair:
    """The soup is very hot. Was your trip interesting?"""
    subject, adjective = described(rng)
    graded = "absolute" not in adjective.row["classes"].split()
    tense = "past" if graded and rng.random() < 0.2 else "present"
    be, sein = conjugated(subject, "be", "sein", tense)
    degree = degree_word(rng) if graded and rng.random() < 0.4 else ("", "")
    if "praise" in adjective.row["classes"] and degree[0] in ("too", "a bit"):
        degree = "very", "sehr"
    english = f"{degree[0]} {adjective.english}".strip()
    german = f"{degree[1]} {adjective.german}".strip()
    kind = rng.random()
    if kind < 0.2 and degree[0] in ("", "very", "really"):
        asked = f"{be} {subject.english} {english}", f"{sein} {subject.nom} {german}"
        return finish(*asked, "?")
    if kind < 0.35 and degree[0] in ("", "very"):
        return finish(deny(subject, be, english), f"{subject.nom} {sein} nicht {german}")
    return finish(affirm(rng, subject, be, english), f"{subject.nom} {sein} {german}")


def affirm(rng: Random, subject: NounPhrase, be: str, rest: str) -> str:
    """Subject, to be and the rest; after a pronoun, it is most often contracted."""
    if subject.is_pronoun and be in ("am", "is", "are") and rng.random() < 0.75:
        short = {"am": "'m", "is": "'s", "are": "'re"}[be]
        return f"{subject.english}{short} {rest}"
    return f"{subject.english} {be} {rest}"


def deny(subject: NounPhrase, be: str, rest: str) -> str:
    """Subject, to be, not and the rest."""
    if be == "am":
        return f"I'm not {rest}"
    return f"{subject.english} {negated(be, contracted=True)} {rest}"


def degree_word(rng: Random) -> Pair:
    """A word of degree: very, too, quite, really or a bit."""
    row = rng.choice([r for r in read_table("adverbs") if r["kind"] == "degree"])
    return row["english"], row["german"]


def german_comparative(adjective: Adjective) -> str:
    """The comparative: from the table, or the regular one."""
    return adjective.row["comparative"] or adjective.german.removesuffix("e") + "er"


def german_superlative(adjective: Adjective) -> str:
    """The superlative's stem: größt, schönst, süßest."""
    if adjective.row["superlative"]:
        return adjective.row["superlative"]
    longer = adjective.german.endswith(("d", "t", "s", "ß", "z", "x", "sch"))
    return adjective.german + ("est" if longer else "st")


def english_comparative(adjective: Adjective) -> str:
    """The comparative: from the table, or the regular one."""
    return adjective.row["english_comparative"] or comparative(adjective.english)


def english_superlative(adjective: Adjective) -> str:
    """The superlative: biggest, best, most beautiful."""
    form = english_comparative(adjective)
    if form in ("better", "worse"):
        return {"better": "best", "worse": "worst"}[form]
    return form.replace("more ", "most ") if "more " in form else form[:-1] + "st"


def comparing(rng: Random) -> Pair:
    """Your car is faster than my bicycle. Anna is not as tall as Tom."""
    one, other, adjective = compared(rng)
    be, sein = conjugated(one, "be", "sein")
    start, anfang = f"{one.english} {be}", f"{one.nom} {sein}"
    target, ziel = other.english_object, other.nom
    if rng.random() < 0.6:
        much = rng.random() < 0.2
        more, mehr = english_comparative(adjective), german_comparative(adjective)
        english = f"{start} {'much ' * much}{more} than {target}"
        return finish(english, f"{anfang} {'viel ' * much}{mehr} als {ziel}")
    negative = rng.random() < 0.5
    start += " not" * negative
    english = f"{start} as {adjective.english} as {target}"
    return finish(english, f"{anfang} {'nicht' if negative else 'genauso'} "
                            f"{'so ' * negative}{adjective.german} wie {ziel}")  # fmt: skip


def compared(rng: Random) -> tuple[NounPhrase, NounPhrase, Adjective]:
    """Two people or things, and an adjective by which they are compared."""
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
    if same and not first.classes & set(UNOWNED.split()) and not first.classes & {"person"}:
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
    """Whether an adjective compares people."""
    classes = adjective.row["classes"].split()
    return "be" in classes and "absolute" not in classes


def superlative(rng: Random) -> Pair:
    """This is the oldest church in the city. Which animal is the biggest?"""
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
        return finish(f"which {noun.english} is the {best.english}",
                       f"{phrase(noun, 'which').nom} ist "
                       f"am {best.german}en", "?")  # fmt: skip
    english = f"this is {thing.english} {where}".strip()
    return finish(english, f"das ist {thing.nom} {wo}".strip())


def occupation(rng: Random) -> Pair:
    """My sister is a doctor. He wants to become a cook. (German uses no article.)"""
    row = rng.choice(read_table("jobs"))
    who = rng.choice([any_pronoun, given_name, relative, relative])(rng)
    if who.plural or who.english in ("my family",):
        who = pronoun("er")
    female = who.person == "she"
    job = row["feminine"] if female else row["german"]
    english = with_article(row["english"])
    be, sein = conjugated(who, "be", "sein")
    subject = who.nom
    kind = rng.random()
    if kind < 0.5:
        return finish(affirm(rng, who, be, english), f"{subject} {sein} {job}")
    if kind < 0.62:
        return finish(f"{be} {who.english} {english}", f"{sein} {subject} {job}", "?")
    if kind < 0.72:
        return finish(
            deny(who, be, english), f"{subject} {sein} {'keine' if female else 'kein'} {job}"
        )
    if kind < 0.88:
        want, will = conjugated(who, "want", "wollen")
        return finish(f"{who.english} {want} to become {english}", f"{subject} {will} {job} werden")
    work, arbeitet = conjugated(who, "work", "arbeiten")
    return finish(f"{who.english} {work} as {english}", f"{subject} {arbeitet} als {job}")


def pointing(rng: Random) -> Pair:
    """This is my brother. Are these your shoes? This is not my bag."""
    noun = rng.choice(nouns_of("kin mine spouse portable clothing pet vehicle home device room"))
    determiner = rng.choice(["my", "my", "your", "his", "her", "our", "their"])
    many = bool(noun.classes & {"paired"})
    thing = phrase(noun, determiner, plural=many)
    plural = thing.plural
    german_plural = thing.german_person == "sie_pl"
    be, sind = ("are" if plural else "is"), ("sind" if german_plural else "ist")
    this = "these" if plural else "this"
    kind = rng.random()
    if kind < 0.45:
        return finish(f"{this} {be} {thing.english}", f"das {sind} {thing.nom}")
    if kind < 0.75:
        return finish(f"{be} {this} {thing.english}", f"{sind} das {thing.nom}", "?")
    return finish(f"{this} {be} not {thing.english}", f"das {sind} nicht {thing.nom}")


def having(rng: Random) -> Pair:
    """My brother has a new car. Do you have a cat? We don't have time."""
    who = rng.choice([any_pronoun, any_pronoun, given_name, relative])(rng)
    noun = rng.choice(nouns_of(HAD + " lack illness kin"))
    own = noun.classes & {"illness", "lack"}
    if "kin" in noun.classes and (noun.gender == "p" or noun.english in ("mother", "father")):
        noun = nouns_of("=brother")[0]
    fitting = [] if own or "kin" in noun.classes or "have" in noun.classes else adjectives_for(noun)
    adjective = rng.choice(fitting) if fitting and rng.random() < 0.45 else None
    if adjective and adjective.english in PASSING:
        adjective = None
    many = "kin" in noun.classes and rng.random() < 0.5 or "paired" in noun.classes
    determiner = rng.choice(["two", "three"]) if many and "kin" in noun.classes else "a"
    thing = phrase(noun, determiner, plural=many, adjective=adjective)
    have, haben = conjugated(who, "have", "haben")
    subject = who.nom
    do = finite_form("do", who.person, "present")
    kind = rng.random()
    if adjective and kind > 0.78:
        return having(rng)  # not: I don't have a red car
    if kind < 0.6 and "lack" not in noun.classes or determiner not in ("a", ""):
        return finish(f"{who.english} {have} {thing.english}", f"{subject} {haben} {thing.acc}")
    if kind < 0.78 and who.english != "I":
        return finish(
            f"{do} {who.english} have {thing.english}",
            f"{haben} {subject} {thing.acc}",
            "?",
        )
    return finish(
        f"{who.english} {do}n't have {thing.english}", f"{subject} {haben} {thing.negative}"
    )


def belonging(rng: Random) -> Pair:
    """The car belongs to my uncle. This is Anna's bag."""
    noun = rng.choice(nouns_of("portable clothing vehicle pet home device"))
    many = "paired" in noun.classes
    thing = phrase(noun, "the", plural=many)
    owner = rng.choice([any_pronoun, given_name, relative])(rng)
    belong, german = conjugated(thing, "belong", "gehören")
    if rng.random() < 0.6 or owner.is_pronoun:
        english = f"{thing.english} {belong} to {owner.english_object}"
        return finish(english, f"{thing.nom} {german} {owner.dat}")
    be, sein = ("are", "sind") if many else ("is", "ist")
    be = "are" if thing.plural else "is"
    this = "these" if be == "are" else "this"
    bare = phrase(noun, "", plural=many)
    genitive = "'" if owner.english.endswith("s") else "'s"
    if owner.german.get("gen"):
        german = f"{thing.nom} {owner.german['gen']}"
    else:
        ending = "’" if owner.english[-1] in "sxz" else "s"
        german = f"{owner.nom}{ending} {bare.nom}"
    return finish(f"{this} {be} {owner.english}{genitive} {bare.english}", f"das {sein} {german}")


# The weight of each group among all groups, and of each template in its group.
TEMPLATES = (
    (12, {quality: 14, comparing: 6, superlative: 2}),
    (7, {occupation: 4, pointing: 3, having: 7, belonging: 3}),
)
