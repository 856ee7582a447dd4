"""Checks of lesson 14: tokenization."""

from collections.abc import Callable, Sequence

from transformer_edu.model.vocabulary import END_ID, PADDING_ID, SPECIAL_TOKENS, START_ID
from transformer_edu.teaching.checks.answer import (
    AnswerError,
    ask,
    exercise,
    refuse_numbers,
    require_number,
)

PAPERS_VOCABULARY, NUM_BYTES, NUM_SPECIAL = 37_000, 256, len(SPECIAL_TOKENS)
PIECES = (
    *[b""] * NUM_SPECIAL,
    *(b" ", b"g", b"r", b"\xc3", b"\xbc", b"\xb6", b"n", b"\n"),  # 4 to 11; C3 BC is ü
    *(b" gr", b"\xbcn", b"\xc3\xb6"),  # 12 to 14
)
# Ids and their text: whole pieces, halves of a character, a frame, spaces at both ends.
WRITTEN = (
    ([12, 7, 8, 10], "grün"),
    ([12, 7, 13], "grün"),
    ([START_ID, 12, 14, 10, END_ID, PADDING_ID, PADDING_ID], "grön"),
    ([4, 4, 5, 4, 11], " g \n"),
    ([5, 6], "gr"),
    ([4, 7], "\ufffd"),
    ([], ""),
)
# Made so that the order of the merges decides, and not where they stand or how long they are.
MERGES = (("b", "c"), ("a", "b"), ("d", "e"), ("c", "d"), ("a", "bc"), ("x", "x"), ("de", "f"))
WORDS = {
    "abc": ("abc",),
    "abd": ("ab", "d"),
    "cde": ("c", "de"),
    "abcde": ("abc", "de"),
    "bcbc": ("bc", "bc"),
    "xxx": ("xx", "x"),
    "xxxx": ("xx", "xx"),
    "cdef": ("c", "def"),
    "q": ("q",),
}


@exercise("14.1")
def check_num_merges(answer: object) -> None:
    """Exercise 14.1: how many merges a vocabulary of the paper's size holds."""
    right = PAPERS_VOCABULARY - NUM_BYTES - NUM_SPECIAL
    hints = {
        PAPERS_VOCABULARY: "Not every id was made by a merge: which ids existed before?",
        right + NUM_SPECIAL: "The bytes are counted. Which ids come before them?",
        right + NUM_BYTES: "The special tokens are counted. From which pieces do merges start?",
        right + NUM_SPECIAL - 1: "There are four special ids, 0 to 3.",
        right + 1: "Nearly. Special ids run from 0 to 3, bytes from 0 to 255: how many is that?",
        PAPERS_VOCABULARY + NUM_BYTES + NUM_SPECIAL: "The 37,000 contain all of them: subtract.",
    }
    answer = require_number(answer, whole=True)
    refuse_numbers(answer, hints)
    if answer != right:
        raise AnswerError("Each merge makes one id. How many ids existed before the first merge?")


@exercise("14.2")
def check_text_of(answer: Callable[[list[int], tuple[bytes, ...]], str]) -> None:
    """Exercise 14.2: the text of token ids, whose pieces may be half a character."""
    for ids, expected in WRITTEN:
        text = ask(answer, list(ids), PIECES)
        if not isinstance(text, str):
            raise AnswerError(f"Return a text; yours is {type(text).__name__}.")
        if text != expected:
            raise AnswerError(f"For the ids {ids}: {_what_is_wrong(ids, text, expected)}")


def _what_is_wrong(ids: Sequence[int], text: str, expected: str) -> str:
    """The usual mistakes of decoding, by what they give."""
    apart = "".join(PIECES[i].decode(errors="replace") for i in ids).removeprefix(" ")
    hints = {
        f" {expected}": "the first space was added before encoding, so remove it.",
        apart: "a piece may be half a character. First put all bytes together, then decode them.",
        expected.strip(): "one space was added in front; all others belong to the text.",
        expected.lstrip(): "one space was added in front; all others belong to the text.",
        expected.replace("\ufffd", ""): "bytes that are no text become U+FFFD: errors='replace'.",
    }
    return hints.get(text, f"it should be {expected!r}, yours is {text!r}.")


@exercise("14.3")
def check_encode_in_order(
    answer: Callable[[str, list[tuple[str, str]]], Sequence[str]],
) -> None:
    """Exercise 14.3: a word's pieces, by the merges in the order in which they were learned."""
    for word, expected in WORDS.items():
        pieces = ask(answer, word, list(MERGES))
        if isinstance(pieces, str) or not isinstance(pieces, Sequence):
            raise AnswerError(f"Return a list of pieces; yours is {type(pieces).__name__}.")
        if "".join(pieces) != word:
            raise AnswerError(f"The pieces of {word!r} must join to the word; yours are {pieces}.")
        if tuple(pieces) == _leftmost(word) != expected:
            raise AnswerError(
                f"{word!r} became {list(pieces)}: of two known pairs, one was learned earlier, and "
                "you joined the other. The order of merges decides, not the place."
            )
        if len(pieces) > len(expected):
            raise AnswerError(f"In {word!r} there is a pair left to join: {list(pieces)}.")
        if tuple(pieces) != expected:
            if sorted(pieces) == sorted(expected):
                raise AnswerError(f"{word!r} became {list(pieces)}: walk from left to right.")
            raise AnswerError(
                f"{word!r} became {list(pieces)}: of the pairs in the word, join the one that "
                "comes first in merges, and repeat."
            )


def _leftmost(word: str) -> tuple[str, ...]:
    """The pieces if the first known pair from the left is joined, as in the exercise."""
    pieces = list(word)
    position = 0
    while position < len(pieces) - 1:
        if (pieces[position], pieces[position + 1]) in MERGES:
            pieces[position : position + 2] = [pieces[position] + pieces[position + 1]]
            position = 0
        else:
            position += 1
    return tuple(pieces)
