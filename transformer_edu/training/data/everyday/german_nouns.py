"""German nouns and what stands before them: articles, possessives, adjectives, in all cases."""

from dataclasses import dataclass
from functools import cache

from transformer_edu.training.data.everyday.english_forms import with_s
from transformer_edu.training.data.everyday.tables import read_table

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
WEAK = {  # of an adjective behind der, dieser, ...
    "nom": ("e", "e", "e", "en"),
    "acc": ("en", "e", "e", "en"),
    "dat": ("en", "en", "en", "en"),
    "gen": ("en", "en", "en", "en"),
}
MIXED = {**WEAK, "nom": ("er", "e", "es", "en"), "acc": ("en", "e", "es", "en")}  # behind ein
DIESER_WORDS = ("dies", "jed", "welch")
INVARIABLE = ("rosa", "lila", "orange")
UMLAUTS = {"a": "ä", "o": "ö", "u": "ü", "A": "Ä", "O": "Ö", "U": "Ü"}


def inflect(determiner: str, case: str, gender: str) -> str:
    """A determiner's form: "der", "ein", "kein", "mein", "dies", ... for a case and a gender."""
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
    """An adjective's form behind a determiner; an empty determiner asks for the strong ending."""
    if adjective in INVARIABLE:
        return adjective
    if not determiner or (determiner == "ein" and gender == "p"):
        table = DIESER
    else:
        table = WEAK if determiner in ("der", *DIESER_WORDS) else MIXED
    return adjective_stem(adjective) + table[case][GENDERS.index(gender)]


def adjective_stem(adjective: str) -> str:
    """What endings are put behind: dunkel becomes dunkl, teuer teur, hoch hoh, müde müd."""
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
        gender: m, f, n, or p where German has the plural only.
        german_plural: The nominative plural; empty if there is none.
        weak: The ending of a weak masculine noun outside the nominative, else empty.
        classes: The semantic classes.
        always_plural: Whether English has the plural only: glasses, pants.
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
        """The noun's form in a case and number."""
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
        """Whether English has no plural."""
        return not self.english_plural


def german_plural(german: str, notation: str) -> str:
    """The plural that a dictionary's notation stands for: -e, ¨er, - (the same), ~ (none)."""
    if notation == "~":
        return ""
    if notation.startswith("="):
        return notation[1:]
    if notation.startswith("¨"):
        return with_umlaut(german) + notation[1:]
    return german + notation[1:]


@cache
def nouns() -> tuple[Noun, ...]:
    """All nouns of the tables, the occupations among them as persons."""
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
