"""Lesson 07: right answers pass, and each usual wrong answer is named."""

import copy

import pytest
import torch
from torch import nn

from tests.exercise_answers import checks_of, right_answers, wrong_answers
from transformer_edu.teaching.checks import encoder as lesson_07

CHECKS = checks_of(lesson_07)


def read(x, layers, mask):
    for layer in layers:
        x = layer(x, mask=mask)
    return x


def read_the_first_x_again(x, layers, mask):
    for layer in layers:
        out = layer(x, mask=mask)
    return out


def read_without_keeping(x, layers, mask):
    for layer in layers:
        layer(x, mask=mask)
    return x


def call_the_list(x, layers, mask):
    for _ in layers:
        x = layers(x)
    return x


def build(make_layer, num_layers):
    return nn.ModuleList(make_layer() for _ in range(num_layers))


def build_copies(make_layer, num_layers):
    layer = make_layer()
    return nn.ModuleList(copy.deepcopy(layer) for _ in range(num_layers))


test_a_right_answer_is_correct = right_answers(
    CHECKS,
    [
        ("7.1", 5),
        ("7.1", 5.0),
        ("7.2", read),
        ("7.3", build),
        ("7.3", lambda make, n: nn.ModuleList([make() for _ in range(n)])),
    ],
)

test_a_wrong_answer_gets_its_own_hint = wrong_answers(
    CHECKS,
    [
        ("7.1", 1, "every word may attend to every other"),
        ("7.1", 9, "one neighbor to each side"),
        ("7.1", 10, "Count steps, not words"),
        ("7.1", 4, "one step is missing"),
        ("7.1", 7, "Count the steps"),
        ("7.1", 4.5, "whole number"),
        ("7.1", True, "whole number"),
        ("7.1", float("nan"), "whole number"),
        ("7.2", read_the_first_x_again, "starts again from the first x"),
        ("7.2", read_without_keeping, "No layer has changed x"),
        ("7.2", lambda x, layers, mask: layers[0](x, mask=mask), "return inside the loop"),
        ("7.2", lambda x, layers, mask: read(x, layers, None), "mask is missing"),
        ("7.2", lambda x, layers, mask: read(x, layers[::-1], mask), "from last to first"),
        ("7.2", lambda x, layers, mask: read(x, layers[:2], mask), "each layer once"),
        ("7.2", lambda x, layers, mask: x[0], "shape must be"),
        ("7.2", lambda x, layers, mask: x * torch.nan, "NaN"),
        ("7.2", call_the_list, "TypeError"),
        ("7.3", lambda make, n: [make() for _ in range(n)], "0 parameters"),
        ("7.3", lambda make, n: nn.ModuleList([make()] * n), "entries are the same layer"),
        ("7.3", build_copies, "equal weights"),
        ("7.3", lambda make, n: nn.ModuleList([make()]), "must be 3 layers; yours has 1"),
        ("7.3", lambda make, n: make(), "an nn.ModuleList; yours is EncoderLayer"),
        ("7.3", lambda make, n: make(n), "TypeError"),
        ("7.1", None, "whole number"),
    ],
)


@pytest.mark.parametrize(("number", "answer"), [("7.2", read), ("7.3", build)])
def test_a_check_leaves_the_random_numbers_alone(number, answer):
    before = torch.random.get_rng_state()
    CHECKS[number](answer)
    torch.testing.assert_close(torch.random.get_rng_state(), before)
