"""S1, the idea of encoder and decoder: what it does works here, its faults are shown."""

import torch
from torch import nn

from transformer_edu.model.attention import MultiHeadAttention
from transformer_edu.model.encoder import Encoder, EncoderLayer
from transformer_edu.model.transformer import Transformer, TransformerConfig


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


def test_s1_fault_query_and_key_do_not_always_have_one_shape():
    attention = MultiHeadAttention(d_model=8, num_heads=2)
    target, memory = torch.randn(2, 3, 8), torch.randn(2, 5, 8)
    assert attention(target, memory, memory).shape == (2, 3, 8)
    assert attention.attention_weights(target, memory).shape == (2, 2, 3, 5)


def test_s1_key_and_value_differ_though_they_come_from_the_same_token():
    attention = MultiHeadAttention(d_model=8, num_heads=2)
    token = torch.randn(1, 1, 8)
    assert not torch.allclose(attention.key_projection(token), attention.value_projection(token))


def test_s1_the_decoder_turns_context_and_the_sentence_so_far_into_the_next_word():
    sizes = {"d_model": 8, "num_heads": 2, "num_layers": 6, "d_ff": 12}
    model = Transformer(TransformerConfig(vocabulary_size=9, **sizes)).eval()
    memory = model.encode(torch.tensor([[4, 5, 6, 7]]))
    so_far = torch.tensor([[1, 5, 3]])
    next_word = model.project(model.decode(so_far, memory, source_mask=None))[:, -1]
    assert next_word.shape == (1, 9)
    for other in (model.encode(torch.tensor([[7, 6, 5, 4]])), memory + 1):
        changed = model.project(model.decode(so_far, other, source_mask=None))[:, -1]
        assert not torch.allclose(changed, next_word)
