"""Sentences for dealing with others: shopping, giving, getting to know each other."""

from random import Random

from corpora.everyday.choices import from_pattern, person_object
from corpora.everyday.clauses import Pair, conjugated, finish, own_determiner
from corpora.everyday.english_forms import finite_form
from corpora.everyday.german_forms import adjective_form, finite, inflect, participle
from corpora.everyday.noun_phrases import (
    NUMBERS,
    Adjective,
    NounPhrase,
    adjectives_for,
    any_pronoun,
    given_name,
    names,
    nouns_of,
    phrase,
    pronoun,
    relative,
    titled,
)
from corpora.everyday.tables import read_table

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
LIKED = (
    "drink",
    "=cheese =yogurt =ham =honey =chocolate =fish =meat =rice =noodles",
    "subject",
    "animal",
    "vegetable",
    "fruit",
)
COUNTED = (("need", "brauchen"), ("have", "haben"), ("buy", "kaufen"), ("see", "sehen"))


def dealing(rng: Random) -> Pair:
    """A sentence of the table of dealings, with its slot filled: I would like an apple, please."""
    row = rng.choice(read_table("dealings"))
    noun = rng.choice(nouns_of(row["classes"]))
    several = row["determiner"] == "a" and noun.classes & {"small", "paired"}
    many = row["determiner"] == "-s" or bool(several)
    determiner = "" if many else row["determiner"]
    if noun.mass and determiner == "a" and "illness" not in noun.classes:
        determiner = ""
    thing = phrase(noun, determiner, plural=many and bool(noun.english_plural))
    if not agrees(row, thing.plural, thing.german_person == "sie_pl"):
        return dealing(rng)
    german = row["german"]
    for name, form in (("N", thing.nom), ("A", thing.acc),
                       ("D", thing.dat), ("K", thing.negative)):  # fmt: skip
        german = german.replace("{" + name + "}", form)
    if "{zu}" in german:
        german = german.replace("{zu}", "zu " + thing.dat)
        german = german.replace("zu dem", "zum").replace("zu der", "zur")
    english = row["english"].replace("{}", thing.english)
    return finish(english, german, "")


def agrees(row: dict[str, str], plural: bool, german_plural: bool) -> bool:
    """Whether a phrase of this number can be the subject, if the sentence's verb is singular."""
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
        german = f"Entschuldigung, haben Sie {this.acc} auch in {color}"
        return finish(english, german, "?")
    if kind < 0.65:
        gender = gender_of(this)
        ones = "ones" if first.plural else "one"
        other = (
            f"{inflect('der', 'nom', gender)} {adjective_form(two.german, 'der', 'nom', gender)}"
        )
        english = f"I like {first.english} better than the {two.english} {ones}"
        return finish(english, f"{first.nom} gefällt mir besser als {other}")
    english = f"I would like {first.english}, please"
    return finish(english, f"ich möchte bitte {first.acc}")


def gender_of(thing: NounPhrase) -> str:
    """The German gender of a phrase; p means plural."""
    return {"er": "m", "sie": "f", "es": "n", "sie_pl": "p"}[thing.german_person]


def read_colors() -> list[Adjective]:
    """The adjectives for colors that take endings in German."""
    rows = {row["english"]: row for row in read_table("adjectives")}
    return [Adjective(name, rows[name]["german"], rows[name]) for name in COLORS.split()]


def giving(rng: Random) -> Pair:
    """I will give my mother a flower. Can you show me the house? He bought her a ring."""
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
    receiver, empfänger, sache = other.english_object, other.dat, thing.acc
    to = english == "explain"
    subject, nominative, person = who.english, who.nom, who.german_person
    kind = rng.random()
    if kind < 0.4:
        past = finite_form(english, "he", "past")
        words = (
            f"{past} {thing.english} to {receiver}" if to else f"{past} {receiver} {thing.english}"
        )
        haben = finite("haben", person, "present")
        return finish(
            f"{subject} {words}", f"{nominative} {haben} {empfänger} {sache} {participle(german)}"
        )
    words = (
        f"{english} {thing.english} to {receiver}"
        if to
        else f"{english} {receiver} {thing.english}"
    )
    if kind < 0.6:
        want, will = conjugated(who, "want", "wollen")
        return finish(
            f"{subject} {want} to {words}", f"{nominative} {will} {empfänger} {sache} {german}"
        )
    if kind < 0.75 and other.german_person != "du":
        return finish(f"can you {words}", f"kannst du {empfänger} {sache} {german}", "?")
    will = finite("werden", person, "present")
    return finish(f"{subject} will {words}", f"{nominative} {will} {empfänger} {sache} {german}")


def introducing(rng: Random) -> Pair:
    """My name is Anna. I am from Spain. Good morning, Tom!"""
    if rng.random() < 0.25:
        return formal_greeting(rng)
    country = rng.choice(read_table("countries"))
    kin = relative(rng)
    live, wohnen = conjugated(kin, "live", "wohnen")
    return from_pattern(
        rng,
        "introduction",
        name=given_name(rng).english,
        here=country["english"],
        origin=country["german_from"] or f"aus {country['german']}",
        place=country["german_in"] or f"in {country['german']}",
        kin=kin,
        live=live,
        wohnen=wohnen,
    )


def formal_greeting(rng: Random) -> Pair:
    """Good evening, Mr. Weber. How are you?"""
    person = titled(rng)
    english, german = person.english, person.nom
    name = rng.choice(names("family"))
    return from_pattern(rng, "formal", english=english, german=german, person=person, name=name)


def preferring(rng: Random) -> Pair:
    """I like tea better than coffee. Do you like dogs or cats better?"""
    kind = rng.choice(LIKED)
    found = [n for n in nouns_of(kind) if n.mass or n.german_plural]
    one, two = (phrase(n, "", plural=not n.mass) for n in rng.sample(found, 2))
    who = rng.choice([any_pronoun, given_name, relative])(rng)
    like, mag = conjugated(who, "like", "mögen")
    choice = rng.random()
    if choice < 0.35:
        return finish(
            f"{who.english} {like} {one.english} better than {two.english}",
            f"{who.nom} {mag} {one.acc} lieber als {two.acc}",
        )
    if choice < 0.6:
        return finish(
            f"{who.english} {like} {one.english} and {two.english}",
            f"{who.nom} {mag} {one.acc} und {two.acc}",
        )
    if choice < 0.75:
        return finish(
            f"do you like {one.english} or {two.english} better",
            f"magst du lieber {one.acc} oder {two.acc}",
            "?",
        )
    if choice < 0.85:
        return finish(f"do you like {one.english}", f"magst du {one.acc}", "?")
    return finish(
        f"{who.english} {like} {one.english}, but not {two.english}",
        f"{who.nom} {mag} {one.acc}, aber {two.negative}",
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
    wo = f"in {place.dat}".replace("in dem", "im")
    if rng.random() < 0.5:
        return finish(f"there are {thing.english} in {place.english}", f"{wo} sind {thing.nom}")
    who = any_pronoun(rng)
    verb, german_verb = rng.choice(COUNTED)
    needs, braucht = conjugated(who, verb, german_verb)
    told = f"{who.nom} {braucht} {thing.acc}"
    return finish(f"{who.english} {needs} {thing.english}", told)


# The weight of each group among all groups, and of each template in its group.
TEMPLATES = (
    (13, {dealing: 14, amount: 4, colored: 3, giving: 8}),
    (6, {introducing: 5, preferring: 5, counting: 3}),
)
