"""Checks of lesson 16: what heads do."""

import math
from collections.abc import Callable, Sequence
from numbers import Real

import numpy as np
import torch
from torch import Tensor

from transformer_course.asking.answer import (
    AnswerError,
    ask,
    close,
    exercise,
    refuse_mistakes,
    refuse_numbers,
    require_number,
    require_shape,
    require_untouched,
)

READ, ATTENDING = 7, 3  # tokens that the decoder read, and the one that attends, counted from 1
LENGTHS = (6, 3)  # of two sentences, padded to the longer
NUM_HEADS = 3
QUERY_TOKENS = ("ein", "Hund", "schläft")
KEY_TOKENS = ("a", "dog", "is", "sleeping")
# The first head attends to the word's partner, the second the other way round; their mean is
# largest where neither has its maximum.
TWO_HEADS = torch.tensor(
    [
        [[0.6, 0.0, 0.4, 0.0], [0.0, 0.6, 0.4, 0.0], [0.1, 0.0, 0.4, 0.5]],
        [[0.0, 0.0, 0.4, 0.6], [0.6, 0.0, 0.4, 0.0], [0.6, 0.0, 0.4, 0.0]],
    ],
    device="cpu",
)


@exercise("16.1")
def check_uniform_weight(answer: float) -> None:
    """Exercise 16.1: what a uniform head of the decoder's self-attention gives to one token."""
    answer = require_number(answer)
    hints = {
        1 / READ: "Uniform over the allowed keys. Which of the seven does the causal mask hide?",
        1 / (ATTENDING - 1): "A token may attend to itself, too, not only to earlier tokens.",
        1 / (READ - ATTENDING): "Those are the tokens that it may *not* attend to.",
        1
        / (
            READ - ATTENDING + 1
        ): "The other way round: it attends to itself and to *earlier* tokens.",
        0.0: "The first token comes before the third, so the mask allows it.",
    }
    if abs(answer - 1 / ATTENDING) <= 0.01:
        return
    refuse_numbers(answer, hints, within=0.01)
    raise AnswerError("A row of weights sums to one; here all allowed keys get the same weight.")


@exercise("16.2")
def check_next_share(answer: Callable[[Tensor, Sequence[int]], Tensor]) -> None:
    """Exercise 16.2: the share of every head on the token that comes next."""
    weights = _some_weights()
    given = [weights.clone(), list(LENGTHS)]
    shares = ask(answer, *given)
    require_untouched(given, [weights, list(LENGTHS)])
    if isinstance(shares, Tensor) and shares.dim() == 0 or isinstance(shares, Real):
        raise AnswerError("Every head gets its own number: keep the axis of the heads.")
    shares = require_shape(shares, (NUM_HEADS,), "(heads,)")
    if close(shares, _mean_of_rows(weights, LENGTHS, 1)):
        return
    refuse_mistakes(shares, {hint: wrong for wrong, hint in _usual_shares(weights)})
    raise AnswerError(
        "This is no mean of the right cells. Print which (query, key) pairs you use for a sentence "
        "of length 3: there should be two, and each key is one more than its query."
    )


def _usual_shares(weights: Tensor) -> list[tuple[Tensor, str]]:
    """What the usual mistakes give, each with its hint."""
    longest = [max(LENGTHS)] * len(LENGTHS)
    rows = sum(LENGTHS) - len(LENGTHS)  # the last token of a sentence has no next one
    right = _mean_of_rows(weights, LENGTHS, 1)
    apart = [_mean_of_rows(weights[i : i + 1], LENGTHS[i : i + 1], 1) for i in range(len(LENGTHS))]
    return [
        (
            _mean_of_rows(weights, LENGTHS, -1),
            "That is the token *before*. Rows are queries, columns are keys: query q attends to "
            "key q + 1.",
        ),
        (_mean_of_rows(weights, LENGTHS, 0), "That is the token itself: the key is q + 1."),
        (
            _mean_of_rows(weights, longest, 1),
            "The second sentence is shorter: its rows beyond that are padding, and do not count.",
        ),
        (
            sum(apart) / len(apart),
            "That is a mean of the sentences' means, in which a row of a short sentence counts "
            "more. Every row must count the same.",
        ),
        (
            right * rows / sum(LENGTHS),
            "The last token of a sentence has no next one: do not divide by its row.",
        ),
        (right * rows, "That is the sum. A share is the mean of the rows."),
    ]


@exercise("16.3")
def check_largest_weights(answer: Callable[..., list[list[str]]]) -> None:
    """Exercise 16.3: for every head, the token that each query attends to most."""
    given = [TWO_HEADS.clone(), list(QUERY_TOKENS), list(KEY_TOKENS)]
    found = ask(answer, *given)
    require_untouched(given, [TWO_HEADS, list(QUERY_TOKENS), list(KEY_TOKENS)])
    right = _names(TWO_HEADS.argmax(dim=2), KEY_TOKENS)
    if _as_lists(found) == right:
        three, twice = torch.cat([TWO_HEADS, TWO_HEADS[:1]]), ("a", "dog", "is", "a")
        found = ask(answer, three.clone(), ["ein", "ein", "Hund"], list(twice))
        if _as_lists(found) != _names(three.argmax(dim=2), twice):
            raise AnswerError(
                "Right for two heads and tokens that all differ. With three heads, and a token "
                "that stands twice, some favorites are wrong: take any number of heads, and look "
                "for places, not for tokens."
            )
        return
    mean = TWO_HEADS.mean(dim=0)
    across = _names(TWO_HEADS.argmax(dim=1), QUERY_TOKENS)
    places = TWO_HEADS.argmax(dim=1)
    hints = [
        (
            [_names(mean.argmax(dim=1), KEY_TOKENS), _names(mean.argmax(dim=0), QUERY_TOKENS)],
            "You average the heads first. These two attend in opposite directions, and their mean "
            "is largest where neither has its maximum. Keep the heads apart.",
        ),
        (
            [across, _names(places, KEY_TOKENS)],
            "Transposed: that is, for each *key*, the query that attends to it most. Rows are "
            "queries, so take the largest number along the last axis.",
        ),
        (
            [TWO_HEADS.argmax(dim=2).tolist()],
            "Those are positions; the answer is the tokens at these positions.",
        ),
    ]
    for wrongs, hint in hints:
        if _as_lists(found) in wrongs:
            raise AnswerError(hint)
    if not isinstance(_as_lists(found), list) or len(_as_lists(found)) != len(right):
        raise AnswerError(f"There are {len(right)} heads: the answer has a list for each.")
    raise AnswerError(
        "Some favorites are wrong. Take one row of one head by hand: where is its largest weight, "
        "and which key token is there?"
    )


def _some_weights() -> Tensor:
    """Weights of two sentences as a model would have them, rows of padding included."""
    generator = torch.Generator().manual_seed(0)
    longest = max(LENGTHS)
    scores = 2 * torch.randn(len(LENGTHS), NUM_HEADS, longest, longest, generator=generator)
    for sentence, length in enumerate(LENGTHS):
        scores[sentence, :, :, length:] = -math.inf
    return scores.softmax(dim=-1)


def _mean_of_rows(weights: Tensor, lengths: Sequence[int], offset: int) -> Tensor:
    """The mean weight on the key that is offset places on, over every query that has one."""
    rows = [
        weights[sentence, :, query, query + offset]
        for sentence, length in enumerate(lengths)
        for query in range(max(0, -offset), length - max(0, offset))
    ]
    return torch.stack(rows).mean(dim=0)


def _names(places: Tensor, tokens: Sequence[str]) -> list:
    """The tokens at these places, in lists like the tensor's."""
    if places.dim() > 1:
        return [_names(row, tokens) for row in places]
    return [tokens[int(place)] for place in places]


def _as_lists(found: object) -> object:
    """Tuples, arrays and tensors as lists, all the way down."""
    if isinstance(found, Tensor | np.ndarray):
        return found.tolist()
    return [_as_lists(each) for each in found] if isinstance(found, list | tuple) else found
