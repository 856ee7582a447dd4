"""Texts that begin again, what a model makes of them, and the cells of both roles."""

import math

import pytest
import torch
from torch import nn

from transformer_course.circuits.repeats import (
    WORDS,
    Repeats,
    copy_accuracy,
    copying_model,
    held_out_texts,
    keys_after,
    keys_before,
    repeating_texts,
    train_on_repeats,
    word_losses,
)


class Oracle(nn.Module):
    """Predicts the word that followed the last earlier occurrence, or else word 0."""

    def forward(self, token_ids: torch.Tensor) -> torch.Tensor:
        found = torch.zeros(*token_ids.shape, len(WORDS))
        for text, row in enumerate(token_ids.tolist()):
            for place, word in enumerate(row):
                earlier = [k + 1 for k in range(place) if row[k] == word]
                found[text, place, row[earlier[-1]] if earlier else 0] = 20.0
        return found


def texts(**given) -> Repeats:
    return repeating_texts(50, luck=torch.Generator().manual_seed(3), **given)


@pytest.mark.parametrize(
    ("periods", "message"),
    [
        ((12, 4), "the most words of periods must be at least 12, got 4"),
        ((0, 3), "the fewest words of periods must be at least 1, got 0"),
        ((4, 40), "the most words of periods must be at most 32, got 40"),
    ],
)
def test_periods_that_no_text_has_are_refused(periods, message):
    with pytest.raises(ValueError, match=message):
        held_out_texts(periods=periods)


@pytest.mark.parametrize("periods", [8, (8,)])
def test_periods_are_two_numbers(periods):
    with pytest.raises(TypeError, match="periods must be two numbers, the fewest and the most"):
        held_out_texts(periods=periods)


def test_a_text_has_different_words_and_begins_again_after_its_period():
    for row, period in zip(*texts(), strict=True):
        row, period = row.tolist(), int(period)
        assert len(set(row[:period])) == period
        assert row[period:] == row[:-period]


def test_shuffled_texts_begin_alike_and_repeat_the_same_words_in_other_orders():
    plain, shuffled = texts(), texts(shuffled=True)
    assert plain.period.equal(shuffled.period)
    same = 0
    for row, other, period in zip(plain.token_ids, shuffled.token_ids, plain.period, strict=True):
        assert row[:period].equal(other[:period])
        assert set(other[period : 2 * period].tolist()) <= set(row[:period].tolist())
        assert len(set(other[period : 2 * period].tolist())) == len(other[period : 2 * period])
        same += row.equal(other)
    assert same <= 2


def test_a_model_that_looks_up_what_followed_copies_all_that_can_be_copied():
    assert copy_accuracy(Oracle(), texts()) == 1
    assert copy_accuracy(Oracle(), texts(shuffled=True)) < 0.3
    first, again = word_losses(Oracle(), texts())
    assert again < 0.01 < math.log(len(WORDS)) < first


def test_what_can_be_copied_begins_with_the_second_word_of_a_repetition():
    found = Repeats(torch.tensor([[3, 1, 4, 3, 1, 4]]), torch.tensor([3]))
    assert found.again.tolist() == [[False, False, False, True, True]]
    assert found.again.equal(keys_after(found.read).any(dim=-1))


def test_the_keys_of_both_roles():
    ids = torch.tensor([[3, 1, 4, 3, 1, 3]])
    after = {(q, k) for q, k in keys_after(ids)[0].nonzero().tolist()}
    assert after == {(3, 1), (4, 2), (5, 1), (5, 4)}
    before = {(q, k) for q, k in keys_before(ids)[0].nonzero().tolist()}
    assert before == {(q, q - 1) for q in range(1, 6)}


def test_held_out_texts_are_the_same_each_time_and_have_the_periods_asked_for():
    assert held_out_texts().token_ids.equal(held_out_texts().token_ids)
    assert set(held_out_texts(periods=(5, 6)).period.tolist()) == {5, 6}


def test_training_measures_before_the_first_step_and_after_each_and_lowers_the_loss():
    torch.manual_seed(0)
    model, seen = copying_model(num_layers=1), []
    losses = train_on_repeats(model, steps=30, seed=1, after_step=seen.append)
    assert seen == list(range(31)) and len(losses) == 30
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("num_layers", [1, 2])
def test_a_model_has_one_head_in_each_layer(num_layers):
    config = copying_model(num_layers=num_layers).config
    assert (config.num_layers, config.num_heads) == (num_layers, 1)
