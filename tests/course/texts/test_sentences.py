"""The sample text is what the lesson says: pairs, all different, of letters and full stops."""

import unicodedata
from itertools import groupby

import pytest

from transformer_course.texts.sentences import FIRST_SENTENCES, SAMPLE_PAIRS, sentences_of


def test_there_are_160_pairs_and_no_sentence_comes_twice_in_a_language():
    assert len(SAMPLE_PAIRS) == 160
    for sentences in zip(*SAMPLE_PAIRS, strict=True):
        assert len({*sentences}) == 160


def test_a_pair_is_english_and_german():
    assert all(len(pair) == 2 for pair in SAMPLE_PAIRS)
    english, german = (" ".join(each) for each in zip(*SAMPLE_PAIRS, strict=True))
    assert english.isascii() and english.count("the ") > 100 > german.count("the ")
    assert {*"äöüßÄ"} <= {*german} and german.count("ie ") > 50


def test_a_sentence_is_words_with_one_space_between_and_a_full_stop():
    for sentence in (sentence for pair in SAMPLE_PAIRS for sentence in pair):
        words = sentence.removesuffix(".").split(" ")
        assert sentence.endswith(".") and sentence[0].isupper()
        assert all(word.isalpha() for word in words), sentence
        assert unicodedata.is_normalized("NFC", sentence)
        assert len(words) < 12


def test_the_first_picture_has_twelve_sentences_and_those_of_a_kind_stand_together():
    kinds, sentences = zip(*FIRST_SENTENCES, strict=True)
    assert len(set(sentences)) == len(sentences) == 12
    assert [*dict.fromkeys(kinds)] == [kind for kind, _ in groupby(kinds)]
    assert all(len(sentence.split()) <= 14 for sentence in sentences)


def test_the_sentences_of_pairs_stand_in_their_order():
    assert sentences_of([("a", "b"), ("c", "d")]) == ["a", "b", "c", "d"]
    with pytest.raises(ValueError, match=r"pairs must hold \(source, target\), got 'ab'"):
        sentences_of(["ab", "cd"])
