"""German word forms: nouns, determiners and adjectives in all cases, and the forms of verbs."""

import re
from dataclasses import dataclass
from functools import cache

from corpora.everyday.english_forms import with_s
from corpora.everyday.tables import read_table

GENDERS = "mfnp"  # masculine, feminine, neuter, plural
DEFINITE = {
    "nom": ("der", "die", "das", "die"),
    "acc": ("den", "die", "das", "die"),
    "dat": ("dem", "der", "dem", "den"),
    "gen": ("des", "der", "des", "der"),
}
EIN = {  # endings of ein, kein, mein, ...
    "nom": ("", "e", "", "e"),
    "acc": ("en", "e", "", "e"),
    "dat": ("em", "er", "em", "en"),
    "gen": ("es", "er", "es", "er"),
}
DIESER = {  # endings of dieser, jeder, welcher; also of an adjective without an article (strong)
    "nom": ("er", "e", "es", "e"),
    "acc": ("en", "e", "es", "e"),
    "dat": ("em", "er", "em", "en"),
    "gen": ("en", "er", "en", "er"),
}
WEAK = {  # of an adjective after der, dieser, ...
    "nom": ("e", "e", "e", "en"),
    "acc": ("en", "e", "e", "en"),
    "dat": ("en", "en", "en", "en"),
    "gen": ("en", "en", "en", "en"),
}
MIXED = {**WEAK, "nom": ("er", "e", "es", "en"), "acc": ("en", "e", "es", "en")}  # after ein
DIESER_WORDS = ("dies", "jed", "welch")
INVARIABLE = ("rosa", "lila", "orange")
UMLAUTS = {"a": "ä", "o": "ö", "u": "ü", "A": "Ä", "O": "Ö", "U": "Ü"}
INSEPARABLE = ("be", "emp", "ent", "er", "ge", "ver", "zer")
SIMPLE_PAST = ("sein", "haben", "wissen", "können", "müssen", "wollen", "dürfen", "sollen")
SEIN = {"ich": "bin", "du": "bist", "wir": "sind", "ihr": "seid", "sie_pl": "sind", "Sie": "sind"}
IRREGULAR_DU = {"hat": "hast", "wird": "wirst", "hält": "hältst"}
PLURAL = ("wir", "sie_pl", "Sie")  # the persons whose form is the infinitive


def inflect(determiner: str, case: str, gender: str) -> str:
    """The form of a determiner ("der", "ein", "kein", "mein", "dies", ...) in a case and gender."""
    column = GENDERS.index(gender)
    if determiner == "der":
        return DEFINITE[case][column]
    if determiner == "ein" and gender == "p":
        return ""
    table = DIESER if determiner in DIESER_WORDS else EIN
    ending = table[case][column]
    if determiner in DIESER_WORDS and case == "gen" and gender in "mn":
        ending = "es"
    stem = "eur" if determiner == "euer" and ending else determiner
    return stem + ending


def adjective_form(adjective: str, determiner: str, case: str, gender: str) -> str:
    """The form of an adjective after a determiner; after an empty one, the ending is strong."""
    if adjective in INVARIABLE:
        return adjective
    if not determiner or (determiner == "ein" and gender == "p"):
        table = DIESER
    else:
        table = WEAK if determiner in ("der", *DIESER_WORDS) else MIXED
    return adjective_stem(adjective) + table[case][GENDERS.index(gender)]


def adjective_stem(adjective: str) -> str:
    """The stem to which endings are added: dunkl for dunkel, teur for teuer, hoh for hoch."""
    if adjective == "hoch":
        return "hoh"
    if adjective.endswith("e"):
        return adjective[:-1]
    if adjective.endswith(("el", "auer", "euer")):
        return adjective[:-2] + adjective[-1]
    return adjective


def with_umlaut(word: str) -> str:
    """The word with an umlaut on its last a, o or u; au becomes äu."""
    for place in range(len(word) - 1, -1, -1):
        if word[place] in UMLAUTS:
            if word[place] == "u" and word[place - 1] in "aA" and place:
                place -= 1
            return word[:place] + UMLAUTS[word[place]] + word[place + 1 :]
    return word


@dataclass(frozen=True)
class Noun:
    """A noun in both languages.

    Args:
        english: The singular; for a noun that is always plural, the plural.
        english_plural: The plural; empty for a mass noun.
        german: The nominative singular.
        gender: m, f, n, or p if German has only the plural.
        german_plural: The nominative plural; empty if there is none.
        weak: The ending of a weak masculine noun in all cases but the nominative; else empty.
        classes: The semantic classes.
        always_plural: Whether English has only the plural: glasses, pants.
    """

    english: str
    english_plural: str
    german: str
    gender: str
    german_plural: str
    weak: str
    classes: frozenset[str]
    always_plural: bool = False

    def german_form(self, case: str, *, plural: bool) -> str:
        """The form of the noun in a case and number."""
        if plural or self.gender == "p":
            form = self.german if self.gender == "p" else self.german_plural
            return form + "n" if case == "dat" and not form.endswith(("n", "s")) else form
        if case != "nom" and self.weak:
            return self.german + self.weak
        if case == "gen" and self.gender in "mn":
            short = len(self.german) <= 5 and not self.german.endswith(("er", "el", "en", "a"))
            return self.german + ("es" if short else "s")
        return self.german

    @property
    def mass(self) -> bool:
        """Whether it has no plural in English."""
        return not self.english_plural


def german_plural(german: str, notation: str) -> str:
    """The plural from the notation of dictionaries: -e, ¨er, - (the same form), ~ (no plural)."""
    if notation == "~":
        return ""
    if notation.startswith("="):
        return notation[1:]
    if notation.startswith("¨"):
        return with_umlaut(german) + notation[1:]
    return german + notation[1:]


@cache
def nouns() -> tuple[Noun, ...]:
    """All nouns of the tables, and the occupations as nouns for people."""
    rows = [*read_table("nouns"), *occupations()]
    return tuple(noun_of(row) for row in rows)


def occupations() -> list[dict[str, str]]:
    """The occupations as rows of the table of nouns."""
    return [{**row, "plural": "+", "classes": "person job"} for row in read_table("jobs")]


def noun_of(row: dict[str, str]) -> Noun:
    """The noun that a row of the table describes."""
    english, german, notation = row["english"], row["german"], row["plural_german"]
    irregular = {"+": with_s(english), "~": "", "=": english}
    return Noun(
        english=english,
        english_plural=irregular.get(row["plural"], row["plural"]),
        german=german,
        gender=row["gender"][0],
        german_plural=german_plural(german, notation),
        weak=notation[1:] if row["gender"] == "mw" else "",
        classes=frozenset(row["classes"].split()),
        always_plural=row["plural"] == "=",
    )


@cache
def principal_parts() -> dict[str, dict[str, str]]:
    """The irregular verbs by their infinitive."""
    return {row["infinitive"]: row for row in read_table("german_verbs")}


def base_verb(infinitive: str) -> tuple[str, str]:
    """An inseparable prefix and the irregular verb after it: ver and stehen for verstehen."""
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
    """Whether the stem needs an e before an ending: arbeitet, öffnet, findet."""
    return bool(re.search("([td]|(ch|[^aeiouäöülrhmn])[nm])$", stem))


def present(infinitive: str, person: str) -> str:
    """The present tense; person is ich, du, er, sie, es, wir, ihr, sie_pl or Sie."""
    prefix, verb = base_verb(infinitive)
    third = principal_parts().get(verb, {}).get("present", "")
    if verb == "sein":
        return SEIN.get(person, "ist")
    if person in PLURAL:
        return infinitive
    return prefix + singular_or_ihr(verb, third, person)


def singular_or_ihr(verb: str, third: str, person: str) -> str:
    """The present tense of a verb without a prefix, for ich, du, er, sie, es and ihr."""
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
            return du_form(third, like_a_modal)
        ending = "t" if stem.endswith(("s", "ß", "z", "x")) else "st"
        return stem + ("e" if needs_e(stem) else "") + ending
    return third or stem + ("et" if needs_e(stem) else "t")


def du_form(third: str, like_a_modal: bool) -> str:
    """The form for du of a verb whose form for er is irregular."""
    if third in IRREGULAR_DU:
        return IRREGULAR_DU[third]
    if like_a_modal:
        return third + ("t" if third.endswith(("s", "ß")) else "st")
    return third if third.endswith("st") else third[:-1] + "st"


def past(infinitive: str, person: str) -> str:
    """The simple past of the verbs that use it in speech: war, hatte, konnte."""
    form = principal_parts()[infinitive]["past"]
    if person == "du":
        return form + "st"
    if person == "ihr":
        return form + "t"
    if person in PLURAL:
        return form + ("n" if form.endswith("e") else "en")
    return form


def finite(infinitive: str, person: str, tense: str) -> str:
    """The form in the tense "present" or "past"; möchten and könnten count as verbs."""
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
    """Whether the perfect is formed with sein."""
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
