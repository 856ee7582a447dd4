"""Lesson 02: what its checks do beside telling answers apart."""

from torch import nn

from transformer_course.attention.checks import check_attention


class Scaffold(nn.Module):
    def __init__(self, d_model, d_head):
        super().__init__()
        ...

    def forward(self, query, key, value):
        return ...


def test_a_scaffold_waits(capsys):
    check_attention(Scaffold)
    assert capsys.readouterr().out.startswith("Exercise 2.1 is waiting for you")
