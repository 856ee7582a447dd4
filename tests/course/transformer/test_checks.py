"""Lesson 09: what its checks do beside telling answers apart."""

import pytest
import torch
from torch import nn

from transformer_course.our_transformer import Transformer
from transformer_course.transformer.checks import check_transformer


class Scaffold(nn.Module):
    def __init__(self, vocabulary_size, d_model, num_heads, num_layers, d_ff, dropout=0.1):
        super().__init__()
        ...

    def forward(self, source_ids, target_ids):
        return ...


class HalfWritten(Transformer):
    def decode(self, target_ids, memory, source_mask):
        return ...


@pytest.mark.parametrize("scaffold", [Scaffold, HalfWritten])
def test_a_scaffold_waits(scaffold, capsys):
    check_transformer(scaffold)
    assert capsys.readouterr().out.startswith("Exercise 9.1 is waiting for you")


def test_a_check_leaves_the_random_numbers_alone():
    before = torch.random.get_rng_state()
    check_transformer(Transformer)
    torch.testing.assert_close(torch.random.get_rng_state(), before)
