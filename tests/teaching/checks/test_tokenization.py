"""Lesson 14: right answers pass, and each usual wrong answer is named."""

from tests.exercise_answers import checks_of, right_answers, wrong_answers
from transformer_edu.teaching.checks import tokenization as lesson_13

CHECKS = checks_of(lesson_13)


def text_of(ids, pieces):
    return b"".join(pieces[i] for i in ids).decode(errors="replace").removeprefix(" ")


def piece_by_piece(ids, pieces):
    return "".join(pieces[i].decode(errors="replace") for i in ids).removeprefix(" ")


def keeps_the_space(ids, pieces):
    return b"".join(pieces[i] for i in ids).decode(errors="replace")


def strips(ids, pieces):
    return keeps_the_space(ids, pieces).strip()


def strips_on_the_left(ids, pieces):
    return keeps_the_space(ids, pieces).lstrip()


def ignores(ids, pieces):
    return b"".join(pieces[i] for i in ids).decode(errors="ignore").removeprefix(" ")


def strict(ids, pieces):
    return b"".join(pieces[i] for i in ids).decode().removeprefix(" ")


def still_bytes(ids, pieces):
    return b"".join(pieces[i] for i in ids)


def encode_in_order(word, merges):
    pieces = list(word)
    for left, right in merges:
        position = 0
        while position < len(pieces) - 1:
            if (pieces[position], pieces[position + 1]) == (left, right):
                pieces[position : position + 2] = [left + right]
            position += 1
    return pieces


def earliest_first(word, merges):
    """Another right way: the earliest merge of those that are possible, one place at a time."""
    pieces = list(word)
    while True:
        pairs = list(zip(pieces, pieces[1:], strict=False))
        known = [merges.index(pair) for pair in pairs if pair in merges]
        if not known:
            return tuple(pieces)
        position = pairs.index(merges[min(known)])
        pieces[position : position + 2] = ["".join(pairs[position])]


def leftmost(word, merges):
    pieces, position = list(word), 0
    while position < len(pieces) - 1:
        if (pieces[position], pieces[position + 1]) in merges:
            pieces[position : position + 2] = [pieces[position] + pieces[position + 1]]
            position = 0
        else:
            position += 1
    return pieces


def only_the_first_place(word, merges):
    pieces = list(word)
    for left, right in merges:
        for position in range(len(pieces) - 1):
            if (pieces[position], pieces[position + 1]) == (left, right):
                pieces[position : position + 2] = [left + right]
                break
    return pieces


def from_the_last_merge(word, merges):
    return encode_in_order(word, merges[::-1])


def from_the_right(word, merges):
    mirrored = [(right[::-1], left[::-1]) for left, right in merges]
    return [piece[::-1] for piece in encode_in_order(word[::-1], mirrored)][::-1]


test_a_right_answer_is_correct = right_answers(
    CHECKS,
    [
        ("14.1", 36_740),
        ("14.1", 36_740.0),
        ("14.2", text_of),
        ("14.3", encode_in_order),
        ("14.3", earliest_first),
    ],
)

test_a_wrong_answer_gets_its_own_hint = wrong_answers(
    CHECKS,
    [
        ("14.1", 37_000, "which ids existed before"),
        ("14.1", 36_744, "bytes are counted"),
        ("14.1", 36_996, "special tokens are counted"),
        ("14.1", 36_743, "four special ids"),
        ("14.1", 36_741, "from 0 to 255"),
        ("14.1", 37_260, "subtract"),
        ("14.1", 12, "Each merge makes one id"),
        ("14.1", "many", "whole number"),
        ("14.1", True, "whole number"),
        ("14.2", piece_by_piece, "half a character"),
        ("14.2", keeps_the_space, "first space was added"),
        ("14.2", strips, "all others belong to the text"),
        ("14.2", strips_on_the_left, "all others belong to the text"),
        ("14.2", ignores, "become U\\+FFFD"),
        ("14.2", strict, "UnicodeDecodeError"),
        ("14.2", still_bytes, "Return a text; yours is bytes"),
        ("14.2", lambda ids, pieces: "grün", "it should be"),
        ("14.3", leftmost, "'abc' became .'ab', 'c'.: of two known pairs"),
        ("14.3", only_the_first_place, "In 'bcbc' there is a pair left to join"),
        ("14.3", from_the_last_merge, "order of merges decides"),
        ("14.3", from_the_right, "walk from left to right"),
        ("14.3", lambda word, merges: list(word), "a pair left to join"),
        ("14.3", lambda word, merges: [word], "'abd' became .'abd'.: of the pairs"),
        ("14.3", lambda word, merges: word, "Return a list of pieces; yours is str"),
        ("14.3", lambda word, merges: [], "must join to the word"),
    ],
)
