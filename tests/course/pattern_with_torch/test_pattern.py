"""The pattern task is right by a rule of its own, and what is judged was never trained on."""

from collections import Counter

import pytest

from transformer_course.pattern_with_torch.pattern import (
    LENGTHS,
    PatternTask,
    clean_pairs,
    continue_pattern,
    pattern_task,
    pattern_vocabulary,
)
from transformer_edu.data.toy_tasks import Task

SMALL = {"train_size": 300, "validation_size": 90, "test_size": 50}
UNSEEN = (2, 11)


@pytest.fixture(scope="module")
def task() -> PatternTask:
    """As published: 9,000 and 3,000 samples."""
    return pattern_task()


def read(task, pair):
    """Prompt, count and continuation of a pair, as text."""
    *prompt, count = task.vocabulary.decode(pair[0])
    return "".join(prompt), int(count), "".join(task.vocabulary.decode(pair[1]))


def distinct(pairs):
    return {(tuple(source), tuple(target)) for source, target in pairs}


def every_part(task):
    return [task.train, task.validation, task.test, *task.unseen.values()]


def test_every_symbol_equals_the_one_two_places_before_it(task):
    for part in every_part(task):
        for pair in part:
            prompt, count, continuation = read(task, pair)
            line = prompt + continuation
            assert len(continuation) == count
            assert all(line[i] == line[i - 2] for i in range(len(prompt), len(line)))


@pytest.mark.parametrize(
    ("prompt", "count", "continuation"),
    [
        ("0000", 3, "000"),
        ("111", 4, "1111"),
        ("1010", 3, "101"),
        ("0101", 3, "010"),
        ("010", 2, "10"),
        ("110010", 3, "101"),  # noise, then a pattern
        ("01", 1, "0"),
    ],
)
def test_the_pattern_at_the_end_is_continued_in_phase(prompt, count, continuation):
    assert continue_pattern(prompt, count) == continuation


def test_it_has_the_published_sizes(task):
    assert isinstance(task, Task)
    assert [len(task.train), len(task.validation), len(task.test)] == [9000, 3000, 1000]


def test_no_pair_is_in_two_parts(task):
    parts = [distinct(part) for part in every_part(task)]
    assert sum(map(len, parts)) == len(set.union(*parts))


def test_who_is_judged_is_judged_once(task):
    for part in (task.test, *task.unseen.values()):
        assert len(distinct(part)) == len(part)


def test_the_unseen_lengths_are_in_no_other_part(task):
    prompts = Counter(len(source) - 1 for part in every_part(task)[:3] for source, _ in part)
    assert set(prompts) == set(LENGTHS) - set(UNSEEN)
    for length in UNSEEN:
        assert {len(source) - 1 for source, _ in task.unseen[length]} == {length}
    assert [len(task.unseen[n]) for n in UNSEEN] == [4 * 11 - 4, 1000]


def test_every_length_is_about_as_likely_as_another(task):
    prompts = Counter(len(source) - 1 for source, _ in task.train)
    counts = Counter(len(target) for _, target in task.train)
    assert set(counts) == set(LENGTHS)
    assert min(prompts.values()) > 800 and max(prompts.values()) < 1200  # 1,000 each
    assert min(counts.values()) > 650 and max(counts.values()) < 1000  # 818 each


def test_the_four_patterns_without_noise_are_learned_from(task):
    for prompt in ("00000000", "11111111", "10101010", "01010101"):
        assert any(read(task, pair)[0] == prompt for pair in task.train)


def test_no_continuation_equals_its_prompt(task):
    for part in every_part(task):
        assert all(source[:-1] != target for source, target in part)


def test_the_count_of_different_pairs_is_honest(task):
    every = {
        (f"{number:0{n}b}", count) for n in LENGTHS for number in range(2**n) for count in LENGTHS
    }
    copies = {(p, c) for p, c in every if continue_pattern(p, c) == p}
    assert len(every - copies) == 90_034
    assert 3000 < len(distinct(task.train)) < 3600  # of 9,000 samples: many come again


def test_the_same_seed_gives_the_same_task_and_another_seed_another():
    assert every_part(pattern_task(**SMALL, seed=3)) == every_part(pattern_task(**SMALL, seed=3))
    assert every_part(pattern_task(**SMALL, seed=3)) != every_part(pattern_task(**SMALL, seed=4))


def test_the_unseen_lengths_can_be_others():
    task = pattern_task(**SMALL, unseen_lengths=(12, 5))
    assert list(task.unseen) == [5, 12]
    assert {len(source) - 1 for source, _ in task.train} == set(LENGTHS) - {5, 12}
    assert pattern_task(**SMALL, unseen_lengths=()).unseen == {}


def test_clean_pairs_are_the_four_patterns_of_any_length():
    vocabulary = pattern_vocabulary()
    pairs = clean_pairs(vocabulary, 20)
    assert len(pairs) == 4 * 11
    prompts = {"".join(vocabulary.decode(source[:-1])) for source, _ in pairs}
    assert prompts == {"0" * 20, "1" * 20, "01" * 10, "10" * 10}
    assert len(clean_pairs(vocabulary, 7)) == 4 * 11 - 2
    assert len(clean_pairs(vocabulary, 8)) == 4 * 11 - 4


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"train_size": 0}, ValueError, "train_size must be at least 1, got 0"),
        ({"validation_size": -1}, ValueError, "validation_size must be at least 1, got -1"),
        ({"test_size": 0}, ValueError, "test_size must be at least 1, got 0"),
        ({"test_size": 20_000}, ValueError, "test_size must be at most 13,494, .* got 20,000"),
        ({"seed": -1}, ValueError, "seed must be at least 0, got -1"),
        ({"train_size": 2.5}, TypeError, "train_size must be a whole number, got 2.5"),
        ({"unseen_lengths": (1,)}, ValueError, "unseen_lengths must be from 2 to 12, got 1"),
        ({"unseen_lengths": (13,)}, ValueError, "unseen_lengths must be from 2 to 12, got 13"),
        ({"unseen_lengths": ("2",)}, TypeError, "unseen_lengths must be a whole number"),
        ({"unseen_lengths": LENGTHS}, ValueError, "must leave a length to learn from, got 2 to 12"),
    ],
)
def test_a_task_that_cannot_be_is_refused(settings, error, message):
    with pytest.raises(error, match=message):
        pattern_task(**settings)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("1", 3), ValueError, "prompt must be 2 or more symbols 0 and 1, got '1'"),
        (("1021", 3), ValueError, "symbols 0 and 1, got '1021'"),
        (([1, 0], 3), TypeError, "prompt must be a text of 0 and 1"),
        (("10", 0), ValueError, "count must be at least 1, got 0"),
        (("10", "3"), TypeError, "count must be a whole number"),
    ],
)
def test_a_prompt_without_a_pattern_is_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        continue_pattern(*arguments)


def test_a_prompt_of_one_symbol_has_no_clean_pairs():
    with pytest.raises(ValueError, match="prompt_length must be at least 2, got 1"):
        clean_pairs(pattern_vocabulary(), 1)
