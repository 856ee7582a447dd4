"""Sentences of dealings with others: shopping, eating, health, giving, introductions."""

from random import Random

from transformer_edu.training.data.everyday.actions import own_determiner
from transformer_edu.training.data.everyday.choices import person_object
from transformer_edu.training.data.everyday.clauses import Pair, finish
from transformer_edu.training.data.everyday.english_forms import finite_form
from transformer_edu.training.data.everyday.german_nouns import inflect
from transformer_edu.training.data.everyday.german_verbs import finite, participle
from transformer_edu.training.data.everyday.noun_phrases import (
    NUMBERS,
    Adjective,
    adjectives_for,
    nouns_of,
    phrase,
)
from transformer_edu.training.data.everyday.subjects import (
    any_pronoun,
    given_name,
    names,
    pronoun,
    relative,
    titled,
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
BUYING = (
    ("I would like {}, please", "ich hätte gern {}, bitte", "."),
    ("I need {}", "ich brauche {}", "."),
    ("we need {}", "wir brauchen {}", "."),
    ("can you buy {}", "kannst du {} kaufen", "?"),
    ("I bought {}", "ich habe {} gekauft", "."),
    ("please bring me {}", "bitte bring mir {}", "."),
    ("can I have {}, please", "kann ich bitte {} haben", "?"),
    ("he ordered {}", "er hat {} bestellt", "."),
    ("there is {} on the table", "auf dem Tisch steht {}", "."),
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
    frames = (
        BUYING
        if "a glass" in quantity or "a cup" in quantity or "a bottle" in quantity
        else BUYING[:-1]
    )
    start, anfang, mark = rng.choice(frames)
    if "fruit" in classes and "ordered" in start:
        start, anfang, mark = BUYING[1]
    return finish((start.format(english), anfang.format(german)), mark)


def colored(rng: Random) -> Pair:
    """Do you have this shirt in blue? I like the red dress better."""
    noun = rng.choice([n for n in nouns_of("clothing vehicle gift furniture") if not n.mass])
    color = rng.choice(read_colors())
    one, two = rng.sample(read_colors(), 2)
    kind = rng.random()
    this = phrase(noun, "this")
    if kind < 0.3:
        return finish(
            (
                f"excuse me, do you have {this.english} in {color.english}",
                f"Entschuldigung, haben Sie {this.german['acc']} auch in {color.german.capitalize()}",
            ),
            "?",
        )
    if kind < 0.65:
        first = phrase(noun, "the", adjective=one)
        german = f"{phrase(noun, 'the', adjective=one).german['nom']} gefällt mir besser als"
        rest = f"{inflect('der', 'nom', gender_of(this))} {two.german}{'en' if gender_of(this) == 'p' else 'e'}"
        return finish(
            (
                f"I like {first.english} better than the {two.english} {'ones' if first.plural else 'one'}",
                f"{german} {rest}",
            )
        )
    return finish((f"I would like {phrase(noun, 'the', adjective=one).english}, please",
                   f"ich möchte bitte {phrase(noun, 'the', adjective=one).german['acc']}"))  # fmt: skip


def gender_of(thing) -> str:
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


def introducing(rng: Random) -> Pair:
    """My name is Anna. This is my brother Tom. I am from Spain and live in Berlin."""
    who = given_name(rng)
    name = who.english
    country = rng.choice(read_table("countries"))
    here, there = country["english"], country["german"]
    origin = country["german_from"] or f"aus {there}"
    place = country["german_in"] or f"in {there}"
    kin = relative(rng)
    possible = [
        (f"my name is {name}", f"ich heiße {name}", "."),
        (f"I am {name}", f"ich bin {name}", "."),
        (f"I'm {name}", f"ich bin {name}", "."),
        (f"hello, my name is {name}", f"hallo, ich heiße {name}", "."),
        (f"is your name {name}", f"heißt du {name}", "?"),
        (f"I am from {here}", f"ich komme {origin}", "."),
        (f"I'm from {here}", f"ich komme {origin}", "."),
        (f"{name} is from {here}", f"{name} kommt {origin}", "."),
        (f"are you from {here}", f"kommst du {origin}", "?"),
        (f"he comes from {here}", f"er kommt {origin}", "."),
        (f"she comes from {here}", f"sie kommt {origin}", "."),
        (f"we come from {here}", f"wir kommen {origin}", "."),
        (f"I live in {here}", f"ich wohne {place}", "."),
        (f"{name} lives in {here}", f"{name} wohnt {place}", "."),
        (f"do you live in {here}", f"wohnst du {place}", "?"),
        (f"my name is {name} and I live in {here}", f"ich heiße {name} und wohne {place}", "."),
        (f"I was born in {here}", f"ich bin {place} geboren", "."),
        (f"have you ever been to {here}", f"warst du schon einmal {place}", "?"),
        (f"I have never been to {here}", f"ich war noch nie {place}", "."),
        (f"{kin.english} {finite_form('live', kin.person, 'present')} in {here}",
         f"{kin.german['nom']} {finite('wohnen', kin.german_person, 'present')} {place}", "."),
        (f"good morning, {name}", f"guten Morgen, {name}", "!"),
        (f"hello, {name}, how are you", f"hallo {name}, wie geht es dir", "?"),
        (f"goodbye, {name}", f"tschüss, {name}", "!"),
        (f"happy birthday, {name}", f"alles Gute zum Geburtstag, {name}", "!"),
    ]  # fmt: skip
    if rng.random() < 0.25:
        return formal_greeting(rng)
    *pair, mark = rng.choice(possible)
    return finish(tuple(pair), mark)


def formal_greeting(rng: Random) -> Pair:
    """Good evening, Mr. Weber. How are you?"""
    person = titled(rng)
    english, german = person.english, person.german["nom"]
    name = rng.choice(names("family"))
    *pair, mark = rng.choice([
        (f"good morning, {english}", f"guten Morgen, {german}", "."),
        (f"good evening, {english}", f"guten Abend, {german}", "."),
        (f"goodbye, {english}", f"auf Wiedersehen, {german}", "."),
        (f"how are you, {english}", f"wie geht es Ihnen, {german}", "?"),
        (f"thank you, {english}", f"danke, {german}", "."),
        (f"this is {english}", f"das ist {german}", "."),
        (f"I would like to speak to {english}", f"ich möchte mit {person.german['dat']} sprechen", "."),
        (f"is {english} there", f"ist {german} da", "?"),
        (f"my last name is {name}", f"mein Nachname ist {name}", "."),
        (f"nice to meet you, {english}", f"freut mich, Sie kennenzulernen, {german}", "."),
    ])  # fmt: skip
    return finish(tuple(pair), mark)


def preferring(rng: Random) -> Pair:
    """I like tea better than coffee. I don't like cheese. Do you prefer dogs or cats?"""
    kind = rng.choice(["drink", "groceries dishmass", "subject", "animal", "vegetable", "fruit"])
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
    noun = rng.choice([n for n in nouns_of("pet furniture fruit vegetable kitchen") if n.german_plural
                       and not n.always_plural])  # fmt: skip
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
    need = rng.choice(
        [("need", "brauchen"), ("have", "haben"), ("buy", "kaufen"), ("see", "sehen")]
    )
    return finish(
        (
            f"{who.english} {finite_form(need[0], who.person, 'present')} {thing.english}",
            f"{who.german['nom']} {finite(need[1], who.german_person, 'present')} {thing.german['acc']}",
        )
    )


TEMPLATES = {
    slot: 14,
    amount: 4,
    colored: 3,
    giving: 8,
    introducing: 5,
    preferring: 5,
    counting: 3,
}
