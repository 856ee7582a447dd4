"""Lesson 05: right answers pass, and each usual wrong answer is named."""

import math

import torch
from torch import nn

from tests.exercise_answers import checks_of, right_answers, wrong_answers
from transformer_course.our_transformer import PositionalEncoding
from transformer_course.positional_encoding import checks as lesson_05
from transformer_edu.model.embeddings import sinusoidal_positions

CHECKS = checks_of(lesson_05)


def encoding(forward, *, make=sinusoidal_positions, register=None):
    """A class like the reader's, with this table and this forward."""

    class Answer(nn.Module):
        def __init__(self, d_model, max_length=5000):
            super().__init__()
            table = make(max_length, d_model)
            if register is None:
                self.register_buffer("table", table, persistent=False)
            else:
                register(self, table)

        def forward(self, x):
            return forward(x, self.table)

    return Answer


def with_table(make):
    """A class that adds another table."""
    return encoding(lambda x, table: x + table[: x.size(1)], make=make)


def with_angles(angles):
    """A class whose sine and cosine have these angles of position, even and d_model."""

    def make(length, d_model):
        position, even = torch.arange(length).unsqueeze(1), torch.arange(0, d_model, 2)
        both = angles(position, even, d_model)
        sine, cosine = both if isinstance(both, tuple) else (both, both)
        return torch.stack([sine.sin(), cosine.cos()], dim=-1).flatten(-2)

    return with_table(make)


def registered(register):
    """A class that stores its table in this way."""
    return encoding(lambda x, table: x + table[: x.size(1)], register=register)


class WithoutDefault(PositionalEncoding):
    def __init__(self, d_model, max_length):
        super().__init__(d_model, max_length)


def turn(k, frequency):
    sine, cosine = math.sin(k * frequency), math.cos(k * frequency)
    return torch.tensor([[cosine, sine], [-sine, cosine]])


def add_places(x, table):
    return x + table[: x.size(1)]


test_a_right_answer_is_correct = right_answers(
    CHECKS,
    [
        ("5.1", PositionalEncoding),
        ("5.1", with_angles(lambda p, even, d: p / 10_000 ** (even / d))),
        ("5.2", 44),
        ("5.2", torch.tensor(44)),
        ("5.3", turn),
        ("5.3", lambda k, frequency: turn(k, frequency).double()),
        ("5.4", add_places),
        ("5.4", lambda x, table: x + table[: x.shape[1]].unsqueeze(0)),
    ],
)

test_a_wrong_answer_gets_its_own_hint = wrong_answers(
    CHECKS,
    [
        ("5.1", PositionalEncoding(8), "class PositionalEncoding itself"),
        ("5.1", encoding(lambda x, table: x + table), "x.size\\(1\\) rows"),
        ("5.1", encoding(lambda x, table: x[0] + table[: x.size(1)]), "shape must be"),
        ("5.1", encoding(lambda x, table: x.double() + table[: x.size(1)]), "end with .float"),
        ("5.1", encoding(lambda x, table: x), "not added"),
        ("5.1", encoding(lambda x, table: x + table[1 : x.size(1) + 1]), "count from 0"),
        ("5.1", encoding(lambda x, table: table[: x.size(1)].expand(x.shape)), "add it to x"),
        ("5.1", encoding(lambda x, table: x + table[: x.size(0)].unsqueeze(1)), "along the batch"),
        ("5.1", encoding(lambda x, table: x + table[3]), "row p of the table"),
        ("5.1", encoding(lambda x, table: x - table[: x.size(1)]), "d_model = 6"),
        ("5.1", encoding(lambda x, table: x * math.nan), "NaN"),
        ("5.1", encoding(lambda x, table: None), "returns nothing"),
        (
            "5.1",
            with_table(
                lambda n, d: torch.cat(
                    [sinusoidal_positions(n, d)[:, first::2] for first in (0, 1)], dim=-1
                )
            ),
            "they alternate",
        ),
        (
            "5.1",
            with_table(
                lambda n, d: sinusoidal_positions(n, d).unflatten(1, (-1, 2)).flip(2).flatten(1)
            ),
            "are exchanged",
        ),
        ("5.1", with_angles(lambda p, even, d: p / 10_000 ** (2 * even / d)), "already 2i"),
        ("5.1", with_angles(lambda p, even, d: p / 10_000 ** (even / 2 / d)), "yours is i / d"),
        (
            "5.1",
            with_angles(lambda p, even, d: p.double() * 10_000 ** (even / d)),
            "its minus|end with",
        ),
        ("5.1", with_angles(lambda p, even, d: p + 0.0 * even), "the position itself"),
        (
            "5.1",
            with_angles(
                lambda p, even, d: (p / 10_000 ** (even / d), p / 10_000 ** ((even + 1) / d))
            ),
            "shares one angle",
        ),
        (
            "5.1",
            registered(lambda self, table: setattr(self, "table", nn.Parameter(table))),
            "not learned",
        ),
        ("5.1", registered(lambda self, table: setattr(self, "table", table)), "register_buffer"),
        ("5.1", registered(lambda self, table: self.register_buffer("table", table)), "persistent"),
        ("5.1", with_table(lambda n, d: sinusoidal_positions(n + 1, d)), "max_length, d_model"),
        ("5.1", WithoutDefault, "a default value"),
        ("5.2", 22, "opposite side of the circle"),
        ("5.2", 6, "0.95 turns"),
        ("5.2", 0, "from 1 to 50"),
        ("5.2", 63, "from 1 to 50"),
        ("5.2", 43.98, "a whole number"),
        ("5.3", lambda k, frequency: turn(-k, frequency), "backwards"),
        ("5.3", lambda k, frequency: turn(1, frequency), "one position only"),
        ("5.3", lambda k, frequency: turn(k, 1), "k radians"),
        ("5.3", lambda k, frequency: turn(k, frequency).flip(0), "rows are swapped"),
        ("5.3", lambda k, frequency: torch.eye(2), "first row"),
        ("5.3", lambda k, frequency: torch.eye(3), "shape must be"),
        ("5.3", lambda k, frequency: torch.full((2, 2), math.nan), "NaN"),
        ("5.4", lambda x, table: x, "not added"),
        ("5.4", lambda x, table: x + table[: x.size(0)].unsqueeze(1), "added along the batch"),
        ("5.4", lambda x, table: x + table[: x.size(1)].unsqueeze(1), "without unsqueeze"),
        ("5.4", lambda x, table: x + table, "as many rows"),
        ("5.4", lambda x, table: x + table[1 : x.size(1) + 1], "count from 0"),
        ("5.4", lambda x, table: x + table[0], "which axis"),
        ("5.4", lambda x, table: x + table[5:8].unsqueeze(1), "not the number of a row"),
        ("5.4", lambda x, table: x + table[: x.size(1)].flip(0), "Row p"),
        ("5.4", lambda x, table: x[0] + table[: x.size(1)], "shape must be"),
        ("5.4", lambda x, table: torch.full((2, 2), math.nan), "shape must be"),
        ("5.4", lambda x, table: x * math.nan, "NaN"),
    ],
)
