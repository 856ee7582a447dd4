"""Lesson 13: right answers pass, and each usual wrong answer is named."""

import math

import torch

from tests.exercise_answers import checks_of, right_answers, wrong_answers
from transformer_edu.teaching.checks import pattern as lesson_12

CHECKS = checks_of(lesson_12)


def torch_masks(source_ids, target_ids):
    length = target_ids.size(1)
    return {
        "tgt_mask": torch.ones(length, length, dtype=torch.bool).triu(1),
        "src_key_padding_mask": source_ids == 0,
        "tgt_key_padding_mask": target_ids == 0,
        "memory_key_padding_mask": source_ids == 0,
    }


def masks_but(**changes):
    """The right masks but for some, each a function of source and target."""

    def changed(source_ids, target_ids):
        others = {name: change(source_ids, target_ids) for name, change in changes.items()}
        return torch_masks(source_ids, target_ids) | others

    return changed


def make_batches(sequences, batch_size, *, fill=0):
    batches = []
    for start in range(0, len(sequences), batch_size):
        rows = sequences[start : start + batch_size]
        width = max(map(len, rows))
        batches.append(torch.tensor([row + [fill] * (width - len(row)) for row in rows]))
    return batches


def as_published(sequences, batch_size):
    batches = []
    for start in range(0, len(sequences) - batch_size, batch_size):
        rows = sequences[start : start + batch_size]
        batches.append(torch.tensor([row + [0] * (len(rows[0]) - len(row)) for row in rows]))
    return batches


def drops_the_last(sequences, batch_size):
    return [batch for batch in make_batches(sequences, batch_size) if len(batch) == batch_size]


def as_wide_as_the_widest_of_all(sequences, batch_size):
    width = max(map(len, sequences))
    return [
        torch.tensor([row + [0] * (width - len(row)) for row in sequences[i : i + batch_size]])
        for i in range(0, len(sequences), batch_size)
    ]


def sorts(sequences, batch_size):
    return [batch.flip(0) for batch in make_batches(sequences, batch_size)]


def pads_in_place(sequences, batch_size):
    for row in sequences:
        row += [0] * (max(map(len, sequences)) - len(row))
    return make_batches(sequences, batch_size)


def symbols_of(written):
    return written[1 : written.index(2)] if 2 in written else written[1:]


test_a_right_answer_is_correct = right_answers(
    CHECKS,
    [
        ("13.1", 13),
        ("13.1", 13.0),
        ("13.2", torch_masks),
        ("13.3", make_batches),
        ("13.4", symbols_of),
    ],
)

test_a_wrong_answer_gets_its_own_hint = wrong_answers(
    CHECKS,
    [
        ("13.1", 12, "where is the count"),
        ("13.1", 11, "counting starts at 0|longer ones fill"),
        ("13.1", 14, "Counting starts at 0"),
        ("13.1", 20, "number them from 0"),
        ("13.1", "thirteen", "whole number"),
        ("13.1", math.inf, "yours is inf"),
        ("13.2", lambda s, t: {"tgt_mask": 1}, "exactly these names"),
        ("13.2", lambda s, t: list(torch_masks(s, t).values()), "exactly these names"),
        (
            "13.2",
            lambda s, t: {name: ~mask for name, mask in torch_masks(s, t).items()},
            "tgt_mask: the other way round",
        ),
        (
            "13.2",
            masks_but(src_key_padding_mask=lambda s, t: s != 0),
            "src_key_padding_mask: the other way round",
        ),
        (
            "13.2",
            masks_but(memory_key_padding_mask=lambda s, t: t == 0),
            "the encoder's output, as long as the source",
        ),
        (
            "13.2",
            masks_but(tgt_mask=lambda s, t: torch.ones(4, 4).bool().triu()),
            "a token may attend to itself",
        ),
        (
            "13.2",
            masks_but(tgt_mask=lambda s, t: torch.ones(4, 4).bool().tril(-1)),
            "may not attend to earlier ones",
        ),
        (
            "13.2",
            masks_but(tgt_mask=lambda s, t: torch.zeros(4, 4).bool()),
            "tgt_mask is not right",
        ),
        (
            "13.2",
            masks_but(tgt_mask=lambda s, t: torch.zeros(4, 4)),
            "tgt_mask must be boolean",
        ),
        (
            "13.2",
            masks_but(tgt_key_padding_mask=lambda s, t: (t == 0)[:, None, None]),
            "shape must be",
        ),
        ("13.2", masks_but(tgt_mask=lambda s, t: torch.full((4, 4), math.nan)), "NaN"),
        ("13.3", drops_the_last, "Of 7 sequences you return 6, in batches of 3"),
        ("13.3", lambda rows, size: make_batches(rows, size + 1), "has 3 rows"),
        ("13.3", as_wide_as_the_widest_of_all, "its own longest row"),
        ("13.3", sorts, "order of the rows stays"),
        ("13.3", lambda rows, size: make_batches(rows, size, fill=3), "0 fills the short ones"),
        ("13.3", pads_in_place, "changes the caller's sequences"),
        ("13.3", lambda rows, size: rows, "list of tensors"),
        ("13.3", as_published, "could not be used"),
        ("13.3", lambda rows, size: [torch.tensor(math.nan)], "TypeError"),
        ("13.4", lambda written: written[1:-1], "real symbol is missing"),
        ("13.4", lambda written: written[:-1], "Remove the start token"),
        ("13.4", lambda written: written[1:], "Remove the end token and what follows"),
        (
            "13.4",
            lambda written: written[1:-1] if 2 in written else written[1:],
            "What follows the end token",
        ),
        ("13.4", lambda written: tuple(symbols_of(written)), "list of ids"),
        ("13.4", lambda written: [9], "It should be"),
        ("13.4", lambda written: [math.nan], "It should be"),
    ],
)
