"""Lesson 17: right answers pass, and each usual wrong answer is named."""

from itertools import combinations

import pytest

from tests.exercise_answers import checks_of, right_answers, wrong_answers
from transformer_course.asking.answer import AnswerError
from transformer_course.looking.ablation import every_head
from transformer_course.what_can_be_removed import checks as lesson_17
from transformer_edu.pretrained.loading import load_pretrained

CHECKS = checks_of(lesson_17)
ACROSS = [head for head in every_head(load_pretrained().model) if "cross" in head[0]]


def without_head(weight, head, num_heads):
    d_head = weight.size(1) // num_heads
    weight = weight.clone()
    weight[:, (head - 1) * d_head : head * d_head] = 0
    return weight


def published(weight, head, num_heads):
    """The exercise's own faulty function."""
    d_head = len(weight) // num_heads
    weight[head * d_head : (head + 1) * d_head] = 0
    return weight


def rows(weight, head, num_heads):
    d_head = weight.size(1) // num_heads
    weight = weight.clone()
    weight[(head - 1) * d_head : head * d_head] = 0
    return weight


def next_head(weight, head, num_heads):
    return without_head(weight, head + 1, num_heads)


def in_place(weight, head, num_heads):
    weight[:] = without_head(weight, head, num_heads)
    return weight


def others(weight, head, num_heads):
    return weight - without_head(weight, head, num_heads)


def unchanged(weight, head, num_heads):
    return weight


def wrong_width(weight, head, num_heads):
    weight = weight.clone()
    weight[:, head - 1 : head] = 0
    return weight


def second_head_alone(weight, head, num_heads):
    weight, d_head = weight.clone(), weight.size(1) // num_heads
    weight[:, d_head : head * d_head] = 0
    return weight


def remove_greedily(cost_of, heads, count):
    removed = []
    for _ in range(count):
        left = [head for head in heads if head not in removed]
        removed.append(min(left, key=lambda head: cost_of([*removed, head])))
    return removed


def always_three(cost_of, heads, count):
    return remove_greedily(cost_of, heads, 3)


def by_pairs(cost_of, heads, count):
    removed = [min(heads, key=lambda head: cost_of([head]))]
    while len(removed) < count:
        left = [head for head in heads if head not in removed]
        removed.append(min(left, key=lambda head: sum(cost_of([r, head]) for r in removed)))
    return removed


def cheapest_group(cost_of, heads, count):
    group = min(combinations(heads, count), key=lambda group: cost_of(list(group)))
    return sorted(group, key=lambda head: cost_of([head]))


def emptying(cost_of, heads, count):
    removed = []
    for _ in range(count):
        removed.append(min(heads, key=lambda head: cost_of([*removed, head])))
        heads.remove(removed[-1])
    return removed


def head_after_head(cost_of, heads, count):
    removed = []
    for _ in range(count):
        left = [head for head in heads if head not in removed]
        removed += min(left, key=lambda head: cost_of([*removed, head]))
    return removed


def as_letters(cost_of, heads, count):
    removed = []
    for _ in range(count):
        left = [head for head in heads if head not in removed]
        removed.append(min(left, key=lambda head: cost_of(removed + list(head))))
    return removed


def of_their_size(cost_of, heads, count):
    return remove_greedily(lambda removed: abs(cost_of(removed)), heads, count)


def through_numpy(weight, head, num_heads):
    assert weight.numpy().flags.writeable
    return without_head(weight, head, num_heads)


def last_of_equals(cost_of, heads, count):
    return remove_greedily(cost_of, heads[::-1], count)


def one_by_one(cost_of, heads, count):
    return sorted(heads, key=lambda head: cost_of([head]))[:count]


def costliest(cost_of, heads, count):
    return sorted(heads, key=lambda head: -cost_of([head]))[:count]


def without_a_list(cost_of, heads, count):
    return sorted(heads, key=cost_of)[:count]


def again_and_again(cost_of, heads, count):
    return [min(heads, key=lambda head: cost_of([head]))] * count


def all_of_them(cost_of, heads, count):
    return remove_greedily(cost_of, heads, len(heads) - 1)


def as_a_set(cost_of, heads, count):
    return set(remove_greedily(cost_of, heads, count))


def strangers(cost_of, heads, count):
    return ["X", "Y", "Z"]


def late(cost_of, heads, count):
    return ["A", "C", "E"]


# The shipped translator's: remove the head that lowers the mean margin most, until it is near 0.
GROUP = [
    ("decoder.layers.2.cross_attention", 4),
    ("decoder.layers.3.cross_attention", 1),
    ("decoder.layers.1.cross_attention", 3),
    ("decoder.layers.2.cross_attention", 2),
]

test_right = right_answers(
    CHECKS,
    [
        ("17.1", without_head),
        ("17.2", remove_greedily),
        ("17.2", last_of_equals),
        ("17.3", GROUP),
        ("17.3", set(GROUP)),
    ],
)

test_wrong = wrong_answers(
    CHECKS,
    [
        ("17.1", second_head_alone, "wrong for head 1 of 3"),
        ("17.1", published, "You removed rows"),
        ("17.1", rows, "You removed rows"),
        ("17.1", next_head, "heads are counted from 1"),
        ("17.1", in_place, "Work on weight.clone"),
        ("17.1", others, "removed all others"),
        ("17.1", unchanged, "Nothing is removed"),
        ("17.1", wrong_width, "Exactly the columns of this head"),
        ("17.2", always_three, "count is 2, but your list holds 3"),
        ("17.2", by_pairs, "Number 3 of your list is not the cheapest"),
        ("17.2", cheapest_group, "not the cheapest"),
        ("17.2", emptying, "changes the list that it gets"),
        ("17.2", head_after_head, "and is one thing"),
        ("17.2", as_letters, "and is one thing"),
        ("17.2", of_their_size, "Number 1 of your list is not the cheapest"),
        ("17.2", lambda cost_of, heads, count: ["C", "A", "B"], "redundant"),
        ("17.1", through_numpy, "requires grad"),
        ("17.2", one_by_one, "cheap only while the first is there"),
        ("17.2", costliest, "the cheapest one goes first"),
        ("17.2", without_a_list, r"write cost_of\(\[\*removed, head\]\)"),
        ("17.2", again_and_again, "A head goes twice"),
        ("17.2", all_of_them, "count is 3, but your list holds 4"),
        ("17.2", as_a_set, "yours is a set"),
        ("17.2", strangers, "only the heads given"),
        ("17.2", late, "Number 2 of your list is not the cheapest"),
        (
            "17.3",
            [("decoder.layers.2.cross_attention", 4)],
            "still right. Does another head do the same job",
        ),
        ("17.3", ACROSS, "at most 6 are allowed"),
        ("17.3", [1, 2], "is not a head of the translator"),
        ("17.3", [], "The answer is a list of heads"),
        ("17.3", [("decoder.layers.0.cross_attention", 0)], "its number from 1"),
    ],
)


def test_a_group_that_breaks_the_number_or_is_no_better_than_chance_is_refused(monkeypatch):
    monkeypatch.setattr(lesson_17, "_right_choices", lambda translator, removed: (0.5, 0.5))
    with pytest.raises(AnswerError, match="only 50% of the numbers are right"):
        CHECKS["17.3"](GROUP)
    monkeypatch.setattr(lesson_17, "_right_choices", lambda translator, removed: (0.5, 1.0))
    with pytest.raises(AnswerError, match="Random groups of this size do as much damage"):
        CHECKS["17.3"](GROUP)
