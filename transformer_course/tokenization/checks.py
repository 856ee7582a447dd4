"""Checks of lesson 14: tokenization."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from transformer_course.asking.answer import AnswerError, ask, exercise, require_untouched
from transformer_edu.data.tokenizer import Tokenizer

Pair = tuple[str, str]
# Words with their counts, what to learn from them, and the usual mistakes by what they learn. The
# most frequent pair is the only one every time, so that no rule for ties is needed.
COUNT = "A word that occurs 6 times adds 6 to each of its pairs: use its count."
TWICE = "'papa' contains p and a twice: count every place, not only different pairs."
KEPT = "After a merge 'abc' still occurs 5 times: keep every word's count."
AGAIN = "Merge the chosen pair in every word, then count again: 'he' becomes one piece."
EVERY_PLACE = "'papa' contains p and a twice: merge both places."
WHOLE_PIECES = "The pieces 'hi' and 'n' are not 'i' and 'n': compare whole pieces, not the text."
TO_LEARN: tuple[tuple[dict[str, int], list[Pair], dict[tuple[Pair, ...], str]], ...] = (
    ({"in": 6, "sat": 1, "hat": 1}, [("i", "n")], {(("a", "t"),): COUNT}),
    ({"papa": 2, "on": 3}, [("p", "a")], {(("o", "n"),): TWICE}),
    (
        {"the": 5, "he": 2},
        [("h", "e"), ("t", "he")],
        {(("h", "e"), ("h", "e")): AGAIN, (("h", "e"), ("t", "h")): AGAIN},
    ),
    (
        {"papa": 3},
        [("p", "a"), ("pa", "pa")],
        {(("p", "a"), ("pa", "p")): EVERY_PLACE, (("p", "a"), ("p", "a")): EVERY_PLACE},
    ),
    (
        {"hi": 9, "in": 4, "hin": 2},
        [("h", "i"), ("i", "n"), ("hi", "n")],
        {(("h", "i"), ("i", "n")): WHOLE_PIECES},
    ),
    (
        {"abc": 5, "ab": 1, "xy": 3, "xyz": 1},
        [("a", "b"), ("ab", "c")],
        {(("a", "b"), ("x", "y")): KEPT},
    ),
    ({"aaa": 2}, [("a", "a"), ("aa", "a")], {}),
    # A piece that begins or ends with the wanted one, the same left piece again, a full stop.
    ({"ba": 5, "bab": 3, "ab": 4}, [("b", "a"), ("a", "b"), ("ba", "b")], {}),
    ({"baba": 2, "bab": 8}, [("b", "a"), ("ba", "b"), ("ba", "ba")], {}),
    ({"bbba": 6, "baba": 7}, [("b", "a"), ("ba", "ba")], {}),
    ({"b.": 8, "ba": 5}, [("b", "."), ("b", "a")], {}),
)
# Made so that the order of the merges decides, and not where they stand or how long they are.
# "uvw" becomes "uv" and "w", which are not the pair "u" and "vw".
MERGES = (("b", "c"), ("a", "b"), ("d", "e"), ("c", "d"), ("a", "bc"), ("x", "x"), ("de", "f"))
MERGES += (("q", "."), ("u", "v"), ("v", "w"), ("u", "vw"))
WORDS = ("abc", "abd", "bcd", "cde", "abcde", "bcbc", "xxx", "xxxx", "cdef", "q")
WORDS += ("aab", "q.", "qx", "uvw")
SHORTEST_TEXT, TOKENS_PER_CHARACTER = 10, 3


@exercise("14.1")
def check_learn_merges(answer: Callable[[dict[tuple[str, ...], int], int], list[Pair]]) -> None:
    """Exercise 14.1: learn merges from words and their counts."""
    for words, expected, mistakes in TO_LEARN:
        merges = _learned(answer, words, len(expected))
        if merges == expected:
            continue
        if hint := mistakes.get(tuple(merges)):
            raise AnswerError(f"From the words {words}: {hint}")
        raise AnswerError(f"The words {words} give {expected}; your merges are {merges}.")
    try:
        merges = _learned(answer, {"ab": 1}, 3)
    except (ValueError, IndexError):
        raise AnswerError("When no pair is left, stop: there is nothing to choose from.") from None
    if merges != [("a", "b")]:
        only = "The word 'ab', which comes once, gives exactly one merge"
        raise AnswerError(f"{only}; your merges are {merges}.")


def _learned(answer: Callable, words: Mapping[str, int], num_merges: int) -> list[Pair]:
    """What the learner's function learns, as a list of pairs."""
    counts = {tuple(word): count for word, count in words.items()}
    handed = dict(counts)
    merges = ask(answer, handed, num_merges)
    require_untouched([handed], [counts])
    if not isinstance(merges, Sequence) or isinstance(merges, str):
        raise AnswerError(f"Return a list of pairs; yours is {type(merges).__name__}.")
    for merge in merges:
        if isinstance(merge, str) or not isinstance(merge, Iterable) or len(tuple(merge)) != 2:
            raise AnswerError(f"A merge is a pair such as ('i', 'n'); yours is {merge!r}.")
    return [tuple(merge) for merge in merges]


@exercise("14.2")
def check_encode_in_order(answer: Callable[[str, list[Pair]], Sequence[str]]) -> None:
    """Exercise 14.2: a word's pieces, by the merges in the order in which they were learned."""
    found = [_pieces(answer, word) for word in WORDS]
    mistakes = {
        "You merge the first known pair from the left. Of two pairs, merge the one that was "
        "learned earlier: the order of the merges decides, not the place.": _leftmost,
        "You begin with the merge that was learned last. Begin with the first one: later merges "
        "merge what earlier ones have made.": lambda word: _in_order(word, MERGES[::-1]),
    }
    for hint, mistaken in mistakes.items():
        if found == [mistaken(word) for word in WORDS]:
            raise AnswerError(hint)
    for word, pieces in zip(WORDS, found, strict=True):
        expected = _in_order(word, MERGES)
        if len(pieces) > len(expected):
            raise AnswerError(f"In {word!r} there is a pair left to merge: {pieces}.")
        if pieces != expected and sorted(pieces) == sorted(expected):
            raise AnswerError(f"{word!r} became {pieces}: walk from left to right.")
        if pieces != expected:
            raise AnswerError(
                f"{word!r} became {pieces}: of the pairs in the word, merge the one that "
                "comes first in merges, and repeat."
            )


def _pieces(answer: Callable, word: str) -> list[str]:
    """The learner's pieces of a word, which spell it."""
    handed = list(MERGES)
    pieces = ask(answer, word, handed)
    require_untouched([handed], [list(MERGES)])
    if isinstance(pieces, str) or not isinstance(pieces, Sequence):
        raise AnswerError(f"Return a list of pieces; yours is {type(pieces).__name__}.")
    if "".join(pieces) != word:
        raise AnswerError(f"The pieces of {word!r} must spell the word; yours are {pieces}.")
    return list(pieces)


def _in_order(word: str, merges: Sequence[Pair]) -> list[str]:
    """The pieces if every merge in turn is made wherever it can be."""
    pieces = list(word)
    for left, right in merges:
        position = 0
        while position < len(pieces) - 1:
            if (pieces[position], pieces[position + 1]) == (left, right):
                pieces[position : position + 2] = [left + right]
            position += 1
    return pieces


def _leftmost(word: str) -> list[str]:
    """The pieces if the first known pair from the left is joined, as in the exercise."""
    pieces = list(word)
    position = 0
    while position < len(pieces) - 1:
        if (pieces[position], pieces[position + 1]) in MERGES:
            pieces[position : position + 2] = [pieces[position] + pieces[position + 1]]
            position = 0
        else:
            position += 1
    return pieces


@exercise("14.3")
def check_costly_text(answer: str, *, tokenizer: Tokenizer) -> None:
    """Exercise 14.3: a text with at least three tokens for each character."""
    if not isinstance(answer, str):
        raise AnswerError(f"The answer is a text; yours is {type(answer).__name__}.")
    if len(answer) < SHORTEST_TEXT:
        raise AnswerError(f"At least {SHORTEST_TEXT} characters; yours has {len(answer)}.")
    count = len(tokenizer.encode(answer))
    if count >= TOKENS_PER_CHARACTER * len(answer):
        return
    said = f"{len(answer)} characters became {count} tokens."
    if answer.isascii():
        raise AnswerError(f"{said} Each of your characters is a single byte.")
    if len(answer.encode()) < TOKENS_PER_CHARACTER * len(answer):
        raise AnswerError(f"{said} You need characters of three or four bytes, and only those.")
    raise AnswerError(f"{said} The tokenizer has merged some of these bytes: try another script.")
