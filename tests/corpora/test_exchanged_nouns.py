"""A noun is exchanged on both sides, for one that the rest of the sentence fits."""

from random import Random

import pytest

from corpora.everyday.exchanged_nouns import exchange_in, exchange_nouns, forms_in, put_noun
from corpora.everyday.german_forms import nouns
from corpora.everyday.pairs import phrases

DRAWS = 100


def others(*pair):
    """What becomes of a pair in many draws, without itself."""
    return {exchange_in(pair, Random(seed)) for seed in range(DRAWS)} - {pair}


def test_the_other_noun_has_the_same_gender_so_that_nothing_else_changes():
    gender = {noun.german: noun.gender for noun in nouns()}
    found = others("An old car stands here.", "Ein altes Auto steht hier.")
    assert len(found) > 3
    for english, german in found:
        assert english.split()[0] in ("A", "An") and english.endswith(" stands here.")
        word = german.removeprefix("Ein altes ").removesuffix(" steht hier.")
        assert gender[word] == "n" and word != "Auto"


def test_a_plural_is_exchanged_for_a_plural():
    plurals = {noun.english_plural: noun.german_plural for noun in nouns()}
    found = others("I like these apples.", "Ich mag diese Äpfel.")
    assert found
    for english, german in found:
        english, german = english[len("I like these ") : -1], german[len("Ich mag diese ") : -1]
        assert plurals[english] == german


@pytest.mark.parametrize(
    "pair",
    [
        ("He is in bed.", "Er ist im Bett."),  # no article: an idiom
        ("I know the boy.", "Ich kenne den Jungen."),  # weak: the form says the case
        ("That is the color of the car.", "Das ist die Farbe des Autos."),  # so does a genitive
        ("The bus stop is here.", "Die Bushaltestelle ist hier."),
        ("A dog is a dog.", "Ein Hund ist ein Hund."),
    ],
)
def test_nouns_whose_form_says_more_stay(pair):
    stays = {form.german for form in forms_in(*pair)} & {"Bett", "Junge", "Auto", "Bus", "Hund"}
    assert not stays


def test_the_article_and_the_capital_follow_the_noun():
    assert put_noun("An apple a day", "apple", "pear") == "A pear a day"
    assert put_noun("I see a pear.", "pear", "apple") == "I see an apple."
    assert put_noun("Apples are good.", "apples", "pears") == "Pears are good."


def test_as_many_as_asked_for_none_twice_and_none_that_is_kept_out():
    some = dict(list(phrases().items())[:2000])
    found = exchange_nouns(some, 500, Random(0), set())
    assert len(found) == 500 and not found.keys() & some.keys()
    kept_out = {english.lower().rstrip(".!?") for english in found}
    again = exchange_nouns(some, 500, Random(0), kept_out)
    assert not {english.lower().rstrip(".!?") for english in again} & kept_out
    with pytest.raises(ValueError, match="count must be at most 0, got 1"):
        exchange_nouns({"Yes.": "Ja."}, 1, Random(0), set())
