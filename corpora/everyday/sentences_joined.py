"""Sentences of two clauses: reasons, conditions, purposes; after "I think that", "I forgot to"."""

from dataclasses import replace
from random import Random

from corpora.everyday.choices import any_action, from_pattern, time_for
from corpora.everyday.clauses import (
    Action,
    Clause,
    Pair,
    actions,
    by_name,
    english,
    english_for,
    finish,
    german,
    own_determiner,
    zu_infinitive,
)
from corpora.everyday.english_forms import ing_form
from corpora.everyday.noun_phrases import (
    NounPhrase,
    any_pronoun,
    nouns_of,
    phrase,
    pronoun,
    somebody,
)
from corpora.everyday.sentences_actions import clause_about, happening
from corpora.everyday.sentences_places import go_to
from corpora.everyday.tables import read_table

RAIN = (
    ("it rains", "es regnet"),
    ("it snows", "es schneit"),
    ("the weather is bad", "das Wetter schlecht ist"),
    ("it is too cold", "es zu kalt ist"),
    ("it rains tomorrow", "es morgen regnet"),
)
SUNSHINE = (
    ("the weather is nice", "das Wetter schön ist"),
    ("the sun is shining", "die Sonne scheint"),
    ("it is not too hot", "es nicht zu heiß ist"),
    ("it doesn't rain", "es nicht regnet"),
    ("the weather is nice tomorrow", "das Wetter morgen schön ist"),
)
INDOORS = (
    "stay home, read a book, play cards, play chess, bake a cake, go to the movies, go to the "
    "museum, go to the theater, watch a movie, watch TV, listen to music, clean up one's "
    "room, play the piano, sit on the sofa, cook dinner, take the bus to work, go by bus, do "
    "yoga, write a letter"
)
OUTDOORS = (
    "go for a walk, play soccer, swim in the lake, go swimming, work in the garden, go to the "
    "beach, go to the zoo, ride a bike, go by bike, have a picnic, play outside, sit on the "
    "balcony, eat an ice cream, go fishing, mow the lawn, play tennis, go hiking in the "
    "mountains, grill sausages, hang up the laundry, lie in the sun"
)
LUCK = {  # what people are glad of, and what they are sorry for
    "good": (
        "sleep well, find a job, pass the exam, have time, be healthy, feel better, be happy, "
        "make new friends, be on vacation, be lucky, have a garden"
    ),
    "bad": (
        "be sick, miss the train, fail the exam, be tired, be sad, sleep badly, break one's "
        "leg, lose one's wallet, miss the bus, be alone, have a headache"
    ),
}


def second_mention(subject: NounPhrase) -> NounPhrase:
    """The pronoun for a subject that is mentioned again: he, she, it, they."""
    if subject.is_pronoun:
        return subject
    person = {"he": "er", "she": "sie", "it": "es", "they": "sie_pl"}[subject.person]
    if subject.german_person == "sie_pl" and person == "es":
        return pronoun("sie_pl")
    found = pronoun(subject.german_person)
    return found if found.english == subject.person else replace(found, **english_side(person))


def english_side(person: str) -> dict[str, str]:
    """The English fields of a pronoun, where the German gender is different: das Kind, he."""
    other = pronoun(person)
    return {
        "english": other.english,
        "english_object": other.english_object,
        "person": other.person,
    }


def because(rng: Random) -> Pair:
    """I'm tired because I slept badly. He can't come because he has to work."""
    subject = somebody(rng)
    second = second_mention(subject)
    kind = rng.random()
    if kind < 0.45:
        row = rng.choice(read_table("reasons"))
        mode, _, no = row["reason_mode"].partition(" not")
        negated = row["reason_mode"].endswith("not")
        first = Clause(subject, by_name(row["english"]), row["mode"])
        reason = Clause(second, by_name(row["reason"]), mode, negated=negated)
    elif kind < 0.75:
        fun = rng.choice([a for a in actions("social") if "rare" not in a.tags])
        mode = rng.choice(["can", "could"])
        time = time_for(rng, fun, "plan") if mode == "can" and rng.random() < 0.4 else ("", "")
        first = Clause(subject, fun, mode, negated=True, time=time)
        chores = [a for a in actions("chore") if "now" in a.tags]
        chore = rng.choice([a for a in chores if not a.tags & {"rare", "social", "timeless"}])
        reason = Clause(second, chore, "have to" if mode == "can" else "had to")
    else:
        fun = rng.choice([a for a in actions("social") if "rare" not in a.tags])
        state = rng.choice(list(actions("reason reason2")))
        mode = rng.choice(["can", "could"])
        first = Clause(subject, fun, mode, negated=True)
        reason = Clause(second, state, "simple" if mode == "can" else "past")
    told = f"{german(first)}, weil {german(reason, 'last')}"
    return finish(f"{english(first)} because {english(reason)}", told)


def condition(rng: Random) -> Pair:
    """If it rains tomorrow, we'll stay home. If you have time, call me."""
    subject = any_pronoun(rng)
    kind = rng.random()
    mode = rng.choice(["will", "can", "want to"])
    if kind < 0.5:
        weather, sensible = rng.choice([(RAIN, INDOORS), (SUNSHINE, OUTDOORS)])
        first, dann = rng.choice(weather)
        result = Clause(subject, by_name(rng.choice(sensible.split(", "))), mode)
    elif kind < 0.9:
        state = by_name(
            rng.choice(["have time", "feel better", "have vacation", "have enough money"])
        )
        early = Clause(subject, state)
        first, dann = english(early), german(early, "last")
        fitting = [a for a in actions("social") if "state" not in a.tags]
        result = Clause(subject, rng.choice(fitting), mode)
    else:
        return from_pattern(rng, "if")  # If you are hungry, eat something.
    verbs = replace(result, mode="simple") if mode == "will" else result
    rest = german(verbs, "first")
    if rng.random() < 0.3:
        return finish(f"{english(result)} if {first}", f"{german(verbs)}, wenn {dann}")
    return finish(f"if {first}, {english(result)}", f"wenn {dann}, {rest}")


def in_order_to(rng: Random) -> Pair:
    """I'm going to the supermarket to buy milk."""
    subject = somebody(rng)
    row = rng.choice(read_table("purposes"))
    purpose, zweck = row["purpose"], row["german_purpose"]
    thing = phrase(rng.choice(nouns_of("groceries drink supply")), "")
    action = go_to(row["to"], row["german_to"], verb=row["verb"])
    clause = Clause(subject, action, rng.choice(["progressive", "past", "past"]))
    purpose, zweck = purpose.format(thing.english), zweck.format(thing.acc)
    return finish(f"{english(clause)} {purpose}", f"{german(clause)}, um {zweck}")


def as_a_child(rng: Random) -> Pair:
    """When I was a child, I often played outside."""
    subject = rng.choice([pronoun("ich"), pronoun("ich"), pronoun("er"), pronoun("sie")])
    found = [a for a in actions("social") if "rare" not in a.tags and "beer" not in a.english]
    clause = Clause(subject, rng.choice(found), "past", adverb=("often", "oft"))
    if rng.random() < 0.3:
        other = phrase(rng.choice(nouns_of("kin")), own_determiner(subject))
        extra = f"with {other.english_object}", f"mit {other.dat}"
        clause = replace(clause, extra=extra)
    early = f"als {subject.nom} ein Kind war"
    return finish(f"when {subject.english} was a child, {english(clause)}",
                   f"{early}, {german(clause, 'first')}")  # fmt: skip


def and_but(rng: Random) -> Pair:
    """I cook and my brother sets the table. I would like to come, but I have no time."""
    subject = any_pronoun(rng)
    if rng.random() < 0.5:
        fun = rng.choice([a for a in actions("social") if "rare" not in a.tags])
        first = Clause(subject, fun, "would like to")
        state = rng.choice([*actions("reason"), *actions("reason2"), by_name("have time")])
        second = Clause(subject, state, "simple", negated=state.english == "have time")
        return finish(
            f"{english(first)}, but {english(second)}", f"{german(first)}, aber {german(second)}"
        )
    one, two = any_action(rng, subject, "now"), any_action(rng, subject, "now")
    other = somebody(rng)
    while other.english == subject.english or one.english == two.english:
        other, two = somebody(rng), any_action(rng, subject, "now")
    two = rng.choice([a for a in actions("now") if a.english != one.english])
    mode = rng.choice(["progressive", "past"])
    first, second = Clause(subject, one, mode), Clause(other, two, mode)
    return finish(
        f"{english(first)} and {english(second)}", f"{german(first)} und {german(second)}"
    )


def framed(rng: Random) -> Pair:
    """I think that he is at home. Do you know if she is coming? I forgot to buy milk."""
    row = rng.choice(read_table("frames"))
    mark = "?" if row["kind"].endswith("?") else "."
    kind = row["kind"].rstrip("?")
    if kind == "zu":
        return infinitive(rng, row, mark)
    subject = somebody(rng)
    others = (
        mark == "?"
        or row["tags"] != "all"
        or row["english"].startswith(("I don't know", "I'd like"))
    )
    while others and subject.german_person in ("ich", "du", "wir"):
        subject = somebody(rng)
    if row["english"].split()[0] in ("She", "He"):
        subject = any_pronoun(rng)
    clause = framed_clause(rng, subject, kind, row["tags"])
    start = row["english"]
    if start.endswith(" that") and rng.random() < 0.4:
        start = start.removesuffix(" that")
    return finish(f"{start} {english(clause)}", f"{row['german']} {german(clause, 'last')}", mark)


def framed_clause(rng: Random, subject: NounPhrase, kind: str, tags: str) -> Clause:
    """The clause after the beginning of a sentence from the table of frames."""
    if kind == "wann":
        action = any_action(rng, subject, "fun chore")
        return Clause(
            subject, action, "past" if tags == "past" else rng.choice(["have to", "want to"])
        )
    if tags in LUCK:
        action = rng.choice([a for a in actions() if a.english in LUCK[tags].split(", ")])
        return Clause(subject, action, "simple" if action.tags & {"is", "feel"} else "past")
    if rng.random() < 0.4:
        states = actions("is")
        return Clause(subject, rng.choice(states), rng.choice(["simple", "simple", "past"]),
                      negated=rng.random() < 0.2)  # fmt: skip
    clause = clause_about(rng, subject)
    while clause.mode in ("must", "may", "need to", "could", "can", "allowed", "will"):
        clause = clause_about(rng, subject)
    return replace(happening(clause), contracted=True)


def infinitive(rng: Random, row: dict[str, str], mark: str) -> Pair:
    """I forgot to buy milk. It's fun to play chess."""
    subject = pronoun(row["subject"])
    tags = "chore" if row["tags"] == "rule" else row["tags"]
    general = row["english"].startswith("It's")
    action = rng.choice(actions(tags)) if general else any_action(rng, subject, tags)
    while not fits_frame(action, tags, general=general):
        action = rng.choice(actions(tags)) if general else any_action(rng, subject, tags)
    words = english_for(action, subject)
    start = row["english"]
    if start.endswith("-ing"):
        verb, _, rest = words.partition(" ")
        text = f"{start.removesuffix('-ing')}{ing_form(verb)} {rest}".strip()
    else:
        text = f"{start} {words}"
    told = zu_infinitive(Clause(subject, action))
    start = row["german"]
    if (" " not in told or told.startswith("zu ")) and "darauf" not in start:
        start = start.removesuffix(",")  # Ich habe keine Lust zu baden
    return finish(text, f"{start} {told}", mark)


def fits_frame(action: Action, tags: str, *, general: bool) -> bool:
    """Whether an action makes sense after a frame; a general frame has no subject (It's fun to)."""
    if general and action_is_own(action):
        return False
    if "timeless" in action.tags and not general:
        return False
    return "bad" not in action.tags and ("rare" not in action.tags or "rare" in tags)


def action_is_own(action: Action) -> bool:
    """Whether the action mentions its subject, as in wash one's hands."""
    text = action.english
    return "one's" in text or "oneself" in text or bool(action.reflexive) or " my " in f" {text} "


# The weight of each group among all groups, and of each template in its group.
TEMPLATES = (
    (8, {because: 6, condition: 4, in_order_to: 1, as_a_child: 1, and_but: 3}),
    (6, {framed: 9}),
)
