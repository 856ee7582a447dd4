"""German verbs: the forms of the present, the past, the participle and the imperative."""

import re
from functools import cache

from transformer_edu.training.data.everyday.tables import read_table

INSEPARABLE = ("be", "emp", "ent", "er", "ge", "ver", "zer")
SIMPLE_PAST = ("sein", "haben", "wissen", "können", "müssen", "wollen", "dürfen", "sollen")
SEIN = {"ich": "bin", "du": "bist", "wir": "sind", "ihr": "seid", "sie_pl": "sind", "Sie": "sind"}
IRREGULAR_DU = {"hat": "hast", "wird": "wirst", "hält": "hältst"}
PLURAL = ("wir", "sie_pl", "Sie")  # the persons whose form is the infinitive's


@cache
def principal_parts() -> dict[str, dict[str, str]]:
    """The irregular verbs by infinitive."""
    return {row["infinitive"]: row for row in read_table("german_verbs")}


def base_verb(infinitive: str) -> tuple[str, str]:
    """An inseparable prefix and the irregular verb behind it: verstehen is ver and stehen."""
    if infinitive not in principal_parts():
        for prefix in INSEPARABLE:
            rest = infinitive.removeprefix(prefix)
            if rest != infinitive and rest in principal_parts():
                return prefix, rest
    return "", infinitive


def stem_of(infinitive: str) -> str:
    """The infinitive without -en or -n."""
    return infinitive[:-2] if infinitive.endswith("en") else infinitive[:-1]


def needs_e(stem: str) -> bool:
    """Whether endings need an e before them: arbeitet, öffnet, findet."""
    return bool(re.search("([td]|(ch|[^aeiouäöülrhmn])[nm])$", stem))


def present(infinitive: str, person: str) -> str:
    """The present; person is ich, du, er, sie, es, wir, ihr, sie_pl or Sie."""
    prefix, verb = base_verb(infinitive)
    third = principal_parts().get(verb, {}).get("present", "")
    if verb == "sein":
        return SEIN.get(person, "ist")
    if person in PLURAL:
        return infinitive
    return prefix + singular_or_ihr(verb, third, person)


def singular_or_ihr(verb: str, third: str, person: str) -> str:
    """The present of a verb without prefix, except in the persons that equal the infinitive."""
    stem = stem_of(verb)
    like_a_modal = bool(third) and not third.endswith("t")  # kann, muss, weiß; and wird
    if person == "ich":
        if like_a_modal and verb != "werden":
            return third
        return stem[:-2] + "le" if verb.endswith("eln") else stem + "e"
    if person == "ihr":
        return stem + ("et" if needs_e(stem) or verb == "werden" else "t")
    if person == "du":
        if third:
            return second_of(third, like_a_modal)
        ending = "t" if stem.endswith(("s", "ß", "z", "x")) else "st"
        return stem + ("e" if needs_e(stem) else "") + ending
    return third or stem + ("et" if needs_e(stem) else "t")


def second_of(third: str, like_a_modal: bool) -> str:
    """The du form of a verb whose er form is irregular."""
    if third in IRREGULAR_DU:
        return IRREGULAR_DU[third]
    if like_a_modal:
        return third + ("t" if third.endswith(("s", "ß")) else "st")
    return third if third.endswith("st") else third[:-1] + "st"


def past(infinitive: str, person: str) -> str:
    """The simple past, as it is spoken: war, hatte, konnte."""
    form = principal_parts()[infinitive]["past"]
    if person == "du":
        return form + "st"
    if person == "ihr":
        return form + "t"
    if person in PLURAL:
        return form + ("n" if form.endswith("e") else "en")
    return form


def finite(infinitive: str, person: str, tense: str) -> str:
    """The form in the tense "present" or "past"; möchten and könnten are verbs of their own."""
    if infinitive in ("möchten", "könnten"):
        ending = {"du": "st", "ihr": "t"}.get(person, "n" if person in PLURAL else "")
        return infinitive[:-1] + ending
    return present(infinitive, person) if tense == "present" else past(infinitive, person)


def participle(infinitive: str) -> str:
    """The participle of a verb without a separable prefix."""
    prefix, verb = base_verb(infinitive)
    if verb in principal_parts():
        form = principal_parts()[verb]["participle"]
        return prefix + form.removeprefix("ge") if prefix else form
    stem = stem_of(infinitive)
    form = stem + ("et" if needs_e(stem) else "t")
    if infinitive.endswith("ieren") or inseparable(infinitive):
        return form
    return "ge" + form


def inseparable(infinitive: str) -> bool:
    """Whether a regular verb begins with an inseparable prefix: besuchen, not beten."""
    prefixed = re.match("(be|emp|ent|er|ge|ver|zer|über|unter|wieder|umarm)(.*)", infinitive)
    return bool(prefixed) and (
        prefixed[1] == "umarm" or bool(re.search("[aeiouäöü].*e", prefixed[2]))
    )


def takes_sein(infinitive: str) -> bool:
    """Whether the perfect is made with sein."""
    prefix, verb = base_verb(infinitive)
    return not prefix and principal_parts().get(verb, {}).get("auxiliary") == "s"


def imperative(infinitive: str, person: str) -> str:
    """The imperative for du, ihr or Sie; the pronoun Sie is part of it."""
    if infinitive == "sein":
        return {"du": "sei", "ihr": "seid", "Sie": "seien Sie"}[person]
    if person == "Sie":
        return f"{infinitive} Sie"
    if person == "ihr":
        return present(infinitive, "ihr")
    prefix, verb = base_verb(infinitive)
    third = principal_parts().get(verb, {}).get("present", "")
    if third and not re.search("ä", third) and verb not in ("haben", "werden"):
        return prefix + third[:-1]
    stem = stem_of(infinitive)
    if infinitive.endswith("eln"):
        return stem[:-2] + "le"
    longer = infinitive.endswith(("ern", "digen", "ieren"))
    return stem + ("e" if needs_e(stem) or longer else "")
