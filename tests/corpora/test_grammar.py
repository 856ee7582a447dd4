"""What the grammar generates is German and English that agree."""

import re
from functools import cache
from random import Random

import pytest

from corpora.everyday import pairs
from corpora.everyday.german_forms import adjective_form, inflect, nouns, participle
from corpora.everyday.pairs import all_names, generate, phrases, words
from corpora.everyday.tables import FOLDER, read_table

# The last letter that marks case and gender (m, f, n, plural): der, die, das, die; den, die, ...
SIGNALS = {"nom": "rese", "acc": "nese", "dat": "mrmn"}
FIRST = {"bin", "kann", "muss", "will", "darf", "mag", "war", "weiß", "werde", "soll"}
THIRD = {"ist", "kann", "muss", "will", "darf", "mag", "war", "weiß", "wird", "soll"} | {
    "konnte", "wusste", "durfte", "musste", "wollte", "möchte", "sollte", "hatte",
}  # fmt: skip
COUNT = 30_000


@cache
def generated():
    return generate(Random(0), COUNT, {})


@cache
def everything():
    """The sentences of the grammar, the phrases and the words; phrases may be freer."""
    return list((generated() | phrases() | words()).items())


def test_the_same_seed_gives_the_same_sentences_and_another_gives_others():
    once, again, other = (list(generate(Random(seed), 50, {}).items()) for seed in (5, 5, 6))
    assert once == again
    assert once != other


def test_words_and_phrases_do_not_count():
    fixed = dict(list(generated().items())[:10])
    assert list(generate(Random(0), 20, fixed)) == list(generated())[:30]


def test_more_sentences_than_the_templates_have_are_refused(monkeypatch):
    monkeypatch.setattr(pairs, "GROUPS", [(1, {lambda rng: ("Yes.", "Ja."): 1})])
    with pytest.raises(ValueError, match="count must be at most about 1, got 2"):
        generate(Random(0), 2, {})


def test_single_words_are_there_with_and_without_an_article():
    found = words()
    assert (found["dog"], found["the dog"], found["a dog"]) == ("Hund", "der Hund", "ein Hund")
    assert (found["dogs"], found["the scissors"]) == ("Hunde", "die Schere")
    assert "a water" not in found and found["water"] == "Wasser"
    assert (found["to go"], found["small"]) == ("gehen", "klein")


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.tsv")), ids=lambda path: path.stem)
def test_a_table_is_utf_8_without_odd_spaces(path):
    content = path.read_bytes().decode("utf-8")
    assert content.encode("utf-8") == path.read_bytes()
    rows = [line for line in content.split("\n") if line and not line.startswith("#")]
    assert not [row for row in rows if "  " in row or " \t" in row or "\t " in row]
    assert len(set(rows)) == len(rows)


def test_sentences_use_the_letters_and_marks_of_both_languages_alone():
    used = {letter for pair in everything() for side in pair for letter in side}
    assert not {c for c in used if not c.isalnum()} - set(" .,:;!?'’-")
    assert {c for c in used if not c.isascii()} <= set("äöüÄÖÜßéş’")


def test_every_word_of_the_tables_is_used():
    english = "\n".join(pair[0] for pair in everything()).lower()
    german = "\n".join(pair[1] for pair in everything())
    missing = []
    for table in ("nouns", "jobs", "adjectives", "countries", "places", "times", "adverbs"):
        for row in read_table(table):
            name = row.get("english", row.get("at", ""))
            if name.lower() not in english:
                missing.append((table, name))
    for row in read_table("people"):
        if row["name"] not in german:
            missing.append(("people", row["name"]))
    for row in read_table("nouns"):
        if row["german"] not in german:
            missing.append(("nouns", row["german"]))
    assert not missing


def test_every_verb_phrase_of_the_tables_is_used():
    english = "\n".join(pair[0] for pair in everything())
    missing = []
    for row in read_table("actions"):
        ending = re.escape(row["english"].partition(" ")[2]).replace("one's", r"\w+")
        ending = ending.replace("oneself", r"\w+")
        if not re.search(ending, english):
            missing.append(row["english"])
    words = {word.strip(".!?,") for pair in everything() for word in pair[1].split()}
    for row in read_table("verbs"):
        prefix, _, verb = row["german"].split()[-1].rpartition("|")
        if not {prefix + verb, prefix + participle(verb)} & words:
            missing.append(row["german"])
    assert not missing


@cache
def possible_articles():
    """For each noun's form, the articles that can stand before it, by an independent rule."""
    found = {}
    for noun in nouns():
        singular, column = noun.gender != "p", "mfnp".index(noun.gender)
        for case, signals in SIGNALS.items():
            if singular:
                form = noun.german + (noun.weak if case != "nom" else "")
                found.setdefault(form, set()).add((signals[column], "mfn"[column], case))
            plural = noun.german if noun.gender == "p" else noun.german_plural
            if plural:
                needs_n = case == "dat" and plural[-1] not in "ns"
                found.setdefault(plural + "n" * needs_n, set()).add((signals[3], "p", case))
    return found


def test_articles_agree_with_gender_and_case_of_their_nouns():
    wrong, checked = set(), 0
    pattern = re.compile(
        r"(?<!, )\b([dD](?:er|ie|as|en|em)|(?:[kKmMdDsS]?[eE]in)(?:e[nmrs]?)?) (\w+)\b"
    )
    for _, german in everything():
        for article, noun in pattern.findall(german):
            if noun not in possible_articles() or noun in ("Uhr", "Armen"):  # um ein Uhr; the poor
                continue
            checked += 1
            options = possible_articles()[noun]
            stem = article.lower()
            if stem.endswith("ein"):  # no ending: nominative masculine, or neuter
                good = any(
                    (gender, case) in {("m", "nom"), ("n", "nom"), ("n", "acc")}
                    for _, gender, case in options
                )
            else:
                good = stem[-1] in {signal for signal, _, _ in options}
            if not good and not genitive(stem, noun):
                wrong.add((article, noun))
    assert checked > COUNT / 2
    assert not wrong


def genitive(article, noun):
    """Whether it may be a genitive, as in das Auto meines Vaters, das Auto meiner Mutter."""
    return article.endswith(("er", "es")) and noun.endswith(("s", "r", "e", "n", "l"))


def test_adjectives_carry_the_signal_that_their_article_does_not():
    for case, signals in SIGNALS.items():
        for gender, signal in zip("mfnp", signals, strict=True):
            for determiner in ("der", "ein", "kein", "mein", "dies", ""):
                word = inflect(determiner, case, gender) if determiner else ""
                adjective = adjective_form("klein", determiner, case, gender)
                bare = word in ("", "ein", "kein", "mein")
                if bare:
                    assert adjective == "klein" + ("e" + signal).replace("ee", "e")
                else:
                    assert word[-1] == signal
                    plain = case == "nom" or (case == "acc" and gender in "fn")
                    assert adjective == ("kleine" if plain and gender != "p" else "kleinen")


def agrees(pronoun, verb):
    """Whether a finite verb's ending fits a pronoun, by ending alone."""
    if pronoun == "ich":
        return verb.endswith("e") or verb in FIRST
    if pronoun == "du":
        return verb.endswith(("st", "ßt", "zt"))
    if pronoun in ("er", "es"):
        return verb.endswith("t") or verb in THIRD
    return verb.endswith("n") or verb == "sind"


def test_the_verb_stands_second_in_statements_and_agrees_with_the_subject():
    wrong, checked, fixed = [], 0, phrases()
    for english, german in everything():
        found = english not in fixed and re.match(r"(Ich|Du|Er|Wir) (\w+)\b(?!,)", german)
        if found and german.endswith("."):
            checked += 1
            if not agrees(found[1].lower(), found[2]):
                wrong.append(german)
    assert checked > COUNT / 10
    assert not wrong


def test_two_people_are_the_subject_of_a_verb_in_the_plural():
    fixed, name = phrases(), f"(?:{'|'.join(all_names())})"
    begin = re.compile(rf"(?:{name}|Meine? \w+) und {name} (\w+)")
    found = [begin.match(german) for english, german in everything() if english not in fixed]
    verbs = [match[1] for match in found if match]
    assert len(verbs) > COUNT / 300
    assert not [verb for verb in verbs if verb in FIRST | THIRD or not agrees("they", verb)]


def test_the_verb_stands_last_in_subordinate_clauses_and_agrees_with_the_subject():
    wrong, checked = [], 0
    for german in generated().values():
        found = re.search(
            r", (?:weil|dass|ob|wenn|warum) (ich|du|er|wir) (?:.* )?(\w+)[.?]$", german
        )
        if found and "," not in found[0][2:]:
            checked += 1
            if not agrees(found[1], found[2].removeprefix("ab").removeprefix("zu")):
                wrong.append(german)
    assert checked > COUNT / 60
    assert not wrong


def test_the_verb_stands_first_in_questions_to_du_and_agrees_with_it():
    asked = [g for g in generated().values() if re.match(r"\w+ du .*\?$", g)]
    assert len(asked) > COUNT / 40
    assert not [g for g in asked if not agrees("du", g.split()[0].lower())]


def test_english_verbs_agree_with_he_she_and_it():
    bare = re.compile(r"^(?:He|She|It) (?:am|are|have|do|don't|go|want|need|like|see)\b")
    assert not [english for english, _ in everything() if bare.match(english)]
    third = re.compile(r"^(?:I|You|We|They) (?:is|has|does|doesn't|goes|wants|needs|likes|sees)\b")
    assert not [english for english, _ in everything() if third.match(english)]


def test_a_and_an_follow_the_first_sound():
    wrong = re.compile(r"\b(?:a [aeio]|an [bcdfgjklmnpqrstvwxyz])(?!ne)")
    assert not [e for e, _ in everything() if wrong.search(re.sub("a [Ee]uro", "", e))]


def test_sentences_begin_with_a_capital_and_end_with_the_same_mark():
    for english, german in everything():
        if words().get(english) == german:
            continue
        assert english[0].isupper() or english[0].isdigit()
        assert german[0].isupper() or german[0].isdigit()
        assert english[-1] in ".!?"
        assert german[-1] in ".!?"
        assert "  " not in english + german


def test_formal_address_is_sie_with_a_capital():
    for english, german in everything():
        if re.match(r"(Mr\.|Ms\.) \w+, |Excuse me, (can|could|do|did) you", english):
            assert re.search(r"\b(Sie|Ihnen)\b", german), german
            assert not re.search(r"\b(du|dich|dir|deine?[mnrs]?)\b", german), german
