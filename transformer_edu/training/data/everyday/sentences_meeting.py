"""Sentences of getting to know each other: names, origins, likings, what people have."""

from random import Random

from transformer_edu.training.data.everyday.clauses import Pair, finish
from transformer_edu.training.data.everyday.english_forms import finite_form
from transformer_edu.training.data.everyday.german_verbs import finite
from transformer_edu.training.data.everyday.noun_phrases import (
    NUMBERS,
    nouns_of,
    phrase,
)
from transformer_edu.training.data.everyday.patterns import from_pattern
from transformer_edu.training.data.everyday.subjects import (
    any_pronoun,
    given_name,
    names,
    relative,
    titled,
)
from transformer_edu.training.data.everyday.tables import read_table

LIKED = (
    "drink",
    "=cheese =yogurt =ham =honey =chocolate =fish =meat =rice =noodles",
    "subject",
    "animal",
    "vegetable",
    "fruit",
)
COUNTED = (("need", "brauchen"), ("have", "haben"), ("buy", "kaufen"), ("see", "sehen"))


def introducing(rng: Random) -> Pair:
    """My name is Anna. I am from Spain. Good morning, Tom!"""
    if rng.random() < 0.25:
        return formal_greeting(rng)
    country = rng.choice(read_table("countries"))
    kin = relative(rng)
    return from_pattern(
        rng,
        "introduction",
        name=given_name(rng).english,
        here=country["english"],
        origin=country["german_from"] or f"aus {country['german']}",
        place=country["german_in"] or f"in {country['german']}",
        kin=kin,
        live=finite_form("live", kin.person, "present"),
        wohnen=finite("wohnen", kin.german_person, "present"),
    )


def formal_greeting(rng: Random) -> Pair:
    """Good evening, Mr. Weber. How are you?"""
    person = titled(rng)
    english, german = person.english, person.german["nom"]
    name = rng.choice(names("family"))
    return from_pattern(rng, "formal", english=english, german=german, person=person, name=name)


def preferring(rng: Random) -> Pair:
    """I like tea better than coffee. I don't like cheese. Do you prefer dogs or cats?"""
    kind = rng.choice(
        [
            "drink",
            "=cheese =yogurt =ham =honey =chocolate =fish =meat =rice =noodles",
            "subject",
            "animal",
            "vegetable",
            "fruit",
        ]
    )
    found = [n for n in nouns_of(kind) if n.mass or n.german_plural]
    one, two = (phrase(n, "", plural=not n.mass) for n in rng.sample(found, 2))
    who = rng.choice([any_pronoun, given_name, relative])(rng)
    mag = finite("mögen", who.german_person, "present")
    like = finite_form("like", who.person, "present")
    choice = rng.random()
    if choice < 0.35:
        return finish(
            (
                f"{who.english} {like} {one.english} better than {two.english}",
                f"{who.german['nom']} {mag} {one.german['acc']} lieber als {two.german['acc']}",
            )
        )
    if choice < 0.6:
        return finish(
            (
                f"{who.english} {like} {one.english} and {two.english}",
                f"{who.german['nom']} {mag} {one.german['acc']} und {two.german['acc']}",
            )
        )
    if choice < 0.75:
        return finish(
            (
                f"do you like {one.english} or {two.english} better",
                f"magst du lieber {one.german['acc']} oder {two.german['acc']}",
            ),
            "?",
        )
    if choice < 0.85:
        return finish((f"do you like {one.english}", f"magst du {one.german['acc']}"), "?")
    return finish(
        (
            f"{who.english} {like} {one.english}, but not {two.english}",
            f"{who.german['nom']} {mag} {one.german['acc']}, aber {two.negative}",
        )
    )


def counting(rng: Random) -> Pair:
    """There are three chairs in the kitchen. We have four cats."""
    number = rng.choice(list(NUMBERS))
    kinds = nouns_of("pet furniture fruit vegetable kitchen")
    noun = rng.choice([n for n in kinds if n.german_plural and not n.always_plural])
    thing = phrase(noun, number, plural=True)
    rooms = "=kitchen" if not noun.classes & {"pet", "furniture"} else "=garden"
    rooms = "=room =living_room =office =bedroom" if "furniture" in noun.classes else rooms
    place = phrase(rng.choice(nouns_of(rooms)), "the")
    wo = f"in {place.german['dat']}".replace("in dem", "im")
    if rng.random() < 0.5:
        return finish(
            (f"there are {thing.english} in {place.english}", f"{wo} sind {thing.german['nom']}")
        )
    who = any_pronoun(rng)
    verb, german_verb = rng.choice(COUNTED)
    needs = finite_form(verb, who.person, "present")
    braucht = finite(german_verb, who.german_person, "present")
    told = f"{who.german['nom']} {braucht} {thing.german['acc']}"
    return finish((f"{who.english} {needs} {thing.english}", told))


TEMPLATES = {
    introducing: 5,
    preferring: 5,
    counting: 3,
}
