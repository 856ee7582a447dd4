"""Lesson 04: right answers pass, and each usual wrong answer is named."""

import math
from functools import partial

import torch

from tests.exercise_answers import checks_of, right_answers, wrong_answers
from transformer_edu.model.attention import MultiHeadAttention, merge_heads
from transformer_edu.teaching.checks import heads as lesson_04
from transformer_edu.teaching.checks.heads import check_swapped_heads

W_O = torch.randn(48, 48)
FIRST, SECOND, THIRD = W_O.split(16, dim=1)
REPAIRED = torch.cat([SECOND, FIRST, THIRD], dim=1)
CHECKS = checks_of(lesson_04) | {"4.3": partial(check_swapped_heads, w_o=W_O)}


def friends_merge(x):
    batch, heads, length, d_head = x.shape
    return x.reshape(batch, length, heads * d_head)


def swap_columns(x):
    order = torch.arange(48)
    order[:2] = torch.tensor([1, 0])
    return x[:, order]


test_a_right_answer_is_correct = right_answers(
    CHECKS,
    [
        ("4.1", (3, 16, 5, 7)),
        ("4.1", [3, 16, 5, 7]),
        ("4.1", torch.Size([3, 16, 5, 7])),
        ("4.2", merge_heads),
        ("4.2", lambda x: torch.cat(list(x.unbind(1)), dim=-1)),
        ("4.3", REPAIRED),
    ],
)


def test_the_repaired_matrix_does_repair_a_module_whose_heads_were_swapped():
    attention = MultiHeadAttention(d_model=48, num_heads=3)
    x = torch.randn(2, 5, 48)
    attention.output_projection.weight.data = W_O
    before = attention(x, x, x)
    for matrix in ("query_projection", "key_projection", "value_projection"):
        weight = getattr(attention, matrix).weight
        weight.data = torch.cat([weight[16:32], weight[:16], weight[32:]]).detach()
    assert not torch.allclose(attention(x, x, x), before, atol=1e-3)
    attention.output_projection.weight.data = REPAIRED
    torch.testing.assert_close(attention(x, x, x), before)


test_a_wrong_answer_gets_its_own_hint = wrong_answers(
    CHECKS,
    [
        ("4.1", (3, 16, 7, 5), "Rows are queries"),
        ("4.1", (3, 5, 16, 7), "heads come before the positions"),
        ("4.1", (3, 5, 7), "one head"),
        ("4.1", (3, 5, 7, 16), "before query and key"),
        ("4.1", (3, 16, 5, 5), "attends to the source"),
        ("4.1", (3, 16, 7, 7), "5 words are the queries"),
        ("4.1", (3, 16, 5, 32), "d_head is gone"),
        ("4.1", (16, 3, 5, 7), "always the first"),
        ("4.1", (3, 512), "Four numbers"),
        ("4.1", "3 16 5 7", "a tuple"),
        ("4.1", (math.nan,) * 4, "Four numbers"),
        ("4.2", friends_merge, "the friend's version"),
        ("4.2", lambda x: x.permute(0, 2, 3, 1).flatten(-2), "interleaved"),
        ("4.2", lambda x: x.transpose(2, 3).reshape(2, 5, 12), "not the heads"),
        ("4.2", lambda x: x.flip(1).transpose(1, 2).flatten(-2), "reverse order"),
        ("4.2", lambda x: x.transpose(1, 2), "flatten the last two"),
        ("4.2", lambda x: x.transpose(2, 3).flatten(1, 2), "Position must come second"),
        ("4.2", lambda x: x.flatten(), "shape must be"),
        ("4.2", lambda x: torch.zeros(2, 5, 12), "Two steps"),
        ("4.2", lambda x: torch.full((2, 5, 12), math.nan), "NaN"),
        ("4.3", W_O, "Nothing has changed"),
        ("4.3", torch.cat([W_O[16:32], W_O[:16], W_O[32:]]), "swapped rows"),
        ("4.3", swap_columns(W_O), "16 columns wide"),
        ("4.3", torch.cat([THIRD, SECOND, FIRST], dim=1), "heads 1 and 3"),
        ("4.3", torch.cat([FIRST, THIRD, SECOND], dim=1), "count heads from 1"),
        ("4.3", W_O.roll(16, dims=1), "must stay in its place"),
        ("4.3", W_O.T, "leave the others"),
        ("4.3", FIRST, "shape must be"),
        ("4.3", torch.full((48, 48), math.nan), "NaN"),
    ],
)
