"""Lesson 04: what its checks do beside telling answers apart."""

import torch
from torch import nn

from transformer_course.multi_head_attention.checks import (
    check_multi_head_attention,
)
from transformer_course.our_transformer import Attention
from transformer_edu.model.attention import MultiHeadAttention

W_O = torch.randn(48, 48)
FIRST, SECOND, THIRD = W_O.split(16, dim=1)
REPAIRED = torch.cat([SECOND, FIRST, THIRD], dim=1)


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


class Scaffold(Attention):
    def __init__(self, d_model, num_heads):
        super().__init__(d_model, d_model)

    def attend(self, query, key, value, mask=None):
        return ...


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


def test_a_scaffold_waits(capsys):
    check_multi_head_attention(Scaffold)
    assert capsys.readouterr().out.startswith("Exercise 4.1 is waiting for you")
