"""Lesson 01: what its checks do beside telling answers apart."""

from torch import nn

from transformer_course.words_as_vectors.checks import (
    check_token_embedding,
)


def test_a_scaffold_waits(capsys):
    class Scaffold(nn.Module):
        def __init__(self, vocabulary_size, d_model):
            super().__init__()

        def forward(self, token_ids):
            return ...

    check_token_embedding(Scaffold)
    assert capsys.readouterr().out.startswith("Exercise 1.1 is waiting for you")
