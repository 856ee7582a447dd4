"""Sentences that begin with a frame: I think that, do you know if, I forgot to."""

from dataclasses import replace
from random import Random

from transformer_edu.training.data.everyday.actions import Action, actions, english_for
from transformer_edu.training.data.everyday.choices import any_action
from transformer_edu.training.data.everyday.clauses import (
    Clause,
    Pair,
    english,
    finish,
    german,
    zu_infinitive,
)
from transformer_edu.training.data.everyday.english_forms import ing_form
from transformer_edu.training.data.everyday.noun_phrases import NounPhrase
from transformer_edu.training.data.everyday.sentences_actions import clause_about, happening
from transformer_edu.training.data.everyday.subjects import any_pronoun, pronoun, somebody
from transformer_edu.training.data.everyday.tables import read_table


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
    return finish((f"{start} {english(clause)}", f"{row['german']} {german(clause, 'last')}"), mark)


def framed_clause(rng: Random, subject: NounPhrase, kind: str, tags: str) -> Clause:
    """The clause that goes on after a frame."""
    if kind == "wann":
        action = any_action(rng, subject, "fun chore")
        return Clause(
            subject, action, "past" if tags == "past" else rng.choice(["have to", "want to"])
        )
    if tags == "good":
        fine = [
            "sleep well",
            "find a job",
            "pass the exam",
            "have time",
            "be healthy",
            "feel better",
            "be happy",
            "make new friends",
            "be on vacation",
            "be lucky",
            "have a garden",
        ]
        found = [a for a in actions() if a.english in fine]
        action = rng.choice(found)
        return Clause(subject, action, "simple" if action.tags & {"is", "feel"} else "past")
    if tags == "bad":
        sad = [
            "be sick",
            "miss the train",
            "fail the exam",
            "be tired",
            "be sad",
            "sleep badly",
            "break one's leg",
            "lose one's wallet",
            "miss the bus",
            "be alone",
            "have a headache",
        ]
        found = [a for a in actions() if a.english in sad]
        action = rng.choice(found)
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
    """A frame with zu: I forgot to buy milk."""
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
    return finish((text, f"{start} {told}"), mark)


def fits_frame(action: Action, tags: str, *, general: bool) -> bool:
    """Whether an action makes sense behind a frame; a general one is about nobody."""
    if general and action_is_own(action):
        return False
    if "timeless" in action.tags and not general:
        return False
    return "bad" not in action.tags and ("rare" not in action.tags or "rare" in tags)


def action_is_own(action: Action) -> bool:
    """Whether the action speaks of the subject, which a general remark does not have."""
    text = action.english
    return "one's" in text or "oneself" in text or bool(action.reflexive) or " my " in f" {text} "


TEMPLATES = {
    framed: 9,
}
