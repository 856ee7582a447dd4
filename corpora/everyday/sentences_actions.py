"""Sentences about what people do: statements, questions, requests.

The docstring of a template is a few of its sentences, here and in the modules like this one.
"""

from dataclasses import replace
from functools import cache
from random import Random

from corpora.everyday.choices import (
    NEVER_NEGATED,
    STATES,
    TENSE_OF_MODE,
    any_action,
    company,
    modes_for,
    object_for,
    time_for,
)
from corpora.everyday.clauses import (
    Clause,
    Pair,
    choose,
    english,
    english_for,
    finish,
    german,
    german_for,
    join_words,
    pronoun_of,
    question,
    statement,
    with_object,
)
from corpora.everyday.german_forms import imperative
from corpora.everyday.noun_phrases import NounPhrase, address, pronoun, somebody
from corpora.everyday.tables import read_table

LIKED_VERBS = {"eat", "drink", "read", "feed", "pet", "draw", "photograph", "play", "study"}
QUESTION_MODES = {"must", "need to", "could", "wanted to", "going to", "should"}
WHO = NounPhrase("who", "whom", "he", {"nom": "wer"}, "er")


def clause_about(rng: Random, subject: NounPhrase, tags: str = "", mode: str = "") -> Clause:
    """A clause with an action, and with a time, an adverb or company that suits the action."""
    action = any_action(rng, subject, tags)
    if "sein-" in action.complement and subject.german_person == "es":
        action = choose(rng, "social")  # das Kind: seine or ihre?
    mode = mode or rng.choice(modes_for(action))
    tense = TENSE_OF_MODE.get(mode, "plan")
    time = adverb = ("", "")
    if mode == "simple":
        if action.tags & {"rare", "timeless", *STATES} or rng.random() < 0.25:
            tense = ""
        elif rng.random() < 0.5:
            row = rng.choice(adverbs("often"))
            adverb, tense = (row["english"], row["german"]), ""
        else:
            tense = "habit"
    if mode == "progressive":
        tense = "now" if rng.random() < 0.25 else ""
    if tense and "timeless" not in action.tags and rng.random() < 0.6:
        time = time_for(rng, action, tense)
    extra = ("", "")
    if "social" in action.tags and rng.random() < 0.3:
        extra = company(rng, subject)
    never = adverb[0] or extra[0] or mode in NEVER_NEGATED or tense == "now"
    never = never or (mode == "should" and "bad" not in action.tags)
    negative = not never and rng.random() < 0.22
    return Clause(subject, action, mode, negative, time, adverb, extra, rng.random() < 0.75)


def telling(rng: Random) -> Pair:
    """My sister is reading a book. Tomorrow I have to get up early."""
    clause = clause_about(rng, somebody(rng))
    if rng.random() < 0.06 and not clause.time[0]:
        row = rng.choice(adverbs("front"))
        comma = "" if row["english"] == "maybe" else ","
        told = german(clause, front=row["german"])
        return finish(f"{row['english']}{comma} {english(clause)}", told)
    return finish(*statement(clause, front=rng.random() < 0.3))


@cache
def adverbs(kind: str) -> tuple[dict[str, str], ...]:
    """The adverbs of a kind: their rows of the table."""
    return tuple(row for row in read_table("adverbs") if row["kind"] == kind)


def feeling(rng: Random) -> Pair:
    """I'm hungry. Were you sick yesterday? She still feels lonely. He also has a dog."""
    subject = somebody(rng)
    action = choose(rng, "is feel")
    clause = Clause(subject, action, rng.choice(["simple", "simple", "past"]))
    kind = rng.random()
    if clause.mode == "past" and kind < 0.4:
        clause = replace(clause, time=time_for(rng, action, "past"))
    if kind > 0.8 and subject.german_person != "ich":
        return finish(*question(clause), "?")
    if kind > 0.65:
        return finish(*statement(replace(clause, negated=True)))
    if kind > 0.5:
        row = rng.choice([*adverbs("state"), *adverbs("also")])
        word = row["english"], row["german"]
        if row["english"] == "again":
            return finish(f"{english(clause)} again", german(replace(clause, adverb=word)))
        clause = replace(clause, adverb=word)
    return finish(*statement(clause))


def liking(rng: Random) -> Pair:
    """I like to swim. My brother doesn't like to read. Do you like to cook?"""
    subject = somebody(rng)
    action = choose(rng, "fun")
    while "rare" in action.tags:
        action = choose(rng, "fun")
    if rng.random() < 0.3:
        liked = [row for row in read_table("verbs") if row["english"] in LIKED_VERBS]
        action = object_for(rng, rng.choice(liked), subject)
    clause = Clause(subject, action)
    negated = rng.random() < 0.2
    verb = finite_like(subject, negated=negated)
    base = english_for(clause.action, subject)
    adverb = ("", "nicht gern" if negated else "gern")
    told = german(Clause(subject, clause.action, adverb=adverb))
    if rng.random() < 0.2 and not negated:
        asked = Clause(pronoun("du"), clause.action, adverb=adverb)
        words = english_for(clause.action, pronoun("du"))
        return finish(f"do you like to {words}", german(asked, "first"), "?")
    return finish(f"{subject.english} {verb} to {base}", told)


def finite_like(subject: NounPhrase, *, negated: bool) -> str:
    """The form of to like: like, likes, don't like or doesn't like."""
    third = subject.person in ("he", "she", "it")
    if negated:
        return "doesn't like" if third else "don't like"
    return "likes" if third else "like"


def asking(rng: Random) -> Pair:
    """Are you reading a book? Anna, did you call your mother? Does he work?"""
    before, davor, person = address(rng)
    if before.startswith("Excuse"):
        before, davor, person = "", "", "du"  # nobody asks strangers for their habits
    about_you = bool(before) or rng.random() < 0.65
    subject = pronoun(person) if about_you else somebody(rng)
    while not about_you and subject.german_person in ("ich", "wir", "du"):
        subject = somebody(rng)
    clause = clause_about(rng, subject)
    tries = 0
    while (clause.mode in QUESTION_MODES or clause.negated or clause.adverb[0]) and tries < 30:
        clause, tries = clause_about(rng, subject), tries + 1
    if clause.negated or clause.adverb[0]:
        clause = Clause(subject, clause.action)
    clause = happening(clause)
    english_side, german_side = question(clause)
    if before:
        return before + english_side + "?", davor + german_side + "?"
    return finish(english_side, german_side, "?")


def happening(clause: Clause) -> Clause:
    """The clause in the progressive or the past, if the simple present does not suit it."""
    tags = clause.action.tags
    lasting = tags & {"timeless", *STATES}
    if clause.mode != "simple" or clause.time[0] or clause.adverb[0] or lasting:
        return clause
    return replace(clause, mode="progressive" if "now" in tags else "past")


def may_i(rng: Random) -> Pair:
    """May I watch TV? Should we cook dinner?"""
    subject = pronoun(rng.choice(["ich", "ich", "wir"]))
    mode = rng.choice(["may", "can", "shall", "have to"])
    tags = {"may": "fun", "can": "fun", "shall": "chore", "have to": "chore"}[mode]
    action = any_action(rng, subject, tags)
    while action.tags & {"rare", "timeless"} or not action.tags & {"now", "social"}:
        action = any_action(rng, subject, tags)
    time = time_for(rng, action, "plan") if rng.random() < 0.3 else ("", "")
    return finish(*question(Clause(subject, action, mode, time=time)), "?")


def could_you(rng: Random) -> Pair:
    """Can you close the door, please? Mr. Weber, could you help me?"""
    before, davor, person = address(rng)
    subject = pronoun(person)
    action = any_action(rng, subject, "stranger" if before.startswith("Excuse") else "order")
    mode = rng.choice(["can", "could you"])
    please = rng.random() < 0.4
    adverb = ("", "bitte") if please else ("", "")
    english_side = english(Clause(subject, action, mode), inverted=True)
    german_side = german(Clause(subject, action, mode, adverb=adverb), "first")
    pair = (before + english_side + ", please" * please, davor + german_side)
    return finish(*pair, "?")


def requesting(rng: Random) -> Pair:
    """Close the door! Anna, please don't close the door."""
    before, davor, person = address(rng)
    subject = pronoun(person)
    action = any_action(rng, subject, "stranger" if before.startswith("Excuse") else "order")
    negated = rng.random() < 0.15
    words = english_for(action, subject)
    verb = imperative(action.verb, person)
    complement = action.negative if negated else action.complement
    rest = join_words(pronoun_of(action, subject), german_for(complement, subject), action.prefix)
    please = rng.random() < 0.4
    english_side = "please " * please + "don't " * negated + words
    german_side = "bitte " * please + f"{verb} {rest}".strip()
    mark = "." if please or negated else "!"
    return finish(before + english_side, davor + german_side, mark)


def suggesting(rng: Random) -> Pair:
    """Let's go to the movies! Should we play chess?"""
    action = any_action(rng, pronoun("wir"), "fun")
    while (
        "skill" in action.tags
        and "social" not in action.tags
        or action.tags & {"state", "timeless"}
    ):
        action = any_action(rng, pronoun("wir"), "fun")
    time = time_for(rng, action, "plan") if rng.random() < 0.4 else ("", "")
    words = english_for(action, pronoun("wir"))
    if rng.random() < 0.5:
        clause = Clause(pronoun("wir"), action, "shall", time=time)
        return finish(*question(clause), "?")
    inner = join_words(pronoun_of(action, pronoun("wir")).replace("uns", ""), time[1])
    complement = german_for(action.complement, pronoun("wir"))
    told = join_words("lass uns", inner, complement, action.prefix + action.verb)
    return finish(join_words("let's", words, time[0]), told, rng.choice("!."))


def somebody_else(rng: Random) -> NounPhrase:
    """A subject that does not include the speaker: people do not ask about themselves."""
    subject = somebody(rng)
    while subject.german_person in ("ich", "wir"):
        subject = somebody(rng)
    return subject


def when_and_why(rng: Random) -> Pair:
    """When will you call him? Why are they crying? How often does Tom cook?"""
    subject = pronoun("du") if rng.random() < 0.6 else somebody_else(rng)
    kind = rng.choice(["when", "when", "why", "why", "how often"])
    clause = clause_about(rng, subject)
    modes = {"when": ["past", "will", "going to", "want to", "have to"], "why": [], "how often": []}
    wanted = [m for m in modes_for(clause.action) if m in modes[kind]] or ["past"]
    if kind == "when":
        clause = Clause(subject, clause.action, rng.choice(wanted))
        word = "wann"
    elif kind == "why":
        tries = 0
        while (clause.mode in ("can", "could", "allowed", "will", "need to", "must")) and tries < 9:
            clause, tries = clause_about(rng, subject), tries + 1
        time = ("", "") if clause.mode == "simple" else clause.time
        clause = Clause(subject, clause.action, clause.mode, clause.negated, time)
        word = "warum"
    else:
        action = any_action(rng, subject, "social chore")
        while "rare" in action.tags:
            action = any_action(rng, subject, "social chore")
        clause, word = Clause(subject, action), "wie oft"
    told = german(in_present(clause), "first")
    return finish(f"{kind} {english(clause, inverted=True)}", f"{word} {told}", "?")


def in_present(clause: Clause) -> Clause:
    """The clause in the present, if it is about the future: wann kommst du?"""
    if clause.mode not in ("will", "going to") or clause.time[1]:
        return clause
    return Clause(clause.subject, clause.action, "simple", clause.negated)


def who_does(rng: Random) -> Pair:
    """Who is cooking dinner? Who has to work?"""
    action = any_action(rng, pronoun("ich"))
    while "one's" in action.english or "oneself" in action.english:
        action = any_action(rng, pronoun("ich"))
    wanted = ["past", "progressive", "want to", "would like to", "can", "have to", "will"]
    mode = rng.choice([m for m in modes_for(action) if m in wanted] or ["simple"])
    if mode == "will":
        mode = "going to"
    clause = Clause(WHO, action, mode, contracted=False)
    shown = Clause(WHO, action, "simple") if mode == "going to" else clause
    return finish(english(clause), german(shown), "?")


def asks_for_a_thing(row: dict[str, str]) -> bool:
    """Whether the verb's object is a thing, without a preposition, so that a question asks what."""
    plain = row["frame"] == "acc" and "|" not in row["english"] and "sich" not in row["german"]
    people = {"person", "kin", "spouse"} & set(row["objects"].split())
    return plain and not people and not row["tags"].startswith("likes")


def what_object(rng: Random) -> Pair:
    """What are you eating? What did your sister buy?"""
    rows = [row for row in read_table("verbs") if asks_for_a_thing(row)]
    row = rng.choice(rows)
    subject = pronoun("du") if rng.random() < 0.5 else somebody_else(rng)
    thing = NounPhrase("", "", "it", {"acc": ""}, "es")
    action = with_object(row, thing, bare=True)
    modes = [
        m for m in modes_for(action) if m in ("past", "progressive", "want to", "would like to")
    ]
    modes = modes or ["simple"]
    clause = Clause(subject, action, rng.choice(modes))
    if clause.mode == "past" and rng.random() < 0.4:
        clause = Clause(subject, action, "past", time=time_for(rng, action, "past"))
    told = german(clause, "first")
    return finish(f"what {english(clause, inverted=True)}", f"was {told}", "?")


# The weight of each group among all groups, and of each template in its group.
TEMPLATES = (
    (
        30,
        {
            telling: 30,
            feeling: 6,
            liking: 4,
            asking: 12,
            may_i: 3,
            could_you: 4,
            requesting: 6,
            suggesting: 3,
        },
    ),
    (7, {when_and_why: 5, who_does: 3, what_object: 3}),
)
