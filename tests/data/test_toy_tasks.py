"""Tasks are right by a rule of their own, varied, seeded, and keep their three parts apart."""

import dataclasses
import re

import pytest

from tests.data.test_number_words import read_english, read_german
from transformer_edu.data.toy_tasks import copy_task, number_words_task, reverse_task

SMALL = {"train_size": 300, "validation_size": 40, "test_size": 50}
MAKERS = pytest.mark.parametrize("make", [number_words_task, copy_task, reverse_task])


def every_pair(task):
    return [*task.train, *task.validation, *task.test]


def test_number_words_mean_the_same_number_in_both_languages():
    task = number_words_task(**SMALL)
    for source, target in every_pair(task):
        number = read_english(task.vocabulary.decode(source))
        assert read_german(task.vocabulary.decode(target)) == number
        assert 1 <= number <= 999_999


def test_numbers_of_every_length_and_shape_are_learned_from():
    task = number_words_task()
    numbers = [read_english(task.vocabulary.decode(source)) for source, _ in task.train]
    shapes = ["".join("0" if digit == "0" else "x" for digit in f"{n:06}") for n in numbers]
    assert len(set(shapes)) == 2**6 - 1  # every choice of zeros but all six
    below_thousand = sum(number < 1000 for number in numbers)
    assert below_thousand > 150  # drawn evenly there would be four


def test_numbers_of_a_single_word_are_never_held_out():
    for seed in range(3):
        task = number_words_task(seed=seed, train_size=27, validation_size=400, test_size=400)
        assert {len(source) for source, _ in task.train} == {1}
        assert min(len(source) for source, _ in task.validation + task.test) == 2


def test_a_copy_is_its_source_and_a_reversal_is_it_backwards():
    for source, target in every_pair(copy_task(**SMALL)):
        assert target == source
    for source, target in every_pair(reverse_task(**SMALL)):
        assert list(reversed(target)) == source


def test_sequences_have_the_symbols_and_lengths_asked_for():
    task = copy_task(num_symbols=5, shortest=2, longest=6, **SMALL)
    assert {len(source) for source, _ in task.train} == {2, 3, 4, 5, 6}
    assert {symbol for source, _ in task.train for symbol in source} == {4, 5, 6, 7, 8}
    assert len(task.vocabulary) == 9
    assert task.vocabulary.decode([4, 8]) == ["0", "4"]


def test_lengths_are_equally_frequent_until_the_short_ones_run_out():
    task = copy_task(num_symbols=10, shortest=1, longest=6, **SMALL | {"train_size": 2000})
    drawn = [len(source) for source, _ in every_pair(task)]
    assert (drawn.count(1), drawn.count(2)) == (10, 100)  # all that there are
    shares = [drawn.count(length) / len(drawn) for length in (4, 5, 6)]
    assert max(shares) - min(shares) < 0.06
    assert min(shares) > 1 / 6


@MAKERS
def test_the_three_parts_share_no_source_and_have_their_sizes(make):
    task = make(**SMALL)
    assert [len(task.train), len(task.validation), len(task.test)] == [300, 40, 50]
    assert len({tuple(source) for source, _ in every_pair(task)}) == 390


@MAKERS
def test_the_same_seed_gives_the_same_task_and_another_seed_another(make):
    assert every_pair(make(seed=3, **SMALL)) == every_pair(make(seed=3, **SMALL))
    assert every_pair(make(seed=3, **SMALL)) != every_pair(make(seed=4, **SMALL))


@pytest.mark.parametrize("part", ["train", "validation", "test"])
@pytest.mark.parametrize("pair", [([4, 0], [5]), ([4], [5, 2, 5]), ([1], [5])], ids=str)
def test_a_task_whose_pairs_hold_padding_start_or_end_is_refused(part, pair):
    task = copy_task(**SMALL)
    pairs = [*getattr(task, part), pair]
    message = re.escape(
        f"{part} must hold no padding, start or end, got {pair} as pair {len(pairs)}"
    )
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(task, **{part: pairs})


def test_all_pairs_that_there_are_can_be_drawn():
    sizes = {"train_size": 8, "validation_size": 2, "test_size": 4}
    task = copy_task(num_symbols=2, shortest=1, longest=3, **sizes)
    assert len({tuple(source) for source, _ in every_pair(task)}) == 2 + 4 + 8


@pytest.mark.parametrize(
    ("make", "settings", "message"),
    [
        (
            copy_task,
            {"num_symbols": 2, "shortest": 1, "longest": 3} | SMALL,
            "must share the 14 different pairs of the task symbols, got 390",
        ),
        (number_words_task, {"train_size": 999_999}, "share the 999,999 different pairs"),
        (number_words_task, {"train_size": 26}, "train_size must be at least 27, got 26"),
        (number_words_task, {"test_size": -1}, "test_size must be at least 1, got -1"),
        (reverse_task, {"num_symbols": 0}, "num_symbols must be at least 1, got 0"),
        (reverse_task, {"shortest": 9}, "shortest must be at most longest, got 9 and 8"),
        (reverse_task, {"longest": 10**18}, "longest must be at most 10,000, got 1,000,000,000,"),
        (copy_task, {"num_symbols": 10**18}, "num_symbols must be at most 10,000, got 1,000,000"),
        (reverse_task, {"seed": -1}, "seed must be at least 0, got -1"),
        (number_words_task, {"seed": 2**64}, "seed must be at most 18,446,744,073,709,551,615,"),
    ],
)
def test_what_cannot_be_drawn_is_refused(make, settings, message):
    with pytest.raises(ValueError, match=message):
        make(**settings)


@MAKERS
@pytest.mark.parametrize("name", ["train_size", "seed"])
def test_sizes_and_seeds_are_whole_numbers(make, name):
    with pytest.raises(TypeError, match=f"{name} must be a whole number, got 2.5"):
        make(**{name: 2.5})
