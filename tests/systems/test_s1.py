"""S1, the idea of encoder and decoder: what it does works here, its faults are shown."""

import torch
from torch import nn

from transformer_edu.model.encoder import Encoder, EncoderLayer


def count(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def test_s1_an_encoder_is_n_blocks_each_a_context_of_the_context_before_it():
    layers = [EncoderLayer(d_model=8, num_heads=2, d_ff=12, dropout=0.0) for _ in range(6)]
    x = torch.randn(2, 5, 8)
    context = x
    for layer in layers:
        context = layer(context)
        assert context.shape == x.shape, "every block keeps the shape"
    torch.testing.assert_close(Encoder(layers)(x), context)


def test_s1_fault_layers_in_a_plain_list_have_no_registered_parameters():
    class PlainList(nn.Module):
        """Its encoder: the layers exist, and nobody knows of them."""

        def __init__(self) -> None:
            super().__init__()
            self.layers = [EncoderLayer(d_model=8, num_heads=2, d_ff=12) for _ in range(6)]

    faulty = PlainList()
    assert count(faulty) == 0
    assert faulty.state_dict() == {}
    assert count(Encoder(faulty.layers)) == 6 * count(faulty.layers[0]) > 0
