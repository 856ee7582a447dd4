"""Lesson 06: right answers pass, and each usual wrong answer is named."""

import math

import torch
import torch.nn.functional as F

from tests.exercise_answers import checks_of, right_answers, wrong_answers
from transformer_edu.model.feed_forward import FeedForward
from transformer_edu.teaching.checks import feed_forward as lesson_06
from transformer_edu.teaching.checks.feed_forward import check_feed_forward_size

CHECKS = checks_of(lesson_06)


def hinges(first, second):
    """w_1 with two slopes and w_2 with two heights."""
    return torch.tensor([first], dtype=torch.float32), torch.tensor(second).float().unsqueeze(1)


def normalised(x, *, axes=(-1,), correction=0, root=True):
    variance = x.var(dim=axes, correction=correction, keepdim=True)
    spread = (variance + 1e-5).sqrt() if root else variance.sqrt() + 1e-5
    return (x - x.mean(dim=axes, keepdim=True)) / spread


test_a_right_answer_is_correct = right_answers(
    CHECKS,
    [
        ("6.1", 8_393_728),
        ("6.1", 2 * 1024 * 4096 + 4096 + 1024),
        ("6.2", hinges([1, -1], [1, 1])),
        ("6.2", list(hinges([-2, 4], [0.5, 0.25]))),
        ("6.3", normalised),
        ("6.3", lambda x: F.layer_norm(x, (5,))),
        ("6.4", lambda x, norm, sublayer: x + sublayer(norm(x))),
    ],
)


def test_the_number_of_parameters_is_that_of_the_package():
    with torch.device("meta"):
        network = FeedForward(d_model=1024, d_ff=4096)
    check_feed_forward_size(sum(parameter.numel() for parameter in network.parameters()))


test_a_wrong_answer_gets_its_own_hint = wrong_answers(
    CHECKS,
    [
        ("6.1", 2 * 1024 * 4096, "now the two biases"),
        ("6.1", 1024 * 4096, "one matrix"),
        ("6.1", 2 * 1024 * 4096 + 2 * 4096, "second layer gives d_model"),
        ("6.1", 2 * 1024 * 4096 + 2 * 1024, "first layer gives d_ff"),
        ("6.1", 2_099_712, "base model"),
        ("6.1", 65_000_000, "Count two matrices"),
        ("6.1", True, "whole number"),
        ("6.2", hinges([1, -1], [1, -1]), "gives back t"),
        ("6.2", hinges([1, 1], [1, 1]), "same side"),
        ("6.2", hinges([-1, -3], [1, 1]), "same side"),
        ("6.2", hinges([1, -1], [-1, -1]), "The sign is wrong"),
        ("6.2", hinges([1, -1], [1, 2]), "At -3 your network gives 6.00"),
        ("6.2", (torch.ones(2, 1), torch.ones(2, 1)), "shape must be"),
        ("6.2", torch.ones(1, 2), "pair"),
        ("6.2", hinges([math.nan, 1], [1, 1]), "NaN"),
        ("6.3", lambda x: normalised(x, correction=1), "divides by n - 1"),
        ("6.3", lambda x: normalised(x, root=False), "inside the root"),
        ("6.3", lambda x: normalised(x, root=False, correction=1), "Two things"),
        ("6.3", lambda x: normalised(x, axes=(1,)), "over the positions"),
        ("6.3", lambda x: normalised(x, axes=(1,), correction=1), "over the positions"),
        ("6.3", lambda x: normalised(x, axes=(0,)), "over the batch"),
        ("6.3", lambda x: normalised(x, axes=(0, 1, 2)), "the whole tensor"),
        ("6.3", lambda x: x - x.mean(-1, keepdim=True), "Nothing was divided"),
        (
            "6.3",
            lambda x: x / (x.var(-1, correction=0, keepdim=True) + 1e-5).sqrt(),
            "mean is still there",
        ),
        (
            "6.3",
            lambda x: (x - x.mean(-1, keepdim=True)) / x.std(-1, correction=0, keepdim=True),
            "0/0",
        ),
        (
            "6.3",
            lambda x: (
                (x - x.mean(-1, keepdim=True)) / (x.var(-1, correction=0, keepdim=True) + 1e-5)
            ),
            "divide by its root",
        ),
        ("6.3", lambda x: x.mean(-1), "shape must be"),
        ("6.3", lambda x: torch.zeros_like(x), "own mean, then divide"),
        ("6.3", lambda x: x - x.mean(-1), "could not be used"),
        ("6.3", lambda x: x * math.nan, "NaN"),
        ("6.4", lambda x, norm, sublayer: norm(x) + sublayer(norm(x)), "the friend's version"),
        ("6.4", lambda x, norm, sublayer: norm(x + sublayer(x)), "post-norm"),
        ("6.4", lambda x, norm, sublayer: sublayer(norm(x)), "residual connection is missing"),
        ("6.4", lambda x, norm, sublayer: x + norm(sublayer(x)), "wrong end of the branch"),
        ("6.4", lambda x, norm, sublayer: x + sublayer(x), "norm is missing"),
        ("6.4", lambda x, norm, sublayer: x, "Normalize the input"),
        ("6.4", lambda x, norm, sublayer: x * math.nan, "NaN"),
    ],
)
