"""Lesson 07: what its checks do beside telling answers apart."""

import pytest
import torch
from torch import nn

from tests.exercise_answers import checks_of
from transformer_course.encoder import checks as lesson_07
from transformer_course.our_transformer import (
    Encoder,
    EncoderLayer,
)

CHECKS = checks_of(lesson_07)


def layer(forward, base=EncoderLayer):
    """A class like the reader's, with this method forward(self, x, mask)."""

    class Answer(base):
        def forward(self, x, mask=None):
            return forward(self, x, mask)

    return Answer


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
