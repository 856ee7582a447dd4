"""Sentences about jobs and possessions."""

from random import Random

from transformer_edu.training.data.everyday.clauses import Pair, finish
from transformer_edu.training.data.everyday.english_forms import (
    finite_form,
    with_article,
)
from transformer_edu.training.data.everyday.german_verbs import finite
from transformer_edu.training.data.everyday.noun_phrases import (
    adjectives_for,
    nouns_of,
    phrase,
)
from transformer_edu.training.data.everyday.sentences_being import affirm, be_and_sein, deny
from transformer_edu.training.data.everyday.subjects import (
    any_pronoun,
    given_name,
    pronoun,
    relative,
)
from transformer_edu.training.data.everyday.tables import read_table

HAD = "pet vehicle device portable instrument home furniture clothing have gift"


def occupation(rng: Random) -> Pair:
    """My sister is a doctor. He became a cook. German has no article."""
    row = rng.choice(read_table("jobs"))
    who = rng.choice([any_pronoun, given_name, relative, relative])(rng)
    if who.plural or who.english in ("my family",):
        who = pronoun("er")
    female = who.person == "she"
    job = row["feminine"] if female else row["german"]
    english = with_article(row["english"])
    be, sein = be_and_sein(who, "present")
    subject = who.german["nom"]
    kind = rng.random()
    if kind < 0.5:
        return finish((affirm(rng, who, be, english), f"{subject} {sein} {job}"))
    if kind < 0.62:
        return finish((f"{be} {who.english} {english}", f"{sein} {subject} {job}"), "?")
    if kind < 0.72:
        return finish(
            (deny(who, be, english), f"{subject} {sein} {'keine' if female else 'kein'} {job}")
        )
    if kind < 0.88:
        want = finite_form("want", who.person, "present")
        will = finite("wollen", who.german_person, "present")
        return finish(
            (f"{who.english} {want} to become {english}", f"{subject} {will} {job} werden")
        )
    work = finite_form("work", who.person, "present")
    arbeitet = finite("arbeiten", who.german_person, "present")
    return finish((f"{who.english} {work} as {english}", f"{subject} {arbeitet} als {job}"))


def pointing(rng: Random) -> Pair:
    """This is my brother. Are these your shoes? That's not my bag."""
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
        return finish((f"{this} {be} {thing.english}", f"das {sind} {thing.german['nom']}"))
    if kind < 0.75:
        return finish((f"{be} {this} {thing.english}", f"{sind} das {thing.german['nom']}"), "?")
    return finish((f"{this} {be} not {thing.english}", f"das {sind} nicht {thing.german['nom']}"))


def having(rng: Random) -> Pair:
    """My brother has a new car. Do you have a cat? We don't have time."""
    who = rng.choice([any_pronoun, any_pronoun, given_name, relative])(rng)
    noun = rng.choice(nouns_of(HAD + " lack illness kin"))
    own = noun.classes & {"illness", "lack"}
    if "kin" in noun.classes and (noun.gender == "p" or noun.english in ("mother", "father")):
        noun = nouns_of("=brother")[0]
    fitting = [] if own or "kin" in noun.classes or "have" in noun.classes else adjectives_for(noun)
    adjective = rng.choice(fitting) if fitting and rng.random() < 0.45 else None
    if adjective and adjective.english in (
        "right",
        "wrong",
        "empty",
        "full",
        "wet",
        "dry",
        "clean",
    ):
        adjective = None
    many = "kin" in noun.classes and rng.random() < 0.5 or "paired" in noun.classes
    determiner = rng.choice(["two", "three"]) if many and "kin" in noun.classes else "a"
    thing = phrase(noun, determiner, plural=many, adjective=adjective)
    haben = finite("haben", who.german_person, "present")
    have, subject = finite_form("have", who.person, "present"), who.german["nom"]
    do = finite_form("do", who.person, "present")
    kind = rng.random()
    if adjective and kind > 0.78:
        return having(rng)  # nobody says of what kind a thing is that is not there
    if kind < 0.6 and "lack" not in noun.classes or determiner not in ("a", ""):
        return finish(
            (f"{who.english} {have} {thing.english}", f"{subject} {haben} {thing.german['acc']}")
        )
    if kind < 0.78 and who.english != "I":
        return finish(
            (
                f"{do} {who.english} have {thing.english}",
                f"{haben} {subject} {thing.german['acc']}",
            ),
            "?",
        )
    return finish(
        (f"{who.english} {do}n't have {thing.english}", f"{subject} {haben} {thing.negative}")
    )


def belonging(rng: Random) -> Pair:
    """The car belongs to my uncle. That is Anna's bag. Whose shoes are these?"""
    noun = rng.choice(nouns_of("portable clothing vehicle pet home device"))
    many = "paired" in noun.classes
    thing = phrase(noun, "the", plural=many)
    owner = rng.choice([any_pronoun, given_name, relative])(rng)
    belong = finite_form("belong", thing.person, "present")
    german = finite("gehören", thing.german_person, "present")
    if rng.random() < 0.6 or owner.is_pronoun:
        english = f"{thing.english} {belong} to {owner.english_object}"
        return finish((english, f"{thing.german['nom']} {german} {owner.german['dat']}"))
    be, sein = ("are", "sind") if many else ("is", "ist")
    be = "are" if thing.plural else "is"
    this = "these" if be == "are" else "this"
    bare = phrase(noun, "", plural=many)
    genitive = "'" if owner.english.endswith("s") else "'s"
    if owner.german.get("gen"):
        german = f"{thing.german['nom']} {owner.german['gen']}"
    else:
        ending = "’" if owner.english[-1] in "sxz" else "s"
        german = f"{owner.german['nom']}{ending} {bare.german['nom']}"
    return finish((f"{this} {be} {owner.english}{genitive} {bare.english}", f"das {sein} {german}"))


TEMPLATES = {
    occupation: 4,
    pointing: 3,
    having: 7,
    belonging: 3,
}
