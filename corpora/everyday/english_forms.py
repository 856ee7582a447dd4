"""English word forms: plurals, articles, comparison, and the forms of verbs."""

import re
from functools import cache

from corpora.everyday.tables import read_table

MODALS = {"can", "could", "may", "must", "should", "will", "would"}
SOUNDS_LIKE_A_CONSONANT = ("uni", "use", "euro", "one")  # a university, a useful book
BE = {
    "present": {"I": "am", "he": "is", "she": "is", "it": "is"},
    "past": {"I": "was", "he": "was", "she": "was", "it": "was"},
}
NEGATED = {"can": "can't", "will": "won't", "am": "am not", "may": "may not"}


def with_article(phrase: str) -> str:
    """The phrase with a or an before it, depending on its first sound."""
    word = phrase.lower()
    vowel = word[0] in "aeiou" or word.startswith(("hour", "honest"))
    return f"{'an' if vowel and not word.startswith(SOUNDS_LIKE_A_CONSONANT) else 'a'} {phrase}"


def with_s(word: str) -> str:
    """The word with the ending -s: the regular plural, or the third person of a verb."""
    if word.endswith(("s", "sh", "ch", "x", "z")) or word in ("go", "do", "tomato", "potato"):
        return word + "es"
    if re.search("[^aeiou]y$", word):
        return word[:-1] + "ies"
    return word + "s"


def doubles(word: str) -> bool:
    """Whether the last letter is doubled before -ing, -ed, -er: run, stop, big."""
    return word in ("forget", "begin") or bool(
        re.fullmatch("[^aeiou]*(?:qu)?[aeiou][^aeiouwxy]", word)
    )


def comparative(adjective: str) -> str:
    """The regular comparative: older, bigger, happier, more beautiful."""
    if re.search("[^aeiou]y$", adjective):
        return adjective[:-1] + "ier"
    if len(re.findall("[aeiouy]+", adjective.removesuffix("e"))) > 1 or adjective == "tired":
        return f"more {adjective}"
    if adjective.endswith("e"):
        return adjective + "r"
    return adjective + adjective[-1] * doubles(adjective) + "er"


@cache
def irregular() -> dict[str, dict[str, str]]:
    """The irregular verbs by their base form."""
    return {row["base"]: row for row in read_table("english_verbs")}


def past_form(verb: str, form: str = "past") -> str:
    """The past tense of a verb, or its participle if form is "participle"."""
    if verb in irregular():
        return irregular()[verb][form]
    if verb.endswith("e"):
        return verb + "d"
    if re.search("[^aeiou]y$", verb):
        return verb[:-1] + "ied"
    return verb + verb[-1] * doubles(verb) + "ed"


def ing_form(verb: str) -> str:
    """The verb with the ending -ing."""
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    if verb.endswith("e") and not verb.endswith("ee") and verb != "be":
        return verb[:-1] + "ing"
    return verb + verb[-1] * doubles(verb) + "ing"


def finite_form(verb: str, person: str, tense: str) -> str:
    """The form of a verb that agrees with a subject.

    Args:
        verb: The base form, or a modal verb.
        person: "I", "you", "he", "she", "it", "we" or "they".
        tense: "present" or "past".
    """
    if verb in MODALS:
        return verb
    if verb == "be":
        return BE[tense].get(person, "are" if tense == "present" else "were")
    if tense == "past":
        return past_form(verb)
    if person in ("he", "she", "it"):
        return "has" if verb == "have" else with_s(verb)
    return verb


def negated(auxiliary: str, *, contracted: bool) -> str:
    """The auxiliary with not: isn't if contracted, or is not."""
    if not contracted:
        return "cannot" if auxiliary == "can" else f"{auxiliary} not"
    return NEGATED.get(auxiliary, f"{auxiliary}n't")
