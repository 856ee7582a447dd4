"""Lesson 13: right answers pass, and each usual wrong answer is named."""

import math

import torch
import torch.nn.functional as F

from tests.exercise_answers import checks_of, right_answers, wrong_answers
from transformer_course.pattern_with_torch import checks as lesson_13
from transformer_course.pattern_with_torch.pytorch_transformer import PytorchTransformer

CHECKS = checks_of(lesson_13)


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


def in_floats(sequences, batch_size):
    return [batch.float() for batch in make_batches(sequences, batch_size)]


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


def cut_to_the_first_row(sequences, batch_size):
    batches = []
    for start in range(0, len(sequences), batch_size):
        rows = sequences[start : start + batch_size]
        batches.append(torch.tensor([row + [0] * (len(rows[0]) - len(row)) for row in rows]))
    return batches


def moved(columns, *, training_only=True, after=False, target=False):
    """A class that puts as many columns of padding before the source as columns() returns."""

    class Moved(PytorchTransformer):
        def forward(self, source_ids, target_ids):
            if self.training or not training_only:
                count = columns()
                source_ids = F.pad(source_ids, (0, count) if after else (count, 0))
                target_ids = F.pad(target_ids, (count, 0)) if target else target_ids
            logits = super().forward(source_ids, target_ids)
            return logits[:, count:] if target and self.training else logits

    return Moved


def zero_to_eight():
    return int(torch.randint(9, (1,)))


class StillWaiting(PytorchTransformer):
    def forward(self, source_ids, target_ids):
        return ...


test_a_right_answer_is_correct = right_answers(
    CHECKS,
    [
        ("13.1", torch_masks),
        ("13.2", make_batches),
        ("13.3", moved(zero_to_eight)),
    ],
)

test_a_wrong_answer_gets_its_own_hint = wrong_answers(
    CHECKS,
    [
        ("13.1", lambda s, t: {"tgt_mask": 1}, "exactly these names"),
        ("13.1", lambda s, t: list(torch_masks(s, t).values()), "exactly these names"),
        (
            "13.1",
            lambda s, t: {name: ~mask for name, mask in torch_masks(s, t).items()},
            "tgt_mask: the other way round",
        ),
        (
            "13.1",
            masks_but(src_key_padding_mask=lambda s, t: s != 0),
            "src_key_padding_mask: the other way round",
        ),
        (
            "13.1",
            masks_but(memory_key_padding_mask=lambda s, t: t == 0),
            "the encoder's output, as long as the source",
        ),
        (
            "13.1",
            masks_but(tgt_mask=lambda s, t: torch.ones(4, 4).bool().triu()),
            "a token may attend to itself",
        ),
        (
            "13.1",
            masks_but(tgt_mask=lambda s, t: torch.ones(4, 4).bool().tril(-1)),
            "may not attend to earlier ones",
        ),
        (
            "13.1",
            masks_but(tgt_mask=lambda s, t: torch.zeros(4, 4).bool()),
            "tgt_mask is not right",
        ),
        (
            "13.1",
            masks_but(tgt_mask=lambda s, t: torch.zeros(4, 4)),
            "tgt_mask must be boolean",
        ),
        (
            "13.1",
            masks_but(tgt_key_padding_mask=lambda s, t: (t == 0)[:, None, None]),
            "shape must be",
        ),
        ("13.1", masks_but(tgt_mask=lambda s, t: torch.full((4, 4), math.nan)), "NaN"),
        ("13.2", in_floats, "dtype=torch.long"),
        ("13.2", drops_the_last, "Of 7 sequences you return 6, in batches of 3"),
        ("13.2", lambda rows, size: make_batches(rows, size + 1), "has 3 rows"),
        ("13.2", as_wide_as_the_widest_of_all, "its own longest row"),
        ("13.2", sorts, "a different order"),
        ("13.2", lambda rows, size: make_batches(rows, size, fill=3), "0 fills the short ones"),
        ("13.2", pads_in_place, "changes the caller's sequences"),
        ("13.2", lambda rows, size: rows, "list of tensors"),
        ("13.2", as_published, "need not be its first"),
        ("13.2", cut_to_the_first_row, "need not be its first"),
        ("13.2", lambda rows, size: [torch.tensor(4)], "TypeError"),
        ("13.3", torch_masks, "the class itself"),
        ("13.3", PytorchTransformer, "Padding after the source"),
        ("13.3", moved(zero_to_eight, after=True), "Padding after the source"),
        ("13.3", moved(zero_to_eight, training_only=False), "ask self.training"),
        ("13.3", moved(zero_to_eight, target=True), "the target stays"),
        ("13.3", moved(lambda: 4), "All batches move by 4 columns: draw"),
        ("13.3", moved(lambda: zero_to_eight() % 8), "leaves its upper end out"),
        ("13.3", moved(lambda: zero_to_eight() + 1), "0 to 8, both included"),
    ],
)


def test_a_class_that_returns_the_dots_is_waiting(capsys):
    lesson_13.check_moved_prompts(StillWaiting)
    assert "13.3 is waiting" in capsys.readouterr().out
