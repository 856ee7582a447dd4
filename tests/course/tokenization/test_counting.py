"""Tokens and vocabularies are counted as one would by hand."""

import pytest

from transformer_course.tokenization.counting import count_tokens, ids_of, vocabulary_growth
from transformer_edu.data.tokenizer import Tokenizer

TOKENIZER = Tokenizer([(b"i", b"n")])


def test_tokens_of_all_texts_are_counted():
    assert count_tokens(TOKENIZER, ["in", "inn"]) == 2 + 3  # a space stands before each word


def test_the_ids_of_texts_are_those_of_any_of_them():
    assert ids_of(TOKENIZER, ["in", "n"]) == {*TOKENIZER.encode("in"), *TOKENIZER.encode("n")}
    assert ids_of(TOKENIZER, []) == set()


def test_a_vocabulary_grows_by_what_only_the_last_twenty_pairs_have():
    pairs = [("a b", "x")] * 3 + [("a", "y")] * 19 + [("c d", "x y")]
    growth = vocabulary_growth(pairs, str.split)
    assert growth == {"English words": (4, 2), "German words": (2, 1), "characters": (3, 2)}


def test_too_few_pairs_have_no_last_ones():
    with pytest.raises(ValueError, match="pairs must be more than 20, got 20"):
        vocabulary_growth([("a", "b")] * 20, str.split)
