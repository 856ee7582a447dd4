"""Which words make sense together: an action and its time, object, mode and company; patterns."""

from functools import cache
from random import Random

from corpora.everyday.clauses import (
    Action,
    Pair,
    actions,
    finish,
    is_bare,
    own_determiner,
    with_object,
)
from corpora.everyday.german_forms import Noun
from corpora.everyday.noun_phrases import (
    NounPhrase,
    adjectives_for,
    any_pronoun,
    given_name,
    nouns_of,
    phrase,
    pronoun,
    relative,
    titled,
)
from corpora.everyday.tables import read_table

DAYTIMES = {"am", "pm", "mid"}
STATES = {"is", "feel", "likes", "fear"}  # tags of actions that have few modes
TOGETHER = ({"ich", "wir"}, {"du", "ihr", "Sie"})  # persons that may be the same people
OWN = "portable clothing vehicle pet home device document bedding mail luggage stationery"
NEVER_NEGATED = {"must", "would like to", "could you", "need to"}
PLAIN_OBJECTS = "language subject lack needmass illness"
TENSE_OF_MODE = {"past": "past", "had to": "past", "wanted to": "past", "could": "past"}


@cache
def times(tense: str) -> tuple[dict[str, str], ...]:
    """The expressions of time for a tense: past, plan, habit, season or now."""
    return tuple(row for row in read_table("times") if tense in row["tenses"].split())


def time_for(rng: Random, action: Action, tense: str) -> Pair:
    """A time that suits an action: breakfast is not in the evening, a wedding not every day."""
    seasonal = 0.4 if tense == "habit" else 0.1 * (tense in ("past", "plan"))
    if "social" in action.tags and rng.random() < seasonal:
        tense = "season"
    rare = bool({"rare"} & action.tags)
    daytime = action.tags & DAYTIMES
    for _ in range(20):
        row = rng.choice(times(tense))
        marks = set(row["tenses"].split())
        if "rare" in marks and not rare and ("social" not in action.tags or rng.random() < 0.7):
            continue
        if daytime and marks & DAYTIMES and not marks & daytime:
            continue
        if rare and "rare" not in marks and (marks & DAYTIMES or row["english"][:3] != "on "):
            continue
        return row["english"], row["german"]
    return "", ""


def determiner_for(rng: Random, noun: Noun, subject: NounPhrase, tags: frozenset[str]) -> str:
    """A determiner that makes sense before an object."""
    if noun.classes & set(PLAIN_OBJECTS.split()):
        return ""
    if "spouse" in noun.classes or "own" in tags or "kin" in noun.classes:
        return own_determiner(subject)
    if "sky" in noun.classes or "the" in tags:
        return "the"
    if "mine" in noun.classes:
        return rng.choice([own_determiner(subject), "the"])
    if noun.mass:
        return rng.choice(["", "", "", "the"])
    if "person" in noun.classes:
        return rng.choice(["the", "the", "the", "a"])
    choices = ["the", "the", "the", "a", "a", "this"]
    if noun.classes & set(OWN.split()) and "notown" not in tags:
        choices += [own_determiner(subject)] * 3
    return rng.choice(choices)


def object_for(rng: Random, row: dict[str, str], subject: NounPhrase) -> Action:
    """The action of a verb from the table of verbs, with an object that suits it."""
    tags = frozenset(row["tags"].split())
    classes = row["objects"]
    if {"person", "kin"} & set(classes.split()) and rng.random() < 0.55:
        return with_object(row, person_object(rng, subject))
    noun = rng.choice(nouns_of(classes))
    if is_bare(noun):
        determiner = "the" if "instrument" in noun.classes and not noun.always_plural else ""
        thing = phrase(noun, determiner)
        if "instrument" in noun.classes:
            bare = phrase(noun, "")
            thing = NounPhrase(thing.english, thing.english, "it", bare.german, "es")
        return with_object(row, thing, bare=True)
    determiner = determiner_for(rng, noun, subject, tags)
    if "person" in noun.classes and determiner == "a":
        determiner = "the"
    many = not noun.mass and not noun.always_plural and noun.gender != "p" and (
        "small" in noun.classes or "paired" in noun.classes or rng.random() < 0.12
    )  # fmt: skip
    if determiner not in ("the", "a", "this", "") and "paired" not in noun.classes:
        many = False
    if many and (noun.classes & {"spouse", "kin", "sky"} or not noun.german_plural):
        many = False
    fitting = adjectives_for(noun)
    plain = noun.classes & set(PLAIN_OBJECTS.split()) or "topic" in noun.classes
    plain = plain or bool({"bad", "own"} & tags) or "room" in noun.classes
    adjective = rng.choice(fitting) if fitting and not plain and rng.random() < 0.3 else None
    if adjective and adjective.english in ("good", "bad", "broken", "right", "wrong"):
        adjective = None
    return with_object(row, phrase(noun, determiner, plural=many, adjective=adjective))


def person_object(rng: Random, subject: NounPhrase) -> NounPhrase:
    """Somebody other than the subject: a pronoun, a name, or a title and name."""
    kind = rng.random()
    if kind < 0.6:
        for _ in range(20):
            other = any_pronoun(rng)
            if not same_people(other.german_person, subject.german_person):
                return other
    found = given_name(rng) if kind < 0.85 else titled(rng)
    return found if found.english != subject.english else pronoun("sie_pl")


def same_people(one: str, other: str) -> bool:
    """Whether two grammatical persons may mean the same people, or some of them."""
    return one == other or any(one in group and other in group for group in TOGETHER)


def any_action(rng: Random, subject: NounPhrase, tags: str = "") -> Action:
    """A whole verb phrase or a verb with an object, with one of the tags (separated by spaces)."""
    if rng.random() < 0.5:
        return rng.choice(actions_without_states(tags))
    return object_for(rng, rng.choice(verb_rows(tags)), subject)


@cache
def actions_without_states(tags: str) -> tuple[Action, ...]:
    """The whole verb phrases with one of the tags; states only if a tag asks for them."""
    return tuple(a for a in actions(tags) if not a.tags & STATES or a.tags & set(tags.split()))


@cache
def verb_rows(tags: str = "") -> tuple[dict[str, str], ...]:
    """The verbs with one of the tags; without tags, all that do not describe a state."""
    wanted = set(tags.split())
    rows = read_table("verbs")
    if not wanted:
        return tuple(row for row in rows if not STATES & set(row["tags"].split()))
    return tuple(row for row in rows if wanted & set(row["tags"].split()))


def company(rng: Random, subject: NounPhrase) -> Pair:
    """The company that somebody has: with my sister, with Anna, with us, alone."""
    kind = rng.random()
    if kind < 0.5:
        other = relative(rng, own_determiner(subject))
    else:
        other = given_name(rng) if kind < 0.75 else person_object(rng, subject)
    if other.english == subject.english:
        return "alone", "allein"
    return f"with {other.english_object}", f"mit {other.dat}"


def modes_for(action: Action) -> list[str]:
    """The modes in which an action makes sense; frequent ones are repeated."""
    tags = action.tags
    if tags & STATES:
        return ["simple", "simple", "past"]
    modes = ["past", "past", "past"] if "timeless" not in tags else ["simple"]
    if "rare" not in tags:
        modes += ["simple", "simple"]
    if "now" in tags:
        modes += ["progressive", "progressive"]
    if not tags & {"bad", "timeless"}:
        modes += ["will", "going to"]
    if "fun" in tags:
        modes += ["want to", "would like to", "wanted to"]
    if "fun" in tags and not tags & {"rare", "timeless", "skill"}:
        modes += ["allowed"]
    if "chore" in tags:
        modes += ["have to", "must", "had to", "should", "need to"]
    if tags & {"skill", "fun"}:
        modes += ["can"]
    if "skill" in tags:
        modes += ["could"]
    return modes


@cache
def patterns(group: str) -> tuple[Pair, ...]:
    """The patterns of a group: English and German sentences with slots."""
    rows = read_table("patterns")
    return tuple((row["english"], row["german"]) for row in rows if row["group"] == group)


def from_pattern(rng: Random, group: str, **slots: object) -> Pair:
    """A sentence from a pattern of a group, with its slots filled by name in both languages."""
    english, german = rng.choice(patterns(group))
    return finish(english.format(**slots), german.format(**slots), "")
