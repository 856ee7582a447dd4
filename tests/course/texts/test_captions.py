"""The captions are plain sentences in two languages, and their words are paired truly."""

import re

import pytest

from transformer_course.texts.sentences import (
    ALL_PAIRS,
    CAPTION_PAIRS,
    SAMPLE_PAIRS,
    UNDISPUTED,
    number_of,
)


def words(text):
    return re.findall(r"\w+", text)


def test_every_caption_is_one_sentence_in_two_languages():
    assert len(CAPTION_PAIRS) == 24
    for pair in CAPTION_PAIRS:
        assert len(pair) == 2
        for text in pair:
            assert text == text.strip() and text[0].isupper()
            assert text.endswith(".") and text.count(".") == 1


def test_english_comes_first():
    english, german = (
        {word for text in texts for word in words(text)}
        for texts in zip(*CAPTION_PAIRS, strict=True)
    )
    assert {"the", "is", "a"} <= english and {"ein", "einem", "und"} & german
    assert not {"the", "is"} & german


def test_no_caption_comes_twice_or_stands_in_the_other_text():
    english = [english for english, _ in CAPTION_PAIRS]
    assert len(set(english)) == len(english)
    assert not set(english) & {text for text, _ in SAMPLE_PAIRS}


def test_words_that_belong_together_stand_in_the_same_captions():
    for german_word, english_word in UNDISPUTED.items():
        together = [
            (english_word in words(english), german_word in words(german))
            for english, german in CAPTION_PAIRS
        ]
        assert (True, True) in together, f"{english_word} and {german_word} never meet"


def test_a_sentence_of_another_text_has_no_number():
    assert number_of(ALL_PAIRS[7][0]) == 7
    with pytest.raises(ValueError, match="one of the sentences in ALL_PAIRS, got 'A cat sleeps.'"):
        number_of("A cat sleeps.")
