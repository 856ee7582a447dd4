"""Token batches hold every pair once, and no more tokens than allowed."""

import pytest
import torch

from transformer_edu.model.vocabulary import END_ID, PADDING_ID
from transformer_edu.training.batches import make_batch
from transformer_edu.training.tasks import Pair
from transformer_edu.training.token_batches import plan_token_batches

# The first number of a source names it. Lengths from 1 to 40, the longer the rarer.
LENGTHS = [1 + (i * i) % 41 * (i % 7) // 6 for i in range(600)]
PAIRS = [([i, *[4] * (n % 13)], [i] * n) for i, n in enumerate(LENGTHS, start=100)]


def batches_of(tokens: int, seed: int = 0, pairs: list[Pair] = PAIRS):
    return batches_drawn_by(torch.Generator().manual_seed(seed), tokens, pairs)


def batches_drawn_by(generator: torch.Generator, tokens: int, pairs: list[Pair] = PAIRS):
    plan = plan_token_batches(pairs, tokens=tokens, generator=generator)
    return [make_batch([pairs[row] for row in rows]) for rows in plan]


def test_every_pair_comes_once_an_epoch_and_stays_together():
    for tokens in (1, 50, 128, 10**6):
        found = []
        for batch in batches_of(tokens):
            for source, labels in zip(batch.source_ids, batch.label_ids, strict=True):
                real = [token for token in labels.tolist() if token != PADDING_ID]
                assert real.pop() == END_ID
                found.append(([token for token in source.tolist() if token != PADDING_ID], real))
        assert sorted(found) == sorted(PAIRS)


def test_no_batch_holds_more_tokens_than_allowed_padding_included():
    for batch in batches_of(128):
        assert batch.label_ids.numel() <= 128
        assert batch.source_ids.numel() <= 128


def test_a_pair_that_is_longer_is_a_batch_of_its_own():
    for batch in batches_of(20):
        assert len(batch) == 1 or batch.label_ids.numel() <= 20
    assert {len(batch) for batch in batches_of(1)} == {1}


def test_batches_are_as_full_as_they_can_be():
    sizes = [batch.label_ids.numel() for batch in batches_of(128)]
    assert sum(sizes) / len(sizes) > 0.75 * 128
    assert len(batches_of(10**6)) == 1


def test_pairs_of_similar_length_stand_together():
    batches = batches_of(256)
    padding = sum((batch.label_ids == PADDING_ID).sum().item() for batch in batches)
    assert padding < 0.1 * sum(LENGTHS)


def test_the_seed_decides_the_order_and_every_epoch_has_another():
    def names(batches):
        return [batch.source_ids[:, 0].tolist() for batch in batches]

    assert names(batches_of(128, seed=1)) == names(batches_of(128, seed=1))
    assert names(batches_of(128, seed=1)) != names(batches_of(128, seed=2))
    generator = torch.Generator().manual_seed(1)
    first, second = (batches_drawn_by(generator, 128) for _ in "12")
    assert names(first) != names(second)


def test_short_and_long_batches_take_turns():
    lengths = [batch.label_ids.size(1) for batch in batches_of(128)]
    assert lengths not in (sorted(lengths), sorted(lengths, reverse=True))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: batches_of(0), ValueError, "tokens must be at least 1, got 0"),
        (lambda: batches_of(2.5), TypeError, "tokens must be a whole number, got 2.5"),
        (lambda: batches_of(9, pairs=[]), ValueError, "pairs must hold at least one pair, got"),
    ],
    ids=range(3),
)
def test_what_makes_no_batch_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
