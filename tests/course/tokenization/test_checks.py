"""Lesson 14: right answers pass, and each usual wrong answer is named."""

import re
from collections import Counter
from functools import partial, reduce
from itertools import pairwise

import pytest

from tests.exercise_answers import checks_of, right_answers, wrong_answers
from transformer_course.asking.answer import AnswerError
from transformer_course.tokenization import checks as tokenization
from transformer_edu.data.tokenizer import Tokenizer

CHECKS = checks_of(tokenization)
LETTERS = Tokenizer([])
CHECKS["14.3"] = partial(CHECKS["14.3"], tokenizer=LETTERS)


def counted(words, *, weigh=True, once=False):
    pairs = Counter()
    for word, times in words.items():
        found = list(pairwise(word))
        for pair in dict.fromkeys(found) if once else found:
            pairs[pair] += times if weigh else 1
    return pairs


def joined(word, pair, *, places=99):
    pieces, position = [], 0
    while position < len(word):
        if word[position : position + 2] == pair and places:
            pieces.append(pair[0] + pair[1])
            position, places = position + 2, places - 1
        else:
            pieces.append(word[position])
            position += 1
    return tuple(pieces)


def replaced(word, pair):
    return tuple(" ".join(word).replace(" ".join(pair), "".join(pair)).split())


def replaced_after_a_space(word, pair):
    return tuple((" " + " ".join(word)).replace(" " + " ".join(pair), " " + "".join(pair)).split())


def replaced_before_a_space(word, pair):
    return tuple((" ".join(word) + " ").replace(" ".join(pair) + " ", "".join(pair) + " ").split())


def replaced_between_spaces(word, pair):
    text = f" {' '.join(word)} "
    return tuple(text.replace(f" {' '.join(pair)} ", f" {''.join(pair)} ").split())


def by_index(word, pair):
    pieces = list(word)
    while pair[0] in pieces[:-1] and pieces[pieces.index(pair[0]) + 1] == pair[1]:
        place = pieces.index(pair[0])
        pieces[place : place + 2] = ["".join(pair)]
    return tuple(pieces)


def by_pattern(word, pair):
    pattern = rf"(?<!\S){' '.join(pair)}(?!\S)"
    return tuple(re.sub(pattern, "".join(pair), " ".join(word)).split())


def learner(count=counted, join=joined, *, stop=True, rarest=1, keep=True, as_pair=tuple):
    def learn_merges(words, num_merges):
        merges = []
        for _ in range(num_merges):
            pairs = count(words)
            if (not pairs and stop) or max(pairs.values()) < rarest:
                break
            best = max(pairs, key=pairs.get)
            merges.append(as_pair(best))
            words = {join(word, best): times if keep else 1 for word, times in words.items()}
        return merges

    return learn_merges


def in_place(words, num_merges):
    merges = []
    for _ in range(num_merges):
        pairs = counted(words)
        if not pairs:
            break
        merges.append(max(pairs, key=pairs.get))
        for word in list(words):
            words[joined(word, merges[-1])] = words.pop(word)
    return merges


def emptying(word, merges):
    pieces = tuple(word)
    while merges:
        pieces = joined(pieces, merges.pop(0))
    return list(pieces)


def at_once(words, num_merges):
    return [pair for pair, _ in counted(words).most_common(num_merges)]


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
        pairs = list(pairwise(pieces))
        known = [merges.index(pair) for pair in pairs if pair in merges]
        if not known:
            return tuple(pieces)
        position = pairs.index(merges[min(known)])
        pieces[position : position + 2] = ["".join(pairs[position])]


def by_the_text(word, merges):
    """The earliest merge that makes the two pieces' text, whatever its own two are."""
    pieces, texts = list(word), ["".join(pair) for pair in merges]
    while known := [one + other for one, other in pairwise(pieces) if one + other in texts]:
        text = min(known, key=texts.index)
        place = [one + other for one, other in pairwise(pieces)].index(text)
        pieces[place : place + 2] = [text]
    return pieces


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
        ("14.1", learner()),
        ("14.1", learner(as_pair=list)),
        ("14.2", encode_in_order),
        ("14.2", earliest_first),
        ("14.3", "기타를 치는 남자🎸🎸🎸🎸"),
        ("14.3", "🎸" * 10),
    ],
)

test_a_wrong_answer_gets_its_own_hint = wrong_answers(
    CHECKS,
    [
        ("14.1", learner(partial(counted, weigh=False)), "use its count"),
        ("14.1", learner(partial(counted, once=True)), "count every place"),
        ("14.1", learner(join=lambda word, pair: word), "then count again"),
        ("14.1", at_once, "then count again"),
        ("14.1", in_place, "changes the dictionary"),
        ("14.1", learner(keep=False), "keep every word's count"),
        ("14.1", learner(join=partial(joined, places=1)), "merge both places"),
        ("14.1", learner(join=replaced), "compare whole pieces"),
        ("14.1", learner(rarest=2), "which comes once, gives exactly one merge"),
        ("14.1", learner(stop=False), "When no pair is left"),
        ("14.1", learner(as_pair="".join), "A merge is a pair"),
        ("14.1", lambda words, num_merges: 3, "a list of pairs; yours is int"),
        ("14.1", lambda words, num_merges: [("q", "q")] * num_merges, "The words .* give"),
        ("14.1", learner(join=replaced_after_a_space), "The words .* give"),
        ("14.1", learner(join=replaced_before_a_space), "compare whole pieces"),
        ("14.1", learner(join=replaced_between_spaces), "merge both places"),
        ("14.1", learner(join=by_index), "The words .* give"),
        ("14.1", learner(join=by_pattern), "The words .* give"),
        ("14.2", by_the_text, "'uvw' became"),
        ("14.2", lambda word, merges: reduce(by_index, merges, word), "'aab' there is a pair left"),
        ("14.2", lambda word, merges: reduce(by_pattern, merges, word), "must spell the word"),
        ("14.2", emptying, "changes the list that it gets"),
        ("14.2", leftmost, "not the place"),
        ("14.2", only_the_first_place, "In 'bcbc' there is a pair left to merge"),
        ("14.2", from_the_last_merge, "Begin with the first one"),
        ("14.2", from_the_right, "walk from left to right"),
        ("14.2", lambda word, merges: list(word), "a pair left to merge"),
        ("14.2", lambda word, merges: [word], "'abd' became .'abd'.: of the pairs"),
        ("14.2", lambda word, merges: word, "Return a list of pieces; yours is str"),
        ("14.2", lambda word, merges: [], "must spell the word"),
        ("14.3", 3, "is a text; yours is int"),
        ("14.3", "🎸", "At least 10 characters; yours has 1"),
        ("14.3", "A man is playing the guitar.", "single byte"),
        ("14.3", "Straße und Bürgersteig", "three or four bytes"),
    ],
)


def test_bytes_that_the_tokenizer_merges_cost_less():
    merged = Tokenizer([(b"\xf0", b"\x9f"), (b"\xf0\x9f", b"\x8e"), (b"\xf0\x9f\x8e", b"\xb8")])
    with pytest.raises(AnswerError, match="try another script"):
        tokenization.check_costly_text("🎸" * 10, tokenizer=merged)
