"""Lesson 08: right answers pass, and each usual wrong answer is named."""

import torch

from tests.exercise_answers import checks_of, right_answers, wrong_answers
from transformer_edu.model.vocabulary import END_ID, START_ID
from transformer_edu.teaching.checks import decoder as lesson_08
from transformer_edu.teaching.checks.decoder import check_shift

CHECKS = checks_of(lesson_08)


def shift(target, start_id, end_id):
    return [start_id, *target], [*target, end_id]


def look_across(attention, x, memory, source_mask):
    return attention(x, memory, memory, mask=source_mask)


test_a_right_answer_is_correct = right_answers(
    CHECKS,
    [
        ("8.1", (2, 8, 7, 10)),
        ("8.1", [2, 8, 7, 10]),
        ("8.1", torch.Size([2, 8, 7, 10])),
        ("8.2", shift),
        ("8.2", lambda t, s, e: (torch.tensor([s, *t]), torch.tensor([*t, e]))),
        ("8.3", look_across),
    ],
)

test_a_wrong_answer_gets_its_own_hint = wrong_answers(
    CHECKS,
    [
        ("8.1", (2, 8, 10, 7), "queries come from the target"),
        ("8.1", (2, 8, 7, 7), "decoder's self-attention"),
        ("8.1", (2, 8, 10, 10), "encoder's self-attention"),
        ("8.1", (2, 8, 8, 10), "<s> is one of them already"),
        ("8.1", (2, 7, 8, 10), "heads come before"),
        ("8.1", (8, 2, 7, 10), "batch comes first"),
        ("8.1", (2, 7, 10, 512), "not one of them"),
        ("8.1", (float("nan"),) * 4, "each of the four axes"),
        ("8.1", (2, 7, 10), "tuple of four numbers"),
        ("8.1", 140, "tuple of four numbers"),
        ("8.1", None, "tuple of four numbers"),
        ("8.2", lambda t, s, e: ([*t, e], [s, *t]), "swapped"),
        ("8.2", lambda t, s, e: ([*t, e], [*t, e]), "Both are the same"),
        ("8.2", lambda t, s, e: ([s, *t], t), "the same length"),
        ("8.2", lambda t, s, e: (t[:-1], t[1:]), "end token must be a label"),
        ("8.2", lambda t, s, e: ([s, *t], [s, *t[1:], e]), "start token is an input"),
        ("8.2", lambda t, s, e: ([e, *t], [*t, e]), "reads the start token"),
        ("8.2", lambda t, s, e: ([s, *t, e], [*t, e, e]), "not an input"),
        ("8.2", lambda t, s, e: ([s, *t[::-1]], [*t, e]), "shift them by one"),
        ("8.2", lambda t, s, e: [s, *t], "two lists"),
        ("8.2", lambda t, s, e: (s, e), "one of yours is int"),
        ("8.2", lambda t, s, e: (["<s>", *t], [*t, "</s>"]), "Ids are numbers"),
        ("8.2", lambda t, s, e: ([s, *t], [*t, "</s>"]), "use start_id and end_id"),
        ("8.2", lambda t, s, e: ([s, *t, float("nan")], [*t, e, e]), "shift them by one"),
        ("8.2", lambda t: t, "TypeError"),
        ("8.3", lambda a, x, m, mask: a(m, x, x), "as long as the source"),
        ("8.3", lambda a, x, m, mask: a(x, x, x), "self-attention"),
        ("8.3", lambda a, x, m, mask: a(x, m, m), "padding of the source receives attention"),
        ("8.3", lambda a, x, m, mask: a(x, m, m, mask=~mask), "wrong way round"),
        ("8.3", lambda a, x, m, mask: a(x, m, m.flip(1), mask=mask), "key and value from the"),
        ("8.3", lambda a, x, m, mask: a(x, m, x, mask=mask), "must come from the memory"),
        ("8.3", lambda a, x, m, mask: a(m, x, x, mask=mask), "must come from the memory"),
        ("8.3", lambda a, x, m, mask: a(x, x, x, mask=mask), "must come from the memory"),
        (
            "8.3",
            lambda a, x, m, mask: a(query=m, key=x, value=x, mask=mask),
            "come from the memory",
        ),
        ("8.3", lambda a, x, m, mask: a(x, m, m, mask=mask[:, 0, 0]), "mask must broadcast"),
        ("8.3", lambda a, x, m, mask: x * torch.nan, "NaN"),
    ],
)


def test_the_ids_of_the_exercise_are_the_vocabularys():
    seen = []
    check_shift(lambda target, *ids: seen.append(ids) or shift(target, *ids))
    assert set(seen) == {(START_ID, END_ID)}
