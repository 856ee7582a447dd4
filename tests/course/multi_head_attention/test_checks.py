"""Lesson 04: what its checks do beside telling answers apart."""

import pytest
import torch
from torch import nn

from transformer_course.multi_head_attention.checks import check_multi_head_attention
from transformer_course.multi_head_attention.list_checks import check_list_of_heads
from transformer_edu.model.attention import MultiHeadAttention

W_O = torch.randn(48, 48)
FIRST, SECOND, THIRD = W_O.split(16, dim=1)
REPAIRED = torch.cat([SECOND, FIRST, THIRD], dim=1)


class Scaffold(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()

    def forward(self, query, key, value, mask=None):
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


@pytest.mark.parametrize("number", [1, 2])
def test_a_scaffold_waits(number, capsys):
    [check_list_of_heads, check_multi_head_attention][number - 1](Scaffold)
    assert capsys.readouterr().out.startswith(f"Exercise 4.{number} is waiting for you")
