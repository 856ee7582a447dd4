"""The decoder looks back, then across at the source (§3.1). test_pytorch ties it to torch.nn."""

import pytest
import torch
from torch import Tensor, nn

from transformer_edu.model.decoder import Decoder, DecoderLayer
from transformer_edu.model.masks import causal_mask

BATCH, TARGET, SOURCE, HEADS, D_MODEL, D_FF, LAYERS = 2, 4, 5, 3, 12, 20, 3
SIZES = {"d_model": D_MODEL, "num_heads": HEADS, "d_ff": D_FF, "dropout": 0.0}


@pytest.fixture
def x() -> Tensor:
    return torch.randn(BATCH, TARGET, D_MODEL)


@pytest.fixture
def memory() -> Tensor:
    return torch.randn(BATCH, SOURCE, D_MODEL)


def build(**switches: bool) -> Decoder:
    return Decoder(DecoderLayer(**SIZES, **switches) for _ in range(LAYERS))


def test_a_layer_is_three_sub_layers_each_in_its_box(x, memory):
    layer = DecoderLayer(**SIZES)
    mask = causal_mask(TARGET)
    looked = layer.around_self_attention.norm(x + layer.self_attention(x, x, x, mask=mask))
    across = layer.cross_attention(looked, memory, memory)
    crossed = layer.around_cross_attention.norm(looked + across)
    expected = layer.around_feed_forward.norm(crossed + layer.feed_forward(crossed))
    torch.testing.assert_close(layer(x, memory, target_mask=mask), expected)


def test_a_pre_norm_layer_normalises_its_own_side_and_not_the_memory(x, memory):
    layer = DecoderLayer(**SIZES, norm_first=True)
    normed = layer.around_self_attention.norm(x)
    looked = x + layer.self_attention(normed, normed, normed)
    normed = layer.around_cross_attention.norm(looked)
    crossed = looked + layer.cross_attention(normed, memory, memory)
    expected = crossed + layer.feed_forward(layer.around_feed_forward.norm(crossed))
    torch.testing.assert_close(layer(x, memory), expected)


def test_every_layer_looks_at_the_same_memory(x, memory):
    decoder = build()
    expected = x
    for layer in decoder.layers:
        expected = layer(expected, memory)
    output = decoder(x, memory)
    assert output.shape == (BATCH, TARGET, D_MODEL)
    torch.testing.assert_close(output, expected)


def test_the_final_norm_comes_last(x, memory):
    decoder = build()
    plain = decoder(x, memory)
    decoder.final_norm = nn.LayerNorm(D_MODEL)
    nn.init.normal_(decoder.final_norm.weight)
    torch.testing.assert_close(decoder(x, memory), decoder.final_norm(plain))


def test_every_target_position_sees_the_whole_source(x, memory):
    for position in range(TARGET):
        memory.requires_grad_().grad = None
        output = build()(x, memory, target_mask=causal_mask(TARGET))
        output[:, position, 0].sum().backward()
        assert (memory.grad.abs().sum(dim=-1) > 0).all()


def test_the_source_mask_hides_a_source_position_from_all(x, memory):
    memory.requires_grad_()
    mask = torch.arange(SOURCE) != 1
    build()(x, memory, source_mask=mask)[..., 0].sum().backward()
    assert ((memory.grad.abs().sum(dim=-1) > 0) == mask).all()


@pytest.mark.parametrize("norm_first", [True, False])
def test_gradient_flows_from_a_position_to_itself_and_the_past_alone(x, memory, norm_first):
    decoder = build(norm_first=norm_first)
    for position in range(TARGET):
        x.requires_grad_().grad = None
        output = decoder(x, memory, target_mask=causal_mask(TARGET))
        output[:, position, 0].sum().backward()
        reached = x.grad.abs().sum(dim=-1)
        assert (reached[:, : position + 1] > 0).all()
        assert (reached[:, position + 1 :] == 0).all()


def test_without_a_mask_the_future_is_seen(x, memory):
    x.requires_grad_()
    build()(x, memory)[:, 0, 0].sum().backward()
    assert (x.grad.abs().sum(dim=-1) > 0).all()


def test_no_two_layers_start_equal_and_all_are_registered():
    decoder = build()
    name = "cross_attention.value_projection.weight"
    assert len({layer.get_parameter(name).sum().item() for layer in decoder.layers}) == LAYERS
    in_one_layer = len(list(DecoderLayer(**SIZES).parameters()))
    assert len(list(decoder.parameters())) == LAYERS * in_one_layer


def test_dropout_stands_on_the_output_of_all_three_sub_layers(x, memory):
    layer = DecoderLayer(**(SIZES | {"dropout": 1.0}), norm_first=True)
    assert torch.equal(layer(x, memory), x)
    assert not torch.equal(layer.eval()(x, memory), x)
