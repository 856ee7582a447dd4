"""Lesson 03: what its checks do beside telling answers apart."""

from torch import nn

from transformer_course.masks.checks import check_masked_attention


class Waits(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()

    def forward(self, query, key, value, mask=None):
        return ...


def test_a_scaffold_waits(capsys):
    check_masked_attention(Waits)
    assert capsys.readouterr().out.startswith("Exercise 3.2 is waiting for you")
