"""Batches hold every pair once, padded no more than needed, shifted by one."""

import pytest
import torch

from transformer_edu.data.batches import epoch, make_batch, pad, plan_batches, plan_token_batches
from transformer_edu.data.toy_tasks import Pair, Task
from transformer_edu.data.vocabulary import Vocabulary
from transformer_edu.model.special_ids import END_ID, PADDING_ID, START_ID
from transformer_edu.training.evaluation import evaluate, exact_matches

# The first number of a source names it, so that pairs can be told apart after padding.
PAIRS = [([i, *range(4, 4 + i % 5)], [i] * (1 + i % 7)) for i in range(100, 203)]
# Target lengths from 1 to 40, the longer the rarer.
LENGTHS = [1 + (i * i) % 41 * (i % 7) // 6 for i in range(600)]
LONG_PAIRS = [([i, *[4] * (n % 13)], [i] * n) for i, n in enumerate(LENGTHS, start=100)]


def batches_of(pairs: list[Pair], *, generator: int | torch.Generator = 0, **size: int):
    """The batches of an epoch, counted in pairs (batch_size) or in tokens."""
    if isinstance(generator, int):
        generator = torch.Generator().manual_seed(generator)
    plan = plan_batches if "batch_size" in size else plan_token_batches
    planned = plan(pairs, generator=generator, **size)
    return [make_batch([pairs[row] for row in rows]) for rows in planned]


def one_epoch(batch_size: int = 8, pairs=PAIRS, skip: int = 0):
    generator = torch.Generator().manual_seed(0)
    return list(epoch(pairs, batch_size=batch_size, generator=generator, skip=skip))


def real(row: torch.Tensor) -> list[int]:
    return [token for token in row.tolist() if token != PADDING_ID]


def test_decoder_input_and_labels_are_one_apart():
    batch = make_batch([([5, 6], [7, 8, 9]), ([5], [7]), ([5], [])])
    assert batch.source_ids.tolist() == [[5, 6], [5, PADDING_ID], [5, PADDING_ID]]
    start, end = START_ID, END_ID
    assert batch.decoder_input_ids.tolist() == [
        [start, 7, 8, 9],
        [start, 7, 0, 0],
        [start, 0, 0, 0],
    ]
    assert batch.label_ids.tolist() == [[7, 8, 9, end], [7, end, 0, 0], [end, 0, 0, 0]]
    assert len(batch) == 3


@pytest.mark.parametrize(
    ("pairs", "counted", "size"),
    [(PAIRS, "batch_size", size) for size in (1, 8, 50, 103, 500)]
    + [(LONG_PAIRS, "tokens", size) for size in (1, 50, 128, 10**6)],
)
def test_every_pair_comes_once_an_epoch_and_stays_together(pairs, counted, size):
    found = []
    for batch in batches_of(pairs, **{counted: size}):
        for source, decoder_input, labels in zip(
            batch.source_ids, batch.decoder_input_ids, batch.label_ids, strict=True
        ):
            assert real(decoder_input)[1:] == real(labels)[:-1]
            found.append((real(source), real(labels)[:-1]))
    assert sorted(found) == sorted(pairs)


def test_the_last_short_batch_is_kept():
    sizes = sorted(len(batch) for batch in one_epoch(batch_size=8))
    assert sizes == [103 % 8] + [8] * (103 // 8)


def test_no_column_is_padding_only_and_padding_is_at_the_end():
    for batch in one_epoch():
        for token_ids in (batch.source_ids, batch.decoder_input_ids, batch.label_ids):
            is_real = token_ids != PADDING_ID
            assert is_real.any(dim=0).all()
            assert (is_real.long().diff(dim=1) <= 0).all()


def test_pairs_of_similar_length_stand_together():
    padding = sum((batch.source_ids == PADDING_ID).sum() for batch in one_epoch())
    by_chance = (pad([source for source, _ in PAIRS]) == PADDING_ID).sum()
    assert padding < by_chance / 3


@pytest.mark.parametrize("size", [{"batch_size": 8}, {"tokens": 128}], ids=str)
def test_the_seed_decides_the_order_and_every_epoch_has_another(size):
    def order(generator: int | torch.Generator) -> list[list[int]]:
        batches = batches_of(LONG_PAIRS, generator=generator, **size)
        return [batch.source_ids[:, 0].tolist() for batch in batches]

    assert order(1) == order(1)
    assert order(1) != order(2)
    generator = torch.Generator().manual_seed(1)
    assert order(generator) != order(generator)


def test_a_batch_moves_to_another_device_as_a_whole():
    moved = make_batch(PAIRS[:3]).to("meta")
    devices = {moved.source_ids.device, moved.decoder_input_ids.device, moved.label_ids.device}
    assert devices == {torch.device("meta")}


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: pad([[4], []]), ValueError, "must not be empty, got an empty one in row 1"),
        (lambda: make_batch([]), ValueError, "pairs must hold at least one pair, got none"),
        (lambda: make_batch([([], [4])]), ValueError, "must not be empty, got an empty one in"),
        (lambda: one_epoch(batch_size=0), ValueError, "batch_size must be at least 1, got 0"),
        (lambda: one_epoch(batch_size=2.5), TypeError, "batch_size must be a whole number"),
        (lambda: one_epoch(pairs=[]), ValueError, "pairs must hold at least one pair, got none"),
        (lambda: one_epoch(skip=-1), ValueError, "skip must be at least 0, got -1"),
        (lambda: make_batch(PAIRS).parts(0), ValueError, "count must be at least 1, got 0"),
        (lambda: make_batch(PAIRS).parts(1.5), TypeError, "count must be a whole number, got 1.5"),
        (lambda: batches_of(PAIRS, tokens=0), ValueError, "tokens must be at least 1, got 0"),
        (lambda: batches_of(PAIRS, tokens=2.5), TypeError, "tokens must be a whole number, got"),
        (lambda: epoch(PAIRS, batch_size=2, generator=0), TypeError, "a torch.Generator, got 0"),
        (lambda: batches_of([], tokens=9), ValueError, "pairs must hold at least one pair, got"),
    ],
)
def test_what_makes_no_batch_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        (None, "pairs must be a list of pairs, got None"),
        ("abcd", "pairs must be a list of pairs, got 'abcd'"),
        ([("ab", "cd")], r"pairs must hold pairs of two lists of token ids, got \('ab', 'cd'\) as"),
        ([([4], [5]), [4, 5]], r"two lists of token ids, got \[4, 5\] as pair 2"),
        ([([4], [5], [6])], r"two lists of token ids, got \(\[4\], \[5\], \[6\]\) as pair 1"),
        ([([4], None)], r"two lists of token ids, got \(\[4\], None\) as pair 1"),
        ([([4], [5.5])], r"two lists of token ids, got \(\[4\], \[5.5\]\) as pair 1"),
        ([([4], [[5]])], r"two lists of token ids, got \(\[4\], \[\[5\]\]\) as pair 1"),
    ],
)
def test_what_holds_no_pairs_of_ids_is_refused_at_every_door(pairs, message):
    model, given = torch.nn.Linear(2, 2), {"validation": PAIRS, "test": PAIRS}
    doors = (
        make_batch,
        lambda pairs: one_epoch(pairs=pairs),
        lambda pairs: batches_of(pairs, tokens=9),
        lambda pairs: evaluate(model, pairs),
        lambda pairs: exact_matches(model, pairs),
        lambda pairs: Task(name="t", vocabulary=Vocabulary([]), train=pairs, **given),
    )
    for door in doors:
        with pytest.raises(TypeError, match=message.replace("pairs must", "(pairs|train) must")):
            door(pairs)


@pytest.mark.parametrize("skip", [0, 1, 12, 13, 50])
def test_batches_left_out_leave_the_others_and_what_is_drawn_later_alone(skip):
    whole, rest = (torch.Generator().manual_seed(5) for _ in range(2))
    expected = list(epoch(PAIRS, batch_size=8, generator=whole))[skip:]
    found = list(epoch(PAIRS, batch_size=8, generator=rest, skip=skip))
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.source_ids.equal(other.source_ids)
        assert one.label_ids.equal(other.label_ids)
    assert rest.get_state().equal(whole.get_state())


def test_a_plan_names_the_pairs_of_each_batch():
    plan = plan_batches(PAIRS, batch_size=8, generator=torch.Generator().manual_seed(0))
    assert [len(rows) for rows in plan] == [len(batch) for batch in one_epoch()]
    for rows, batch in zip(plan, one_epoch(), strict=True):
        assert [PAIRS[row][0][0] for row in rows] == batch.source_ids[:, 0].tolist()


def test_no_batch_holds_more_tokens_than_allowed_padding_included():
    for batch in batches_of(LONG_PAIRS, tokens=128):
        assert batch.label_ids.numel() <= 128
        assert batch.source_ids.numel() <= 128


def test_a_pair_that_is_longer_is_a_batch_of_its_own():
    for batch in batches_of(LONG_PAIRS, tokens=20):
        assert len(batch) == 1 or batch.label_ids.numel() <= 20
    assert {len(batch) for batch in batches_of(LONG_PAIRS, tokens=1)} == {1}


def test_batches_are_as_full_as_they_can_be():
    sizes = [batch.label_ids.numel() for batch in batches_of(LONG_PAIRS, tokens=128)]
    assert sum(sizes) / len(sizes) > 0.75 * 128
    assert len(batches_of(LONG_PAIRS, tokens=10**6)) == 1


def test_pairs_of_similar_length_stand_together_in_token_batches():
    batches = batches_of(LONG_PAIRS, tokens=256)
    padding = sum((batch.label_ids == PADDING_ID).sum().item() for batch in batches)
    assert padding < 0.1 * sum(LENGTHS)


def test_short_and_long_batches_take_turns():
    lengths = [batch.label_ids.size(1) for batch in batches_of(LONG_PAIRS, tokens=128)]
    assert lengths not in (sorted(lengths), sorted(lengths, reverse=True))
