"""Sentences about where people and things are, and where people go."""

from random import Random

from corpora.everyday.choices import company, same_people, time_for, times
from corpora.everyday.clauses import (
    Action,
    Clause,
    Pair,
    by_name,
    conjugated,
    finish,
    join_words,
    question,
    statement,
)
from corpora.everyday.english_forms import finite_form
from corpora.everyday.german_forms import Noun, finite
from corpora.everyday.noun_phrases import (
    NounPhrase,
    any_pronoun,
    nouns_of,
    phrase,
    pronoun,
    somebody,
)
from corpora.everyday.sentences_times import clock_time
from corpora.everyday.tables import read_table

GOALS = {"daily", "way", "trip"}
WHERE = {"on": "auf", "under": "unter", "next to": "neben", "behind": "hinter",
         "in front of": "vor", "in": "in"}  # fmt: skip
STANDING = {"cup", "plate", "bowl", "pot", "pan", "wine glass", "bottle", "suitcase", "lamp"}
CONTRACTIONS = (("in dem ", "im "), ("in das ", "ins "), ("an dem ", "am "), ("an das ", "ans "))


def go_to(english: str, goal: str, *, verb: str) -> Action:
    """The action of going somewhere; verb is gehen, for longer ways fahren or reisen."""
    tags = frozenset({"fun", "social"})
    no = f"nicht {goal}"
    return Action(f"go {english}", verb, complement=goal, negative=no, sein=True, tags=tags)


def going(rng: Random) -> Pair:
    """We're going to the station. My parents went to Italy last summer."""
    subject = somebody(rng)
    if rng.random() < 0.4:
        row = rng.choice(read_table("countries"))
        goal = row["german_to"] or f"nach {row['german']}"
        action = go_to(
            f"to {row['english']}", goal, verb="reisen" if "far" in row["kind"] else "fahren"
        )
        modes, extra = ["past", "going to", "want to", "would like to", "past"], ("", "")
    else:
        goals = [r for r in read_table("places") if set(r["classes"].split()) & GOALS]
        row = rng.choice(goals)
        far = "trip" in row["classes"].split()
        action = go_to(row["to"], row["german_to"], verb="fahren" if far else "gehen")
        modes = ["past", "progressive", "have to", "want to", "going to", "would like to", "past"]
        extra = company(rng, subject) if rng.random() < 0.2 else ("", "")
    mode = rng.choice(modes)
    tense = {"past": "past", "progressive": ""}.get(mode, "plan")
    time = time_for(rng, action, tense) if tense and rng.random() < 0.6 else ("", "")
    if rng.random() < 0.15 and mode in ("past", "progressive", "going to"):
        asked = pronoun("du")
        return finish(*question(Clause(asked, action, mode, time=time)), "?")
    negative = rng.random() < 0.12 and not extra[0] and mode not in ("would like to",)
    clause = Clause(subject, action, mode, negative, time, extra=extra)
    return finish(*statement(clause, front=rng.random() < 0.25))


def being_somewhere(rng: Random) -> Pair:
    """Where are the children? My father is at work. Were you at home yesterday?"""
    subject = somebody(rng)
    row = rng.choice([r for r in read_table("places") if r["classes"] != "way"])
    kind = rng.random()
    tense = "past" if kind < 0.45 else "present"
    be, sein = conjugated(subject, "be", "sein", tense)
    time = rng.choice(times("past")) if tense == "past" and rng.random() < 0.6 else None
    when, wann = (time["english"], time["german"]) if time else ("", "")
    name = subject.nom
    if kind < 0.1 and subject.english != "I":
        return finish(
            f"where {be} {subject.english} {when}".strip(),
            f"wo {sein} {name} {wann}".strip(),
            "?",
        )
    if kind < 0.2 and subject.english != "I":
        return finish(
            join_words(be, subject.english, row["at"], when),
            join_words(sein, name, wann, row["german_at"]),
            "?",
        )
    return finish(
        join_words(subject.english, be, row["at"], when),
        join_words(name, sein, wann, row["german_at"]),
    )


def doing_there(rng: Random) -> Pair:
    """The children are playing in the garden. We'll meet at the station at six o'clock."""
    kind = rng.choice(["read", "meet", "play", "meet", "wait"])
    subject = somebody(rng)
    classes = "meet" if kind == "wait" else kind
    row = rng.choice([r for r in read_table("places") if classes in r["classes"].split()])
    place = row["at"], row["german_at"]
    if kind == "meet":
        time = clock_time(rng)
        if rng.random() < 0.5:
            return finish(
                f"let's meet {place[0]} at {time[0]}", f"treffen wir uns um {time[1]} {place[1]}"
            )
        day = rng.choice(times("plan"))
        english = f"{rng.choice(['we will', 'we are going to'])} meet {place[0]} {day['english']}"
        return finish(english, f"wir treffen uns {day['german']} {place[1]}")
    if kind == "wait":
        other = any_pronoun(rng)
        while same_people(other.german_person, subject.german_person):
            other = any_pronoun(rng)
        wait, auf = f"wait for {other.english_object}", f"auf {other.acc}"
        base = Action(wait, "warten", complement=auf, negative=f"nicht {auf}")
    else:
        reading = ["read a book", "drink coffee", "read the newspaper", "listen to music"]
        ball = row["at"] in ("at the park", "in the yard", "at the lake", "in the garden")
        playing = ["play cards"] + ["play soccer"] * ball
        base = by_name(rng.choice(reading if kind == "read" else playing))
    mode = rng.choice(["past", "progressive", "progressive"])
    return finish(*statement(Clause(subject, base, mode, extra=place)))


def position(rng: Random) -> Pair:
    """The keys are on the table. Is the cup in the box? There is a bag next to the sofa."""
    noun = rng.choice(nouns_of("portable kitchen"))
    where, place = somewhere(rng)
    there = f"{where} {place.english}"
    wo = contract(f"{WHERE[where]} {place.dat} ").strip()
    lies = "stehen" if noun.english in STANDING else "liegen"
    thing = phrase(noun, rng.choice(["the", "my", "your"]), plural="paired" in noun.classes)
    be = finite_form("be", thing.person, "present")
    verb = finite(lies, thing.german_person, "present")
    kind = rng.random()
    if kind < 0.5:
        return finish(f"{thing.english} {be} {there}", f"{thing.nom} {verb} {wo}")
    if kind < 0.65:
        asked = f"{be} {thing.english} {there}", f"{verb} {thing.nom} {wo}"
        return finish(*asked, "?")
    some = phrase(noun, "a")
    if kind < 0.8 and not some.plural:
        told = f"{wo} {finite(lies, 'es', 'present')} {some.nom}"
        return finish(f"there is {some.english} {there}", told)
    return putting(rng, noun, where, place)


def somewhere(rng: Random) -> tuple[str, NounPhrase]:
    """A preposition, and a place in a room that makes sense after it."""
    where = rng.choice(list(WHERE))
    classes = {
        "in": "=box =drawer =basket =closet",
        "behind": "=door =sofa =lamp =computer =television =box",
        "in front of": "=door =sofa =lamp =computer =television =box",
        "on": "surface",
    }
    target = rng.choice(nouns_of(classes.get(where, "furniture")))
    if where in ("under", "next to") and target.english in ("mirror", "carpet", "curtain"):
        where = "behind"
    return where, phrase(target, "the")


def putting(rng: Random, noun: Noun, where: str, place: NounPhrase) -> Pair:
    """Put the cup on the table. I put the book next to the lamp yesterday."""
    standing = noun.english in STANDING
    thing = phrase(noun, "the")
    goal = contract(f"{WHERE[where]} {place.acc} ").strip()
    english = f"put {thing.english} {where} {place.english}"
    if rng.random() < 0.5:
        verb = "stell" if standing else "leg"
        return finish(english, f"{verb} {thing.acc} {goal}")
    who = any_pronoun(rng)
    haben = finite("haben", who.german_person, "present")
    done = "gestellt" if standing else "gelegt"
    told = f"{who.nom} {haben} gestern {thing.acc} {goal} {done}"
    return finish(f"{who.english} {english} yesterday", told)


def contract(text: str) -> str:
    """The text with prepositions and articles contracted: im for in dem."""
    for long, short in CONTRACTIONS:
        text = text.replace(long, short)
    return text


# The weight of each group among all groups, and of each template in its group.
TEMPLATES = ((12, {going: 9, being_somewhere: 7, doing_there: 4, position: 8}),)
