"""Lesson 04: right answers pass, and each usual wrong answer is named."""

import math
from functools import partial

import torch
from torch import nn

from tests.exercise_answers import checks_of, right_answers, wrong_answers
from transformer_course.multi_head_attention import checks as lesson_04
from transformer_course.multi_head_attention.checks import (
    check_multi_head_attention,
    check_swapped_heads,
)
from transformer_course.our_transformer import Attention
from transformer_course.our_transformer import MultiHeadAttention as Ours
from transformer_edu.model.attention import MultiHeadAttention, merge_heads

W_O = torch.randn(48, 48)
FIRST, SECOND, THIRD = W_O.split(16, dim=1)
REPAIRED = torch.cat([SECOND, FIRST, THIRD], dim=1)
CHECKS = checks_of(lesson_04) | {"4.3": partial(check_swapped_heads, w_o=W_O)}


def split(x, heads):
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def join(heads):
    return heads.transpose(1, 2).flatten(-2)


def answer(*, split=split, join=join, project=True, bias=False, attend=Attention.attend):
    """A class like the reader's, with these steps."""

    class Answer(Attention):
        def __init__(self, d_model, num_heads):
            super().__init__(d_model, d_model)
            self.num_heads = num_heads
            self.output_projection = nn.Linear(d_model, d_model, bias=bias)

        def attend(self, query, key, value, mask=None):
            parts = [split(x, self.num_heads) for x in (query, key, value)]
            joined = join(attend(self, *parts, mask))
            return self.output_projection(joined) if project else joined

    return Answer


def without_mask(self, query, key, value, mask=None):
    return Attention.attend(self, query, key, value)


def divided_by_the_whole_width(self, query, key, value, mask=None):
    return Attention.attend(self, query / math.sqrt(self.num_heads), key, value, mask)


class NoOutput(Attention):
    def __init__(self, d_model, num_heads):
        super().__init__(d_model, d_model)


class Narrow(Ours):
    def __init__(self, d_model, num_heads):
        super().__init__(d_model, num_heads)
        self.query_projection = nn.Linear(d_model, d_model // num_heads, bias=False)
        self.key_projection = nn.Linear(d_model, d_model // num_heads, bias=False)


class Scaffold(Attention):
    def __init__(self, d_model, num_heads):
        super().__init__(d_model, d_model)

    def attend(self, query, key, value, mask=None):
        return ...


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
        ("4.1", Ours),
        ("4.1", answer()),
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
        ("4.1", Ours(24, 3), "class MultiHeadAttention itself"),
        ("4.1", NoOutput, "self.output_projection must be an nn.Linear"),
        ("4.1", answer(bias=True), "needs bias=False"),
        ("4.1", Narrow, "all heads side by side"),
        ("4.1", answer(split=lambda x, heads: x, join=lambda x: x), "with one head"),
        ("4.1", answer(project=False), "output projection is missing"),
        ("4.1", answer(join=lambda x: x), "heads are not joined|shapes do not fit"),
        ("4.1", answer(join=lambda x: x, project=False), "heads are not joined"),
        (
            "4.1",
            answer(split=lambda x, heads: x.reshape(x.size(0), heads, x.size(1), -1)),
            "cut between words",
        ),
        (
            "4.1",
            answer(split=lambda x, heads: x.unflatten(-1, (-1, heads)).permute(0, 3, 1, 2)),
            "sizes in the wrong order",
        ),
        ("4.1", answer(join=lambda x: x.reshape(2, 4, 24)), "without moving them"),
        ("4.1", answer(attend=divided_by_the_whole_width), "divided by √d_model"),
        ("4.1", answer(split=lambda x, heads: x.unflatten(-1, (heads, -1))), "shapes do not fit"),
        ("4.1", answer(attend=without_mask), "hand mask on"),
        ("4.1", answer(join=lambda x: join(x).flip(-1)), "the numbers are not"),
        ("4.1", answer(join=lambda x: join(x) * math.nan), "NaN"),
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


def test_a_scaffold_waits(capsys):
    check_multi_head_attention(Scaffold)
    assert capsys.readouterr().out.startswith("Exercise 4.1 is waiting for you")
