"""Actions, and clauses: subject, verb, time and the rest in the word order of each language.

German puts the finite verb second in a statement, first in a question and last in a subordinate
clause. The rest of the verb is at the end. Between the two, the order is: pronouns, time, adverb,
company or place, complement.
"""

import re
from dataclasses import dataclass, replace
from functools import cache
from random import Random

from corpora.everyday.english_forms import MODALS, finite_form, ing_form, negated
from corpora.everyday.german_forms import (
    SIMPLE_PAST,
    Noun,
    finite,
    participle,
    takes_sein,
)
from corpora.everyday.noun_phrases import (
    NounPhrase,
    english_possessive,
    english_reflexive,
    german_possessive,
    german_reflexive,
)
from corpora.everyday.tables import read_table

CHOICE = re.compile(r"\[(?P<plain>[^/\]]*)/(?P<negated>[^\]]*)\]")
Pair = tuple[str, str]  # English and German
# Mode: the words before the English verb, its tense, the German modal verb and its tense.
MODES = {
    "simple": ("", "present", "", "present"),
    "progressive": ("be -ing", "present", "", "present"),
    "past": ("", "past", "", "perfect"),
    "will": ("will", "present", "werden", "present"),
    "going to": ("be going to", "present", "werden", "present"),
    "can": ("can", "present", "können", "present"),
    "could": ("could", "past", "können", "past"),
    "could you": ("could", "present", "könnten", "present"),
    "must": ("must", "present", "müssen", "present"),
    "have to": ("have to", "present", "müssen", "present"),
    "had to": ("have to", "past", "müssen", "past"),
    "need to": ("need to", "present", "müssen", "present"),
    "want to": ("want to", "present", "wollen", "present"),
    "wanted to": ("want to", "past", "wollen", "past"),
    "would like to": ("would like to", "present", "möchten", "present"),
    "may": ("may", "present", "dürfen", "present"),
    "allowed": ("be allowed to", "present", "dürfen", "present"),
    "should": ("should", "present", "sollen", "past"),
    "shall": ("should", "present", "sollen", "present"),
}
CONTRACTED = {"am": "'m", "are": "'re", "is": "'s", "will": "'ll", "would": "'d"}


@dataclass(frozen=True)
class Action:
    """A verb phrase in both languages.

    Args:
        english: The verb's base form comes first; one's and oneself are replaced later.
        verb: The German infinitive without a separable prefix.
        prefix: The separable prefix, or empty.
        reflexive: "", "acc" or "dat".
        pronoun: A German pronoun as object, or empty.
        complement: What comes before the rest of the verb in German.
        negative: The same with nicht or kein.
        sein: Whether the perfect is formed with sein.
        tags: The tags of the table.
    """

    english: str
    verb: str
    prefix: str = ""
    reflexive: str = ""
    pronoun: str = ""
    complement: str = ""
    negative: str = ""
    sein: bool = False
    tags: frozenset[str] = frozenset()


@cache
def actions(tags: str = "") -> tuple[Action, ...]:
    """The whole verb phrases of the table with one of the tags; without tags, all of them."""
    if not tags:
        return tuple(action_of(row) for row in read_table("actions"))
    return tuple(a for a in actions() if a.tags & set(tags.split()))


def by_name(name: str) -> Action:
    """The whole verb phrase with these English words."""
    return next(a for a in actions() if a.english == name)


def split_verb(german: str) -> tuple[list[str], str, str, str]:
    """Words, prefix, infinitive and the case of sich in a verb phrase such as sich an|ziehen."""
    *words, last = german.split()
    prefix, _, verb = last.rpartition("|")
    reflexive = ""
    if words and words[0].startswith("sich"):
        reflexive = "dat" if words.pop(0) == "sich:dat" else "acc"
    return words, prefix, verb, reflexive


def auxiliary_is_sein(verb: str, reflexive: str, tags: frozenset[str]) -> bool:
    """Whether the perfect is formed with sein. The tags decide first, then sich, then the verb."""
    if {"sein", "haben"} & tags:
        return "sein" in tags
    return not reflexive and takes_sein(verb)


def action_of(row: dict[str, str]) -> Action:
    """The action that a row of the table of actions describes."""
    words, prefix, verb, reflexive = split_verb(re.sub(r"\[[^\]]*\]", quote_choice, row["german"]))
    text = " ".join(words).replace("\0", " ")
    tags = frozenset(row["tags"].split())
    return Action(
        english=row["english"],
        verb=verb,
        prefix=prefix,
        reflexive=reflexive,
        complement=" ".join(CHOICE.sub(r"\g<plain>", text).replace("*", "").split()),
        negative=" ".join(CHOICE.sub(r"\g<negated>", text).replace("*", "nicht").split()),
        sein=auxiliary_is_sein(verb, reflexive, tags),
        tags=tags,
    )


def quote_choice(match: re.Match[str]) -> str:
    """A choice [a/b] as one word, so that splitting at spaces keeps it together."""
    return match[0].replace(" ", "\0")


def english_for(action: Action, subject: NounPhrase) -> str:
    """The English verb phrase with my and myself, ... for one's and oneself, to fit the subject."""
    if "one" not in action.english:
        return action.english
    text = re.sub(r"\bone's\b", english_possessive(subject), action.english)
    return re.sub(r"\boneself\b", english_reflexive(subject), text)


def german_for(text: str, subject: NounPhrase) -> str:
    """German words with mein, meine, ... for sein-, sein-e, ..., to fit the subject."""
    if "sein-" not in text:
        return text
    possessive = german_possessive(subject.german_person)

    def own(match: re.Match[str]) -> str:
        stem = "eur" if possessive == "euer" and match[1] else possessive
        return stem + match[1]

    return re.sub(r"\bsein-(\w*)", own, text)


def pronoun_of(action: Action, subject: NounPhrase) -> str:
    """The German pronoun that comes early in the clause: sich, or a pronoun as object."""
    if action.reflexive:
        return german_reflexive(subject.german_person, dative=action.reflexive == "dat")
    return action.pronoun


def with_object(row: dict[str, str], thing: NounPhrase, *, bare: bool = False) -> Action:
    """The action of a verb from the table of verbs with its object.

    Args:
        row: The row of the verb.
        thing: The object.
        bare: Whether the object has no article, as in Fußball spielen; nicht comes before it.
    """
    words, prefix, verb, reflexive = split_verb(row["german"])
    tags = frozenset(row["tags"].split())
    preposition, _, case = row["frame"].rpartition("+")
    lead, form, pronoun = " ".join(words), thing.german[case], ""
    if preposition:
        complement = f"{lead} {preposition} {form}".strip()
        negative = f"keine {complement}" if lead else f"nicht {complement}"
    elif thing.is_pronoun:
        complement, negative, pronoun = "", "nicht", form
    elif bare:
        complement, negative = form, f"nicht {form}"
    else:
        complement, negative = form, thing.negative or f"{form} nicht"
        if case == "dat" and thing.negative:
            negative = f"nicht {form}"
    head, _, particle = row["english"].partition("|")
    if particle and thing.is_pronoun:
        english = f"{head} {thing.english_object} {particle}"
    else:
        english = " ".join(part for part in (head, particle, thing.english_object) if part)
    sein = auxiliary_is_sein(verb, reflexive, tags)
    return Action(english, verb, prefix, reflexive, pronoun, complement, negative, sein, tags)


def choose(rng: Random, tags: str) -> Action:
    """A random whole verb phrase with one of the tags."""
    return rng.choice(actions(tags))


def own_determiner(subject: NounPhrase) -> str:
    """The possessive that belongs to a subject: my for I; "your" is marked if formal or plural."""
    if subject.german_person == "Sie":
        return "your (formal)"
    if subject.german_person == "ihr":
        return "your (several)"
    return english_possessive(subject)


def is_bare(noun: Noun) -> bool:
    """Whether a noun follows the verb without an article: Klavier spielen."""
    return bool(noun.classes & {"instrument", "sport"})


@dataclass(frozen=True)
class Clause:
    """What a clause says, before it is put into words.

    Args:
        subject: Who does it.
        action: What the subject does.
        mode: One of MODES.
        negated: Whether the clause says that it is not so.
        time: When, in both languages.
        adverb: An adverb that English puts before the main verb: often, also.
        extra: Company or place, in both languages.
        contracted: Whether English contracts: I'm, don't.
    """

    subject: NounPhrase
    action: Action
    mode: str = "simple"
    negated: bool = False
    time: Pair = ("", "")
    adverb: Pair = ("", "")
    extra: Pair = ("", "")
    contracted: bool = True


def join_words(*words: str) -> str:
    """The words that are not empty, with one space between them."""
    return " ".join(word for word in words if word)


def english_verbs(clause: Clause, *, inverted: bool) -> Pair:
    """The finite auxiliary, empty if the main verb is finite; and the rest of the verb phrase."""
    before, tense, _, _ = MODES[clause.mode]
    verb, _, rest = english_for(clause.action, clause.subject).partition(" ")
    if before == "be -ing":
        chain = f"be {ing_form(verb)} {rest}".strip()
    else:
        chain = join_words(before, verb, rest)
    first, _, others = chain.partition(" ")
    person = clause.subject.person
    form = finite_form(first, person, tense)
    if first in MODALS or first == "be":
        return form, others
    if inverted or clause.negated:
        return finite_form("do", person, tense), chain
    return "", join_words(form, others)


def english(clause: Clause, *, inverted: bool = False) -> str:
    """The English clause; if inverted, the auxiliary comes first, as in a question."""
    auxiliary, rest = english_verbs(clause, inverted=inverted)
    subject, adverb = clause.subject.english, clause.adverb[0]
    end = join_words(clause.extra[0], clause.time[0])
    if inverted:
        if clause.negated:
            auxiliary = negated(auxiliary, contracted=True)
        return join_words(auxiliary, subject, adverb, rest, end)
    short = clause.contracted and clause.subject.is_pronoun and not clause.negated
    if clause.negated:
        if auxiliary == "am" and clause.contracted:
            subject, auxiliary = "I'm", "not"
        else:
            auxiliary = negated(auxiliary, contracted=clause.contracted)
    elif short and auxiliary in CONTRACTED:
        subject, auxiliary = subject + CONTRACTED[auxiliary], ""
    return join_words(subject, auxiliary, adverb, rest, end)


def german_verbs(clause: Clause) -> tuple[str, str, str]:
    """The finite verb; the rest of the verb; and both as they end a subordinate clause."""
    _, _, modal, tense = MODES[clause.mode]
    action, person = clause.action, clause.subject.german_person
    if modal == "werden" and clause.time[1]:
        modal = ""  # with a time, German uses the present
    if modal == "müssen" and clause.mode == "must" and clause.negated:
        modal = "dürfen"
    if modal:
        word = finite(modal, person, tense)
        end = action.prefix + action.verb
        return word, end, f"{end} {word}"
    if tense == "perfect" and action.verb not in SIMPLE_PAST:
        word = finite("sein" if action.sein else "haben", person, "present")
        end = action.prefix + participle(action.verb)
        return word, end, f"{end} {word}"
    word = finite(action.verb, person, "past" if tense == "perfect" else "present")
    return word, action.prefix, action.prefix + word


def german(clause: Clause, order: str = "second", front: str = "") -> str:
    """The German clause.

    Args:
        clause: What it says.
        order: The place of the finite verb: "second", "first" or "last".
        front: What comes first instead of the subject, if the verb is second.
    """
    word, end, joined = german_verbs(clause)
    subject = clause.subject.nom
    early = pronoun_of(clause.action, clause.subject)
    complement = german_for(
        clause.action.negative if clause.negated else clause.action.complement, clause.subject
    )
    field = join_words(clause.time[1], clause.adverb[1], clause.extra[1], complement)
    before = not clause.subject.is_pronoun  # Heute rasiert sich mein Vater; heute rasiere ich mich
    inner = join_words(early, subject) if before and early else join_words(subject, early)
    if order == "last":
        return join_words(inner, field, joined)
    if order == "first":
        return join_words(word, inner, field, end)
    if front:
        return join_words(front, word, inner, field, end)
    return join_words(subject, word, early, field, end)


def zu_infinitive(clause: Clause) -> str:
    """The German infinitive with zu, with its complement before it: früh aufzustehen."""
    action = clause.action
    verb = f"{action.prefix}zu{action.verb}" if action.prefix else f"zu {action.verb}"
    complement = action.negative if clause.negated else action.complement
    early = pronoun_of(action, clause.subject)
    words = german_for(complement, clause.subject)
    return join_words(early, clause.time[1], clause.extra[1], words, verb)


def statement(clause: Clause, *, front: bool = False) -> Pair:
    """A statement in both languages; with front, it begins with the time."""
    if front and clause.time[0]:
        rest = replace(clause, time=("", ""))
        start_english, start_german = clause.time
        # German uses the present although the time is now in front, not in the clause.
        verbs = replace(rest, mode="simple") if MODES[clause.mode][2] == "werden" else rest
        return f"{start_english}, {english(rest)}", german(verbs, front=start_german)
    return english(clause), german(clause)


def conjugated(subject: NounPhrase, english: str, german: str, tense: str = "present") -> Pair:
    """The forms of a verb in both languages that agree with a subject."""
    return (
        finite_form(english, subject.person, tense),
        finite(german, subject.german_person, tense),
    )


def question(clause: Clause) -> Pair:
    """A yes-no question in both languages."""
    return english(clause, inverted=True), german(clause, "first")


def finish(english: str, german: str, mark: str = ".") -> Pair:
    """Both sides with a capital letter and a final mark."""
    return tuple(text[0].upper() + text[1:] + mark for text in (english, german))
