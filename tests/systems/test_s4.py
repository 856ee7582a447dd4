"""S4, shapes of self-attention: the walk from words to words, and which sub-layers there are."""

import torch

from transformer_edu.model.add_and_norm import AddAndNorm
from transformer_edu.model.attention import (
    MultiHeadAttention,
    attention_weights,
    merge_heads,
    split_heads,
)
from transformer_edu.model.decoder import DecoderLayer
from transformer_edu.model.encoder import EncoderLayer
from transformer_edu.teaching.inspect.trace import trace

S4_BATCH, S4_LENGTH, S4_WIDTH, S4_HEADS = 2, 10, 512, 8


def test_s4_the_shape_walk():
    layer = EncoderLayer(d_model=S4_WIDTH, num_heads=S4_HEADS, d_ff=2048)
    attention = layer.self_attention
    x = torch.randn(S4_BATCH, S4_LENGTH, S4_WIDTH)
    whole, heads = (2, 10, 512), (2, 8, 10, 64)
    query, key, value = (
        projection(x)
        for projection in (
            attention.query_projection,
            attention.key_projection,
            attention.value_projection,
        )
    )
    assert query.shape == key.shape == value.shape == whole
    query, key, value = (split_heads(tensor, S4_HEADS) for tensor in (query, key, value))
    assert query.shape == key.shape == value.shape == heads
    weights = attention_weights(query, key)
    assert weights.shape == (2, 8, 10, 10)
    gathered = weights @ value
    assert gathered.shape == heads
    concatenated = merge_heads(gathered)
    assert concatenated.shape == whole
    mixed = attention.output_projection(concatenated)
    assert mixed.shape == whole
    torch.testing.assert_close(mixed, attention(x, x, x))
    assert layer.feed_forward.widen(mixed).shape == (2, 10, 2048)
    assert layer(x).shape == whole


def test_s4_the_walk_is_printed_from_a_real_forward_pass():
    layer = EncoderLayer(d_model=S4_WIDTH, num_heads=S4_HEADS, d_ff=2048)
    shapes = {step.shape for step in trace(layer, torch.randn(S4_BATCH, S4_LENGTH, S4_WIDTH))}
    assert {(2, 10, 512), (2, 8, 10, 64), (2, 8, 10, 10), (2, 10, 2048)} <= shapes


def test_s4_an_encoder_layer_has_two_sub_layers_and_a_decoder_layer_three():
    sizes = {"d_model": 8, "num_heads": 2, "d_ff": 12}
    for build, expected in ((EncoderLayer, 2), (DecoderLayer, 3)):
        boxes = [box for box in build(**sizes).children() if isinstance(box, AddAndNorm)]
        assert len(boxes) == expected


def test_s4_attention_looks_from_target_to_source_and_self_attention_within_one_sequence():
    attention = MultiHeadAttention(d_model=8, num_heads=2)
    source, target = torch.randn(2, 5, 8), torch.randn(2, 3, 8)
    assert attention.attention_weights(target, source).shape == (2, 2, 3, 5)
    assert attention.attention_weights(source, source).shape == (2, 2, 5, 5)
