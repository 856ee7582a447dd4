"""Sentences of dealings with others: shopping, eating, on the way, giving."""

from random import Random

from transformer_edu.training.data.everyday.actions import own_determiner
from transformer_edu.training.data.everyday.choices import person_object
from transformer_edu.training.data.everyday.clauses import Pair, finish
from transformer_edu.training.data.everyday.english_forms import finite_form
from transformer_edu.training.data.everyday.german_nouns import adjective_form, inflect
from transformer_edu.training.data.everyday.german_verbs import finite, participle
from transformer_edu.training.data.everyday.noun_phrases import (
    Adjective,
    NounPhrase,
    adjectives_for,
    nouns_of,
    phrase,
)
from transformer_edu.training.data.everyday.patterns import from_pattern
from transformer_edu.training.data.everyday.subjects import (
    any_pronoun,
    given_name,
    pronoun,
    relative,
)
from transformer_edu.training.data.everyday.tables import read_table

COLORS = "red blue green yellow black white brown gray"
GIVING = (
    ("give", "geben", "gift portable"),
    ("show", "zeigen", "picture device home media readable"),
    ("buy", "kaufen", "gift clothing toy"),
    ("send", "schicken", "mail picture"),
    ("write", "schreiben", "=letter =postcard =e-mail =message"),
    ("bring", "bringen", "drink kitchen =book =newspaper =umbrella =key =towel"),
    ("lend", "leihen", "vehicle tool =book =umbrella =pen"),
    ("explain", "erklären", "=rule =word =sentence =exercise =problem =task"),
    ("tell", "erzählen", "=story"),
    ("sell", "verkaufen", "vehicle device home"),
)
QUANTITIES = (
    ("a kilo of", "ein Kilo", "fruit vegetable", True),
    ("two kilos of", "zwei Kilo", "fruit vegetable", True),
    ("half a kilo of", "ein halbes Kilo", "fruit vegetable", True),
    ("a bottle of", "eine Flasche", "=water =wine =beer =juice =milk =oil =lemonade", False),
    ("two bottles of", "zwei Flaschen", "=water =wine =beer =juice =mineral_water", False),
    ("a cup of", "eine Tasse", "hotdrink", False),
    ("two cups of", "zwei Tassen", "hotdrink", False),
    ("a glass of", "ein Glas", "=water =milk =wine =juice =lemonade =apple_juice =beer", False),
    ("two glasses of", "zwei Gläser", "=water =milk =wine =juice =orange_juice", False),
    ("a piece of", "ein Stück", "=cake =cheese =pie =pizza =chocolate =bread =meat", False),
    ("two pieces of", "zwei Stück", "=cake =pie", False),
    ("a little", "ein bisschen", "groceries", False),
    ("a lot of", "viel", "=water =milk =fruit =meat =bread =rice =sugar =coffee =money", False),
)


def slot(rng: Random) -> Pair:
    """A sentence of the table of dealings with its slot filled."""
    row = rng.choice(read_table("dealings"))
    noun = rng.choice(nouns_of(row["classes"]))
    several = row["determiner"] == "a" and noun.classes & {"small", "paired"}
    many = row["determiner"] == "-s" or bool(several)
    determiner = "" if many else row["determiner"]
    if noun.mass and determiner == "a" and "illness" not in noun.classes:
        determiner = ""
    thing = phrase(noun, determiner, plural=many and bool(noun.english_plural))
    if not agrees(row, thing.plural, thing.german_person == "sie_pl"):
        return slot(rng)
    german = row["german"]
    for name, form in (("N", thing.german["nom"]), ("A", thing.german["acc"]),
                       ("D", thing.german["dat"]), ("K", thing.negative)):  # fmt: skip
        german = german.replace("{" + name + "}", form)
    if "{zu}" in german:
        german = german.replace("{zu}", "zu " + thing.german["dat"])
        german = german.replace("zu dem", "zum").replace("zu der", "zur")
    english = row["english"].replace("{}", thing.english)
    return finish((english, german), "")


def agrees(row: dict[str, str], plural: bool, german_plural: bool) -> bool:
    """Whether the sentence, which is written for a singular subject, can take the phrase."""
    if row["determiner"] == "-s" or ("{N}" not in row["german"] and "is {}" not in row["english"]):
        return True
    return not plural and not german_plural


def amount(rng: Random) -> Pair:
    """I would like a kilo of apples, please. Can I have a glass of water, please?"""
    quantity, menge, classes, many = rng.choice(QUANTITIES)
    noun = rng.choice([n for n in nouns_of(classes) if not many or n.english_plural])
    english = f"{quantity} {noun.english_plural if many else noun.english}"
    german = f"{menge} {noun.german_form('nom', plural=many)}"
    pair = from_pattern(rng, "quantity", amount=english, menge=german)
    standing = quantity.startswith(("a glass", "a cup", "a bottle"))
    odd = "on the table" in pair[0] and not standing or many and "ordered" in pair[0]
    return amount(rng) if odd else pair


def colored(rng: Random) -> Pair:
    """Do you have this shirt in blue? I like the red dress better than the blue one."""
    noun = rng.choice([n for n in nouns_of("clothing vehicle gift furniture") if not n.mass])
    one, two = rng.sample(read_colors(), 2)
    kind = rng.random()
    this, first = phrase(noun, "this"), phrase(noun, "the", adjective=one)
    if kind < 0.3:
        english = f"excuse me, do you have {this.english} in {one.english}"
        color = one.german.capitalize()
        german = f"Entschuldigung, haben Sie {this.german['acc']} auch in {color}"
        return finish((english, german), "?")
    if kind < 0.65:
        gender = gender_of(this)
        ones = "ones" if first.plural else "one"
        other = (
            f"{inflect('der', 'nom', gender)} {adjective_form(two.german, 'der', 'nom', gender)}"
        )
        english = f"I like {first.english} better than the {two.english} {ones}"
        return finish((english, f"{first.german['nom']} gefällt mir besser als {other}"))
    english = f"I would like {first.english}, please"
    return finish((english, f"ich möchte bitte {first.german['acc']}"))


def gender_of(thing: NounPhrase) -> str:
    """The German gender of a phrase, p for the plural."""
    return {"er": "m", "sie": "f", "es": "n", "sie_pl": "p"}[thing.german_person]


def read_colors() -> list[Adjective]:
    """The colors that take endings."""
    rows = {row["english"]: row for row in read_table("adjectives")}
    return [Adjective(name, rows[name]["german"], rows[name]) for name in COLORS.split()]


def giving(rng: Random) -> Pair:
    """I'm giving my mother flowers. Can you show me your house? He bought her a ring."""
    english, german, classes = rng.choice(GIVING)
    who = rng.choice([any_pronoun, any_pronoun, given_name, relative])(rng)
    other = person_object(rng, who) if rng.random() < 0.6 else relative(rng, own_determiner(who))
    if other.english == who.english:
        other = pronoun("sie_pl")
    noun = rng.choice(nouns_of(classes))
    determiner = rng.choice(["a", "a", "the"]) if not noun.mass else ""
    determiner = "the" if english == "explain" else determiner
    fitting = adjectives_for(noun)
    adjective = rng.choice(fitting) if fitting and rng.random() < 0.2 else None
    many = "paired" in noun.classes
    thing = phrase(noun, determiner, plural=many, adjective=adjective)
    receiver, empfänger, sache = other.english_object, other.german["dat"], thing.german["acc"]
    to = english == "explain"
    subject, nominative, person = who.english, who.german["nom"], who.german_person
    kind = rng.random()
    if kind < 0.4:
        past = finite_form(english, "he", "past")
        words = (
            f"{past} {thing.english} to {receiver}" if to else f"{past} {receiver} {thing.english}"
        )
        haben = finite("haben", person, "present")
        return finish(
            (f"{subject} {words}", f"{nominative} {haben} {empfänger} {sache} {participle(german)}")
        )
    words = (
        f"{english} {thing.english} to {receiver}"
        if to
        else f"{english} {receiver} {thing.english}"
    )
    if kind < 0.6:
        want = finite_form("want", who.person, "present")
        will = finite("wollen", person, "present")
        return finish(
            (f"{subject} {want} to {words}", f"{nominative} {will} {empfänger} {sache} {german}")
        )
    if kind < 0.75 and other.german_person != "du":
        return finish((f"can you {words}", f"kannst du {empfänger} {sache} {german}"), "?")
    will = finite("werden", person, "present")
    return finish((f"{subject} will {words}", f"{nominative} {will} {empfänger} {sache} {german}"))


TEMPLATES = {
    slot: 14,
    amount: 4,
    colored: 3,
    giving: 8,
}
