"""Lesson 16: right answers pass, and each usual wrong answer is named."""

import numpy as np
import pytest
import torch

from tests.exercise_answers import checks_of, right_answers, wrong_answers
from transformer_course.asking.answer import AnswerError
from transformer_course.looking_inside import checks as lesson
from transformer_course.looking_inside.checks import TWO_HEADS

CHECKS = checks_of(lesson)


def rows_of(weights, lengths, step=1):
    return [
        weights[i, :, q, q + step]
        for i, length in enumerate(lengths)
        for q in range(length)
        if 0 <= q + step < length
    ]


def next_share(weights, lengths):
    return torch.stack(rows_of(weights, lengths)).mean(dim=0)


def by_diagonal(weights, lengths):
    cells = [weights[i, :, :n, :n].diagonal(1, -2, -1) for i, n in enumerate(lengths)]
    return torch.cat(cells, dim=-1).mean(dim=-1)


def with_zeros(weights, lengths):
    for row, length in enumerate(lengths):
        weights[row, :, length - 1 :] = 0
    return next_share(weights, lengths)


def by_token(weights, queries, keys):
    found = []
    for head in weights.tolist():
        by = [dict(zip(keys, row, strict=True)) for row in head]
        found.append([max(each, key=each.get) for each in by])
    return found


def two_by_hand(weights, queries, keys):
    return favourites(weights[:2], queries, keys)


def previous_share(weights, lengths):
    return torch.stack(rows_of(weights, lengths, -1)).mean(dim=0)


def same_share(weights, lengths):
    return torch.stack(rows_of(weights, lengths, 0)).mean(dim=0)


def padding_counts(weights, lengths):
    return next_share(weights, [max(lengths)] * len(lengths))


def mean_of_means(weights, lengths):
    means = [next_share(weights[i : i + 1], lengths[i : i + 1]) for i in range(len(lengths))]
    return torch.stack(means).mean(dim=0)


def last_row_counts(weights, lengths):
    return torch.stack(rows_of(weights, lengths)).sum(dim=0) / sum(lengths)


def no_mean(weights, lengths):
    return torch.stack(rows_of(weights, lengths)).sum(dim=0)


def one_number(weights, lengths):
    return next_share(weights, lengths).mean()


def favourites(weights, query_tokens, key_tokens):
    return [[key_tokens[key] for key in row] for row in weights.argmax(dim=-1).tolist()]


def by_query_token(weights, query_tokens, key_tokens):
    found = []
    for head in weights:
        best = {token: head[query_tokens.index(token)].argmax() for token in query_tokens}
        found.append([key_tokens[best[token]] for token in query_tokens])
    return found


def counting_down(weights, lengths):
    found = next_share(weights, lengths)
    for sentence in range(len(lengths)):
        lengths[sentence] -= 1
    return found


def published(weights, query_tokens, key_tokens):
    """The exercise's own faulty function."""
    places = weights.mean(dim=0).argmax(dim=0)
    return [query_tokens[place] for place in places]


def mean_of_heads(weights, query_tokens, key_tokens):
    return [key_tokens[place] for place in weights.mean(dim=0).argmax(dim=-1)]


def transposed(weights, query_tokens, key_tokens):
    return [[query_tokens[query] for query in row] for row in weights.argmax(dim=1).tolist()]


def transposed_with_keys(weights, query_tokens, key_tokens):
    return [[key_tokens[query] for query in row] for row in weights.argmax(dim=1).tolist()]


def places(weights, query_tokens, key_tokens):
    return weights.argmax(dim=-1)


def first_head_alone(weights, query_tokens, key_tokens):
    return favourites(weights[:1], query_tokens, key_tokens)


test_a_right_answer_is_correct = right_answers(
    CHECKS,
    [
        ("16.1", 1 / 3),
        ("16.1", 0.33),
        ("16.2", next_share),
        ("16.2", by_diagonal),
        ("16.3", favourites),
        ("16.3", lambda *given: tuple(map(tuple, favourites(*given)))),
        ("16.3", lambda *given: np.array(favourites(*given))),
        ("16.3", lambda *given: [np.array(head) for head in favourites(*given)]),
    ],
)

test_a_wrong_answer_gets_its_own_hint = wrong_answers(
    CHECKS,
    [
        ("16.1", 1 / 7, "does the causal mask hide"),
        ("16.1", 1 / 2, "attend to itself, too"),
        ("16.1", 1 / 4, r"may \*not\* attend"),
        ("16.1", 1 / 5, "The other way round"),
        ("16.1", 0, "the mask allows it"),
        ("16.1", 0.9, "get the same weight"),
        ("16.1", "a third", "is a number"),
        ("16.2", with_zeros, "changes the tensor that it gets"),
        ("16.2", previous_share, r"the token \*before\*"),
        ("16.2", same_share, "the token itself"),
        ("16.2", padding_counts, "are padding, and do not count"),
        ("16.2", mean_of_means, "must count the same"),
        ("16.2", last_row_counts, "has no next one"),
        ("16.2", no_mean, "That is the sum"),
        ("16.2", one_number, "keep the axis of the heads"),
        ("16.2", lambda w, n: float(one_number(w, n)), "keep the axis of the heads"),
        ("16.2", lambda w, n: next_share(w, n) + 0.1, "This is no mean of the right cells"),
        ("16.2", lambda w, n: next_share(w, n) * float("nan"), "NaN"),
        ("16.2", lambda w, n: w[0, 0], r"\(heads,\) = \(3,\); yours is \(6, 6\)"),
        ("16.2", 0.3, "The answer is a function"),
        ("16.2", lambda w, n: w[:, :, 99], "could not be used: IndexError"),
        ("16.3", by_token, "a token that stands twice"),
        ("16.3", by_query_token, "a token that stands twice"),
        ("16.2", counting_down, "changes the list that it gets"),
        ("16.3", two_by_hand, "With three heads"),
        ("16.3", published, "average the heads first"),
        ("16.3", mean_of_heads, "average the heads first"),
        ("16.3", transposed, "Transposed"),
        ("16.3", transposed_with_keys, "Transposed"),
        ("16.3", places, "Those are positions"),
        ("16.3", lambda w, q, k: [["a"] * 3] * 2, "Some favorites are wrong"),
        ("16.3", lambda w, q, k: "dog", "a list for each"),
        ("16.3", lambda *given: (head for head in favourites(*given)), "a list for each"),
        ("16.3", first_head_alone, "There are 2 heads"),
    ],
)


@pytest.mark.parametrize("number", ["16.2", "16.3"])
def test_an_answer_that_changes_what_it_is_given_is_refused(number):
    def changes(weights, *given):
        found = (next_share if number == "16.2" else favourites)(weights, *given)
        weights.zero_()
        return found

    with pytest.raises(AnswerError, match="changes the tensor that it gets"):
        CHECKS[number](changes)


@pytest.mark.parametrize(
    ("number", "wrong", "solution"),
    [
        ("16.2", lambda weights, lengths: weights.new_zeros(3), "query + 1]"),
        ("16.3", lambda weights, queries, keys: [["a"] * 3] * 2, "sleeping"),
    ],
)
def test_the_last_hint_does_not_show_the_solution(number, wrong, solution):
    with pytest.raises(AnswerError) as refused:
        CHECKS[number](wrong)
    assert solution not in str(refused.value)


def test_two_opposite_heads_are_hidden_by_their_mean():
    torch.testing.assert_close(TWO_HEADS.sum(dim=-1), torch.ones(2, 3))
    best = TWO_HEADS.argmax(dim=-1)
    mean = TWO_HEADS.mean(dim=0).argmax(dim=-1)
    assert not (best == mean).any(), "the mean must point where neither head looks most"
