"""Hypotheses are compared fairly, and the best of them remembered."""

import itertools
import math

import pytest

from transformer_edu.generation.hypotheses import (
    Finalists,
    Hypothesis,
    length_penalty,
    require_alpha,
)


def hypothesis(score: float, *token_ids: int) -> Hypothesis:
    return Hypothesis(token_ids=list(token_ids), score=score, log_probability=score, finished=True)


def test_one_token_is_never_penalised_and_without_alpha_nothing_is():
    assert [length_penalty(1, alpha) for alpha in (0, 0.6, 1, 2)] == [1, 1, 1, 1]
    assert [length_penalty(length, 0) for length in (1, 2, 50)] == [1, 1, 1]


def test_a_penalty_of_one_counts_in_sixths():
    assert [length_penalty(length, 1.0) * 6 for length in (1, 7, 13)] == [6, 12, 18]
    assert length_penalty(7, 2.0) == 4


def test_longer_hypotheses_and_larger_alphas_have_larger_penalties():
    for alpha in (0.1, 0.6, 1, 2):
        penalties = [length_penalty(length, alpha) for length in range(1, 60)]
        assert all(a < b for a, b in itertools.pairwise(penalties))
    assert length_penalty(9, 0.6) < length_penalty(9, 0.7)


def test_a_penalty_beyond_all_numbers_is_refused():
    with pytest.raises(ValueError, match="alpha must be smaller for hypotheses of 60 tokens, got"):
        length_penalty(60, 1e6)


@pytest.mark.parametrize("length", [-7, 0, 2.5, math.nan, True, "2", None])
def test_what_is_no_length_is_refused(length):
    wanted = "at least 1" if type(length) is int else "a whole number"
    with pytest.raises((TypeError, ValueError), match=f"length must be {wanted}, got {length!r}"):
        length_penalty(length, 0.6)


def test_the_best_are_kept_in_order_whatever_order_they_come_in():
    for scores in itertools.permutations([-4.0, -3.0, -2.0, -1.0]):
        finalists = Finalists(3)
        for score in scores:
            finalists.add(hypothesis(score))
        assert [each.score for each in finalists.hypotheses] == [-1.0, -2.0, -3.0]


def test_of_equal_scores_the_earlier_stays():
    finalists = Finalists(2)
    for token_id in (5, 6, 7):
        finalists.add(hypothesis(-1.0, token_id))
    assert [each.token_ids for each in finalists.hypotheses] == [[5], [6]]


def test_finalists_take_anything_until_they_are_full_and_then_only_what_is_better():
    finalists = Finalists(2)
    assert finalists.would_take(-math.inf)
    finalists.add(hypothesis(-1.0))
    assert finalists.would_take(-9.0)
    finalists.add(hypothesis(-2.0))
    assert finalists.would_take(-1.9)
    assert not finalists.would_take(-2.0)


@pytest.mark.parametrize("alpha", [0, 0.0, 0.6, 1, 2.5])
def test_numbers_from_zero_are_alphas(alpha):
    require_alpha(alpha)


@pytest.mark.parametrize(
    ("alpha", "error", "message"),
    [
        (-0.1, ValueError, "alpha must be a finite number of at least 0, got -0.1"),
        (math.nan, ValueError, "alpha must be a finite number of at least 0, got nan"),
        (math.inf, ValueError, "alpha must be a finite number of at least 0, got inf"),
        ("0.6", TypeError, "alpha must be a number, got '0.6'"),
        (None, TypeError, "alpha must be a number, got None"),
        (True, TypeError, "alpha must be a number, got True"),
    ],
)
def test_what_is_no_alpha_is_refused(alpha, error, message):
    with pytest.raises(error, match=message):
        require_alpha(alpha)
    with pytest.raises(error, match=message):
        length_penalty(7, alpha)
