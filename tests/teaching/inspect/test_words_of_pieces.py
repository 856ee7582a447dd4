"""Pieces make the words that a reader knows, and the attention between pieces theirs."""

import pytest
import torch

from transformer_edu.teaching.inspect.words_of_pieces import group_pieces, join_pieces, spell_word
from transformer_edu.teaching.texts.sentences import CAPTION_PAIRS
from transformer_edu.training.data.tokenizer import train_tokenizer

HEADS = 2
WEIGHTS = torch.full((HEADS, 3, 4), 1 / 4)
ROWS, COLUMNS = [[b"a"], [b"b", b"c"]], [[b"v", b"w"], [b"x", b"y"]]


@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        ([b" The", b" book", b"sh", b"op", b"."], ["The", "bookshop", "."]),
        ([b" Stra", b"\xc3", b"\x9f", b"en", b"bahn"], ["Straßenbahn"]),
        ([b" ", b"r", b"ed", b" ", b"(", b"7"], ["red", "(", "7"]),
        ([b" e", b"-", b"mail", b",", b" please", b"!"], ["e", "-", "mail", ",", "please", "!"]),
        ([b"lich", b" x"], ["lich", "x"]),
        ([b" a", b"", b"b", b"\xc3"], ["a", "", "b\ufffd"]),
        ([b" a", b"b-", b"c"], ["ab-", "c"]),
        ([b" a", b"\t", b" b"], ["a", "\t", "b"]),
        ([], []),
    ],
    ids=[
        "full stop",
        "eszett",
        "lone spaces",
        "signs",
        "no space first",
        "no bytes",
        "sign at the end",
        "tab",
        "none",
    ],
)
def test_pieces_make_words_and_punctuation_stands_alone(pieces, words):
    grouped = group_pieces(pieces)
    assert [spell_word(word) for word in grouped] == words
    assert [piece for word in grouped for piece in word] == pieces


def test_every_caption_has_its_words():
    texts = [text for pair in CAPTION_PAIRS for text in pair]
    tokenizer = train_tokenizer(texts, vocabulary_size=400)
    for text in texts:
        pieces = [tokenizer.pieces[token_id] for token_id in tokenizer.encode(text)]
        words = [spell_word(word) for word in group_pieces(pieces)]
        assert words == text.replace(",", " ,").replace(".", " .").split()


def test_rows_are_means_and_columns_sums_so_rows_still_sum_to_one():
    weights = torch.rand(HEADS, 4, 5).softmax(dim=-1)
    joined = join_pieces(weights, [[b"a"], [b"b", b"c"], [b""]], [[b"x", b"y", b"z"], [b"v", b"w"]])
    assert joined.shape == (HEADS, 3, 2)
    torch.testing.assert_close(joined[:, 1, 0], weights[:, 1:3, :3].sum(dim=2).mean(dim=1))
    torch.testing.assert_close(joined[:, 2, 1], weights[:, 3, 3:].sum(dim=1))
    torch.testing.assert_close(joined.sum(dim=-1), torch.ones(HEADS, 3))
