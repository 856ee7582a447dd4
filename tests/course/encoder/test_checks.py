"""Lesson 07: right answers pass, and each usual wrong answer is named."""

import copy

import pytest
import torch
from torch import nn

from tests.exercise_answers import checks_of, right_answers, wrong_answers
from transformer_course.encoder import checks as lesson_07
from transformer_course.our_transformer import (
    AddAndNorm,
    Encoder,
    EncoderLayer,
    FeedForward,
    MultiHeadAttention,
)

CHECKS = checks_of(lesson_07)


def layer(forward, base=EncoderLayer):
    """A class like the reader's, with this method forward(self, x, mask)."""

    class Answer(base):
        def forward(self, x, mask=None):
            return forward(self, x, mask)

    return Answer


def attend(self, mask):
    return lambda y: self.self_attention(y, y, y, mask)


def attended(self, x, mask):
    return self.around_self_attention(x, attend(self, mask))


def fed(self, x):
    return self.around_feed_forward(x, self.feed_forward)


class NoParts(nn.Module):
    def __init__(self, *sizes):
        super().__init__()

    def forward(self, x, mask=None):
        return x


class OneNorm(EncoderLayer):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.around_feed_forward = self.around_self_attention


class NoDropout(EncoderLayer):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__(d_model, num_heads, d_ff)
        self.around_self_attention, self.around_feed_forward = (
            AddAndNorm(d_model, 0.0) for _ in range(2)
        )


class OtherNames(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = nn.Sequential(FeedForward(d_model, d_ff))
        self.around_self_attention = AddAndNorm(d_model, dropout)
        self.around_feed_forward = AddAndNorm(d_model, dropout)

    def forward(self, x, mask=None):
        return fed(self, attended(self, x, mask))


def stack(forward):
    """A class like the reader's Encoder, with this method forward(self, x, mask)."""
    return layer(forward, base=Encoder)


def holding(hold):
    """A class like the reader's Encoder that holds its layers so; hold(num_layers, *sizes)."""

    class Answer(nn.Module):
        def __init__(self, num_layers, *sizes):
            super().__init__()
            self.layers = hold(num_layers, *sizes)

        def forward(self, x, mask=None):
            for each in self.layers:
                x = each(x, mask)
            return x

    return Answer


def last_counts(self, x, mask):
    for each in self.layers:
        out = each(x, mask)
    return out


def through(self, x, mask, step=1):
    for each in list(self.layers)[::step]:
        x = each(x, mask)
    return x


def copies(num_layers, *sizes):
    first = EncoderLayer(*sizes)
    return nn.ModuleList(copy.deepcopy(first) for _ in range(num_layers))


def without(encoder, index):
    """The layers of an encoder but one."""
    return nn.ModuleList([*encoder.layers[:index], *encoder.layers[index + 1 :]])


def count(encoder, x):
    layers, output = encoder.layers, encoder(x)
    used = 0
    for index in range(len(layers)):
        encoder.layers = without(encoder, index)
        used += not torch.allclose(encoder(x), output)
        encoder.layers = layers
    return used


def count_and_forget(encoder, x):
    encoder.layers = without(encoder, 0)
    return 4


def count_one_too_few(encoder, x):
    found = count(encoder, x)
    return found if found == 4 else found - 1


test_a_right_answer_is_correct = right_answers(
    CHECKS,
    [
        ("7.1", EncoderLayer),
        ("7.1", layer(lambda self, x, mask: fed(self, attended(self, x, mask)))),
        ("7.2", Encoder),
        ("7.2", holding(copies)),
        ("7.3", 5),
        ("7.3", 5.0),
        ("7.4", count),
    ],
)

test_a_wrong_answer_gets_its_own_hint = wrong_answers(
    CHECKS,
    [
        ("7.1", EncoderLayer(6, 3, 8), "class EncoderLayer itself"),
        ("7.1", NoParts, "set self.self_attention"),
        ("7.1", OneNorm, "each sub-layer needs its own"),
        ("7.1", OtherNames, "no feed_forward.widen.weight"),
        ("7.1", NoDropout, "dropout does not arrive"),
        ("7.1", layer(lambda self, x, mask: fed(self, attended(self, x, None))), "mask does not"),
        ("7.1", layer(attended), "feed-forward network is missing"),
        ("7.1", layer(lambda self, x, mask: fed(self, x)), "self-attention does not arrive"),
        ("7.1", layer(lambda self, x, mask: attended(self, fed(self, x), mask)), "reversed"),
        (
            "7.1",
            layer(
                lambda self, x, mask: self.around_self_attention(
                    self.around_feed_forward(x, attend(self, mask)), self.feed_forward
                )
            ),
            "exchanged",
        ),
        (
            "7.1",
            layer(lambda self, x, mask: self.feed_forward(attend(self, mask)(x))),
            "Add & Norm is missing",
        ),
        (
            "7.1",
            layer(lambda self, x, mask: (y := x + attend(self, mask)(x)) + self.feed_forward(y)),
            "There is no norm",
        ),
        ("7.1", layer(lambda self, x, mask: 2 * x), "numbers are not"),
        ("7.1", layer(lambda self, x, mask: x[0]), "shape must be"),
        ("7.1", layer(lambda self, x, mask: None), "returns nothing"),
        (
            "7.1",
            layer(lambda self, x, mask: x if mask is None else fed(self, attended(self, x, mask))),
            "mask=None must work",
        ),
        ("7.2", Encoder(2, 6, 3, 8), "class Encoder itself"),
        ("7.2", NoParts, "to an nn.ModuleList"),
        (
            "7.2",
            holding(lambda n, *sizes: [EncoderLayer(*sizes) for _ in range(n)]),
            "0 parameters",
        ),
        ("7.2", holding(lambda n, *sizes: copies(1, *sizes)), "must be 4 layers; yours has 1"),
        ("7.2", holding(lambda n, *sizes: nn.ModuleList([EncoderLayer(*sizes)] * n)), "same layer"),
        ("7.2", holding(lambda n, *sizes: copies(n, *sizes[:3])), "dropout does not arrive"),
        ("7.2", stack(last_counts), "starts again from the first x"),
        (
            "7.2",
            stack(lambda self, x, mask: (through(self, x, mask), x)[1]),
            "No layer has changed",
        ),
        ("7.2", stack(lambda self, x, mask: self.layers[0](x, mask)), "return inside the loop"),
        ("7.2", stack(lambda self, x, mask: through(self, x, None)), "mask is missing"),
        ("7.2", stack(lambda self, x, mask: through(self, x, mask, -1)), "from last to first"),
        ("7.2", stack(lambda self, x, mask: through(self, x, mask) * 2), "each layer once"),
        ("7.2", stack(lambda self, x, mask: x * torch.nan), "NaN"),
        ("7.2", stack(lambda self, x, mask: self.layers(x)), "could not be used"),
        (
            "7.2",
            stack(lambda self, x, mask: x if mask is None else through(self, x, mask)),
            "mask=None must work",
        ),
        ("7.3", 1, "every word may attend to every other"),
        ("7.3", 9, "one neighbor to each side"),
        ("7.3", 10, "Count steps, not words"),
        ("7.3", 4, "one step is missing"),
        ("7.3", 7, "Count the steps"),
        ("7.3", 4.5, "whole number"),
        ("7.3", True, "whole number"),
        ("7.3", float("nan"), "whole number"),
        ("7.3", None, "whole number"),
        ("7.4", 4, "is a function"),
        ("7.4", lambda encoder, x: len(encoder.layers), "number of layers that it holds"),
        ("7.4", lambda encoder, x: 1, "all 4 layers count; you found 1"),
        ("7.4", lambda encoder, x: True, "whole number"),
        ("7.4", lambda encoder, x: None, "returns nothing"),
        ("7.4", count_and_forget, "put back every layer"),
        ("7.4", count_one_too_few, "1 must be found; you found 0"),
    ],
)


@pytest.mark.parametrize(("number", "base"), [("7.1", EncoderLayer), ("7.2", Encoder)])
def test_a_scaffold_waits(number, base, capsys):
    CHECKS[number](layer(lambda self, x, mask: ..., base=base))
    assert (
        capsys.readouterr().out
        == f"Exercise {number} is waiting for you: replace the three dots.\n"
    )


def test_the_check_of_layers_in_use_leaves_the_random_numbers_alone():
    before = torch.random.get_rng_state()
    CHECKS["7.4"](count)
    torch.testing.assert_close(torch.random.get_rng_state(), before)
