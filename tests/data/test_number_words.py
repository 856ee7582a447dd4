"""Number words are what another library says, and can be read back."""

import random

import pytest
from num2words import num2words

from transformer_edu.data.number_words import (
    ENGLISH_WORDS,
    GERMAN_WORDS,
    english_words,
    german_words,
)

SAMPLE = [*range(1, 2001), *random.Random(0).sample(range(2001, 1_000_000), 2000), 999_999]
EDGES = [1000, 1001, 1016, 10_000, 21_000, 100_000, 100_001, 101_000, 101_101, 900_090, 999_999]

# What each word is worth, said by the other library.
WORTH = {num2words(n): n for n in (*range(1, 20), *range(20, 100, 10))}
GERMAN_WORTH = {num2words(n, lang="de"): n for n in WORTH.values()} | {"ein": 1}


def read_english(words: list[str]) -> int:
    """The number that English words mean."""
    total = group = 0
    for word in words:
        if word == "thousand":
            total, group = group * 1000, 0
        elif word == "hundred":
            group *= 100
        else:
            group += WORTH[word]
    return total + group


def read_german(words: list[str]) -> int:
    """The number that German words mean."""
    total = group = 0
    for word in words:
        if word == "tausend":
            total, group = group * 1000, 0
        elif word == "hundert":
            group *= 100
        elif word != "und":
            group += GERMAN_WORTH[word]
    return total + group


def test_342_is_said_as_the_lesson_says_it():
    assert english_words(342) == ["three", "hundred", "forty", "two"]
    assert german_words(342) == ["drei", "hundert", "zwei", "und", "vierzig"]


def test_one_is_eins_at_the_end_and_ein_before_another_word():
    for number, words in {
        1: "eins",
        21: "ein und zwanzig",
        100: "ein hundert",
        101: "ein hundert eins",
        1000: "ein tausend",
        1001: "ein tausend eins",
        21_000: "ein und zwanzig tausend",
        101_000: "ein hundert ein tausend",
    }.items():
        assert " ".join(german_words(number)) == words


@pytest.mark.parametrize("numbers", [SAMPLE, EDGES])
def test_english_agrees_with_num2words(numbers):
    for number in numbers:
        said = num2words(number).replace("-", " ").replace(",", "").replace(" and ", " ")
        assert " ".join(english_words(number)) == said


@pytest.mark.parametrize("numbers", [SAMPLE, EDGES])
def test_german_agrees_with_num2words(numbers):
    for number in numbers:
        # num2words says einhunderteinstausend for 101,000; the Duden has einhunderteintausend.
        said = num2words(number, lang="de").replace("einstausend", "eintausend")
        assert "".join(german_words(number)) == said


def test_both_languages_can_be_read_back():
    for number in [*SAMPLE, *EDGES]:
        assert read_english(english_words(number)) == number
        assert read_german(german_words(number)) == number


def test_the_lists_of_words_are_the_words_that_are_said():
    assert {word for n in SAMPLE for word in english_words(n)} == set(ENGLISH_WORDS)
    assert {word for n in SAMPLE for word in german_words(n)} == set(GERMAN_WORDS)


@pytest.mark.parametrize("say", [english_words, german_words])
@pytest.mark.parametrize(
    ("number", "error", "message"),
    [
        (0, ValueError, "number must be at least 1, got 0"),
        (-3, ValueError, "number must be at least 1, got -3"),
        (1_000_000, ValueError, "number must be at most 999,999, got 1,000,000"),
        (2.5, TypeError, "number must be a whole number, got 2.5"),
        ("342", TypeError, "number must be a whole number, got '342'"),
        (True, TypeError, "number must be a whole number, got True"),
    ],
)
def test_what_cannot_be_said_is_refused(say, number, error, message):
    with pytest.raises(error, match=message):
        say(number)
