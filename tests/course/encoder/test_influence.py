"""A word influences another one only if a chain of attention joins them."""

import torch

from transformer_course.encoder.influence import influence
from transformer_course.our_transformer import Encoder


def test_fractions_sum_to_one_and_each_layer_reaches_one_word_further():
    torch.manual_seed(0)
    encoder, x = Encoder(3, 12, 2, 20, 0.0), torch.randn(1, 7, 12)
    position = torch.arange(7)
    neighbors = (position.unsqueeze(1) - position).abs() <= 1
    found = influence(encoder, x, 0, neighbors)
    assert found.shape == (3, 7)
    torch.testing.assert_close(found.sum(dim=1), torch.ones(3))
    assert (found > 0).tolist() == [[number <= layer for number in range(7)] for layer in (1, 2, 3)]
    assert (influence(encoder, x, 0) > 0).all()
