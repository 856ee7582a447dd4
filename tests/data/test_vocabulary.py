"""Words and ids belong together, and no word can pose as a special token."""

import pytest

from transformer_edu.data.vocabulary import Vocabulary, Words
from transformer_edu.model.special_ids import END_ID, PADDING_ID, START_ID, UNKNOWN_ID

WORDS = ["drei", "hundert", "drei", "zwei"]


def test_words_come_back_from_their_ids():
    vocabulary = Vocabulary(WORDS)
    assert vocabulary.decode(vocabulary.encode(WORDS)) == WORDS


def test_ids_follow_the_order_of_words_behind_the_special_tokens():
    vocabulary = Vocabulary(WORDS)
    assert vocabulary.encode(["drei", "hundert", "zwei"]) == [4, 5, 6]
    assert len(vocabulary) == 7
    assert vocabulary.decode([PADDING_ID, START_ID, END_ID, UNKNOWN_ID]) == [
        "<pad>",
        "<s>",
        "</s>",
        "<unk>",
    ]


def test_a_word_never_seen_is_unknown():
    assert Vocabulary(WORDS).encode(["vier", "zwei"]) == [UNKNOWN_ID, 6]


def test_a_word_spelled_like_a_special_token_is_only_unknown():
    assert Vocabulary(WORDS).encode(["</s>", "<pad>", "<s>"]) == [UNKNOWN_ID] * 3


def test_a_vocabulary_without_words_has_the_special_tokens():
    assert len(Vocabulary([])) == 4


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        ("drei", TypeError, "words must be several texts, got 'drei'"),
        (["drei", 3], TypeError, "words must be text, got 3"),
        (["</s>"], ValueError, "words must not be spelled like a special token, got '</s>'"),
    ],
)
def test_words_that_cannot_be_a_vocabulary_are_refused(words, error, message):
    with pytest.raises(error, match=message):
        Vocabulary(words)


def test_a_text_that_was_not_split_is_refused():
    with pytest.raises(TypeError, match="words must be several texts, got 'drei hundert'"):
        Vocabulary(WORDS).encode("drei hundert")


@pytest.mark.parametrize(
    ("token_id", "error", "message"),
    [
        (7, ValueError, "token_ids must be at most 6, got 7"),
        (-1, ValueError, "token_ids must be at least 0, got -1"),
        (1.0, TypeError, "token_ids must be a whole number, got 1.0"),
    ],
)
def test_an_id_outside_the_vocabulary_is_refused(token_id, error, message):
    with pytest.raises(error, match=message):
        Vocabulary(WORDS).decode([4, token_id])


def test_words_stand_between_spaces():
    words = Words(Vocabulary(["one", "two"]))
    assert words.encode("  two one zwei ") == [5, 4, 3]
    assert words.decode([5, 4]) == "two one"
    assert len(words) == 6
