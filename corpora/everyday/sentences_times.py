"""Sentences about times of day, dates, years, prices, ages and the weather."""

import re
from random import Random

from corpora.everyday.choices import from_pattern, times
from corpora.everyday.clauses import Pair, conjugated, finish, join_words
from corpora.everyday.german_forms import finite
from corpora.everyday.noun_phrases import (
    any_pronoun,
    given_name,
    names,
    nouns_of,
    phrase,
    relative,
)
from corpora.everyday.tables import read_table
from transformer_edu.data.number_words import english_words, german_words

MONTHS = {
    "January": "Januar", "February": "Februar", "March": "März", "April": "April", "May": "Mai",
    "June": "Juni", "July": "Juli", "August": "August", "September": "September",
    "October": "Oktober", "November": "November", "December": "Dezember",
}  # fmt: skip
ENGLISH_ORDINALS = {
    "one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth",
    "nine": "ninth", "twelve": "twelfth",
}  # fmt: skip
GERMAN_ORDINALS = {1: "erst", 3: "dritt", 7: "siebt", 8: "acht"}
WEATHER_TIMES = {
    "past": ("yesterday", "last week", "last weekend", "on Sunday", "the day before yesterday"),
    "future": ("tomorrow", "next week", "this weekend", "tonight", "on Sunday"),
}
MINUTES = (0, 0, 0, 0, 15, 30, 30, 45, 5, 10, 20, 40, 50, 55)
DAYS = {
    "Monday": "Montag", "Tuesday": "Dienstag", "Wednesday": "Mittwoch", "Thursday": "Donnerstag",
    "Friday": "Freitag", "Saturday": "Samstag", "Sunday": "Sonntag",
}  # fmt: skip
SHOPS = "=supermarket =bakery =pharmacy =library =museum =bank =zoo =swimming_pool"
PERIODS = (("days", "Tagen"), ("weeks", "Wochen"), ("months", "Monaten"), ("years", "Jahren"))


def english_number(number: int) -> str:
    """A number below a thousand in English words, with a hyphen after tens: forty-two."""
    return re.sub(r"ty (?=\w)", "ty-", " ".join(english_words(number)))


def german_number(number: int) -> str:
    """A number below a thousand as one German word."""
    return "".join(german_words(number)).replace("einhundert", "hundert")


def english_ordinal(number: int) -> str:
    """The ordinal number: first, second, ..., thirty-first."""
    start, dash, last = english_number(number).rpartition("-")
    if last in ENGLISH_ORDINALS:
        last = ENGLISH_ORDINALS[last]
    else:
        last = last[:-1] + "ieth" if last.endswith("y") else last + "th"
    return start + dash + last


def german_ordinal(number: int) -> str:
    """The ordinal number without its ending: erst, zweit, ..., einunddreißigst."""
    if number in GERMAN_ORDINALS:
        return GERMAN_ORDINALS[number]
    return german_number(number) + ("t" if number < 20 else "st")


def clock(hour: int, minute: int) -> tuple[str, str]:
    """A time of day as people say it: half past three is halb vier.

    Args:
        hour: 1 to 12.
        minute: 0, 5, 10, 15, 20, 30, 40, 45, 50 or 55.
    """
    following = hour % 12 + 1
    if minute == 0:
        german = "ein" if hour == 1 else german_number(hour)
        return f"{english_number(hour)} o'clock", f"{german} Uhr"
    if minute == 30:
        return f"half past {english_number(hour)}", f"halb {german_number(following)}"
    parts = {15: ("a quarter", "Viertel"), 5: ("five", "fünf"), 10: ("ten", "zehn"),
             20: ("twenty", "zwanzig")}  # fmt: skip
    if minute < 30:
        english, german = parts[minute]
        return f"{english} past {english_number(hour)}", f"{german} nach {german_number(hour)}"
    english, german = parts[60 - minute]
    return f"{english} to {english_number(following)}", f"{german} vor {german_number(following)}"


def clock_time(rng: Random) -> Pair:
    """A random time of day."""
    return clock(rng.randint(1, 12), rng.choice(MINUTES))


def telling_time(rng: Random) -> Pair:
    """It is half past three. The train leaves at a quarter to nine."""
    now, jetzt = clock_time(rng)
    scheduled = phrase(rng.choice(nouns_of("scheduled")), "the")
    cities = [r for r in read_table("countries") if r["kind"] == "city"]
    day = rng.choice([r for r in times("plan") if r["german"].startswith(("morgen", "übermorgen"))])
    return from_pattern(
        rng,
        "clock",
        now=now,
        jetzt=jetzt,
        train=scheduled.english,
        zug=scheduled.nom,
        city=rng.choice(cities),
        shop=phrase(rng.choice(nouns_of(SHOPS)), "the"),
        event=phrase(rng.choice(nouns_of("event =movie =show")), "the"),
        day=day,
    )


def dated(rng: Random) -> Pair:
    """My birthday is on May third. Today is Tuesday."""
    number = rng.randint(1, 31)
    name, monat = list(MONTHS.items())[rng.randint(1, 12) - 1]
    if number > 29 and name in ("February", "April", "June", "September", "November"):
        number -= 10
    who = rng.choice([given_name, relative])(rng)
    day, tag = list(DAYS.items())[rng.randrange(7)]
    be, sein = conjugated(who, "be", "sein", "past")
    return from_pattern(
        rng,
        "date",
        name=name,
        monat=monat,
        first=english_ordinal(number),
        erst=german_ordinal(number),
        event=phrase(rng.choice(nouns_of("event")), "the"),
        who=who,
        be=be,
        sein=sein,
        day=day,
        tag=tag,
    )


def amounts(rng: Random) -> Pair:
    """The book costs twelve euros. My sister is thirty years old."""
    number = rng.choice([rng.randint(2, 20), rng.randint(2, 99), 10 * rng.randint(2, 90)])
    english, german = english_number(number), german_number(number)
    if number < 100 and rng.random() < 0.25:
        english = german = str(number)
    age, few = rng.randint(2, 90), rng.randint(2, 12)
    goods = [n for n in nouns_of("clothing device gift instrument") if not n.always_plural]
    who = rng.choice([any_pronoun, given_name, relative])(rng)
    be, sein = conjugated(who, "be", "sein")
    return from_pattern(
        rng,
        "amount",
        english=english,
        german=german,
        years=english_number(age),
        jahre=german_number(age),
        thing=phrase(rng.choice(goods), rng.choice(["the", "this"])),
        who=who,
        be=be,
        sein=sein,
        ist=finite("sein", who.german_person, "present"),
        months=rng.choice(PERIODS),
        few=english_number(few),
        wenige=german_number(few),
    )


def history(rng: Random) -> Pair:
    """Anna Weber was born in 1947. The bridge was built in 1912."""
    who = given_name(rng)
    woman = who.person == "she"
    row = rng.choice(read_table("jobs"))
    cities = [r for r in read_table("countries") if r["kind"] == "city"]
    return from_pattern(
        rng,
        "year",
        year=rng.randint(1930, 2026),
        past=rng.randint(1200, 2026),
        who=who.english,
        full=f"{who.english} {rng.choice(names('family'))}",
        building=phrase(rng.choice(nouns_of("building")), rng.choice(["the", "the", "this"])),
        city=rng.choice(cities),
        job=row["english"],
        beruf=row["feminine" if woman else "german"],
        ein="eine" if woman else "ein",
        ending="e" if woman else "er",
    )


def weather(rng: Random) -> Pair:
    """It's raining in Berlin. Tomorrow it will be cold."""
    row = rng.choice(read_table("weather"))
    tense = rng.choice(["present", "present", "past", "future"])
    english, german_text = row[tense], row[f"german_{tense}"]
    place = rng.choice(read_table("countries"))
    where, wo = f"in {place['english']}", place["german_in"] or f"in {place['german']}"
    _, _, rest = subject_and_verb(german_text)
    kind = rng.random()
    if kind < 0.45:
        if tense == "present" and rng.random() < 0.4:
            english = english.replace("it is", "it's")
        at_end = rest.strip() and tense != "future" and "ge" not in rest
        told = f"{german_text} {wo}" if at_end else with_place(german_text, wo)
        return finish(f"{english} {where}", told)
    if tense == "present":
        front = rng.choice([("today", "heute"), ("here", "hier")])
        if rng.random() < 0.3:
            return finish(f"is {english.replace(' is ', ' ')}", inverted(german_text), "?")
        return finish(f"{english} {front[0]}", with_place(german_text, front[1]))
    chosen = rng.choice(WEATHER_TIMES[tense])
    when = next(r for r in read_table("times") if r["english"] == chosen)["german"]
    if rng.random() < 0.5:
        return finish(f"{chosen}, {english}", f"{when} {inverted(german_text)}")
    return finish(f"{english} {chosen}", with_place(german_text, when))


def subject_and_verb(text: str) -> tuple[str, str, str]:
    """Subject, finite verb and rest of a German sentence about the weather."""
    words = text.split()
    cut = 1 if words[0] == "es" else 2
    return " ".join(words[:cut]), words[cut], " ".join(words[cut + 1 :])


def with_place(text: str, where: str) -> str:
    """The German sentence with a place or time after its verb."""
    subject, verb, rest = subject_and_verb(text)
    return join_words(subject, verb, where, rest)


def inverted(text: str) -> str:
    """The German sentence with its verb first."""
    subject, verb, rest = subject_and_verb(text)
    return join_words(verb, subject, rest)


# The weight of each group among all groups, and of each template in its group.
TEMPLATES = ((8, {telling_time: 6, dated: 4, amounts: 6, weather: 4, history: 5}),)
