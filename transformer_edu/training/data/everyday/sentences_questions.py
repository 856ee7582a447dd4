"""Questions for the time, the reason, the person and the thing."""

from random import Random

from transformer_edu.training.data.everyday.actions import (
    with_object,
)
from transformer_edu.training.data.everyday.choices import (
    any_action,
    modes_for,
    time_for,
)
from transformer_edu.training.data.everyday.clauses import (
    Clause,
    Pair,
    english,
    finish,
    german,
)
from transformer_edu.training.data.everyday.noun_phrases import NounPhrase
from transformer_edu.training.data.everyday.sentences_actions import clause_about
from transformer_edu.training.data.everyday.subjects import (
    pronoun,
    somebody,
)
from transformer_edu.training.data.everyday.tables import read_table

WHO = NounPhrase("who", "whom", "he", {"nom": "wer"}, "er")


def somebody_else(rng: Random) -> NounPhrase:
    """A subject without the speaker, who knows what the speaker does."""
    subject = somebody(rng)
    while subject.german_person in ("ich", "wir"):
        subject = somebody(rng)
    return subject


def when_and_why(rng: Random) -> Pair:
    """A question for the time, the reason, or how often."""
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
    told = german(timed(clause), "first")
    return finish((f"{kind} {english(clause, inverted=True)}", f"{word} {told}"), "?")


def timed(clause: Clause) -> Clause:
    """The clause with the present for the future, as a question for the time asks."""
    if clause.mode not in ("will", "going to") or clause.time[1]:
        return clause
    return Clause(clause.subject, clause.action, "simple", clause.negated)


def who_does(rng: Random) -> Pair:
    """A question for the subject: Who is cooking dinner?"""
    action = any_action(rng, pronoun("ich"))
    while "one's" in action.english or "oneself" in action.english:
        action = any_action(rng, pronoun("ich"))
    wanted = ["past", "progressive", "want to", "would like to", "can", "have to", "will"]
    mode = rng.choice([m for m in modes_for(action) if m in wanted] or ["simple"])
    if mode == "will":
        mode = "going to"
    clause = Clause(WHO, action, mode, contracted=False)
    shown = Clause(WHO, action, "simple") if mode == "going to" else clause
    return finish((english(clause), german(shown)), "?")


def asks_for_a_thing(row: dict[str, str]) -> bool:
    """Whether what can be the object: of a plain verb that people are no objects of."""
    plain = row["frame"] == "acc" and "|" not in row["english"] and "sich" not in row["german"]
    people = {"person", "kin", "spouse"} & set(row["objects"].split())
    return plain and not people and not row["tags"].startswith("likes")


def what_object(rng: Random) -> Pair:
    """A question for the object: What are you eating? Who are you waiting for?"""
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
    return finish((f"what {english(clause, inverted=True)}", f"was {told}"), "?")


TEMPLATES = {
    when_and_why: 5,
    who_does: 3,
    what_object: 3,
}
