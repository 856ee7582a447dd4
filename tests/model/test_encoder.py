"""The encoder reads both ways, layer upon layer (§3.1). test_pytorch ties it to torch.nn."""

import pytest
import torch
from torch import Tensor, nn

from transformer_edu.model.encoder import Encoder, EncoderLayer

BATCH, POSITION, HEADS, D_MODEL, D_FF, LAYERS = 2, 5, 3, 12, 20, 4
SIZES = {"d_model": D_MODEL, "num_heads": HEADS, "d_ff": D_FF, "dropout": 0.0}


@pytest.fixture
def x() -> Tensor:
    return torch.randn(BATCH, POSITION, D_MODEL)


def build(final_norm: nn.LayerNorm | None = None, **switches: bool) -> Encoder:
    layers = (EncoderLayer(**SIZES, **switches) for _ in range(LAYERS))
    return Encoder(layers, final_norm=final_norm)


def test_a_layer_is_attention_then_feed_forward_each_in_its_box(x):
    layer = EncoderLayer(**SIZES)
    middle = layer.around_self_attention.norm(x + layer.self_attention(x, x, x))
    expected = layer.around_feed_forward.norm(middle + layer.feed_forward(middle))
    torch.testing.assert_close(layer(x), expected)


def test_a_pre_norm_layer_normalises_before_each_sub_layer(x):
    layer = EncoderLayer(**SIZES, norm_first=True)
    normed = layer.around_self_attention.norm(x)
    middle = x + layer.self_attention(normed, normed, normed)
    expected = middle + layer.feed_forward(layer.around_feed_forward.norm(middle))
    torch.testing.assert_close(layer(x), expected)


@pytest.mark.parametrize("norm_first", [True, False])
def test_the_shape_goes_through_unchanged(x, norm_first):
    assert build(norm_first=norm_first)(x).shape == (BATCH, POSITION, D_MODEL)


def test_every_layer_reads_what_the_one_before_wrote(x):
    encoder = build()
    expected = x
    for layer in encoder.layers:
        expected = layer(expected)
    torch.testing.assert_close(encoder(x), expected)


def test_the_final_norm_comes_last(x):
    encoder = build()
    plain = encoder(x)
    encoder.final_norm = nn.LayerNorm(D_MODEL)
    nn.init.normal_(encoder.final_norm.weight)
    torch.testing.assert_close(encoder(x), encoder.final_norm(plain))


def test_no_two_layers_start_equal():
    for name in ("self_attention.query_projection.weight", "feed_forward.widen.weight"):
        matrices = [layer.get_parameter(name) for layer in build().layers]
        assert len({matrix.sum().item() for matrix in matrices}) == LAYERS


def test_every_layers_weights_are_registered():
    in_one_layer = len(list(EncoderLayer(**SIZES).parameters()))
    assert len(list(build().parameters())) == LAYERS * in_one_layer


def test_every_position_sees_both_ways(x):
    x.requires_grad_()
    build()(x)[:, 2, 0].sum().backward()
    assert (x.grad.abs().sum(dim=-1) > 0).all()


def test_a_hidden_position_is_seen_by_nobody_else(x):
    x.requires_grad_()
    mask = torch.arange(POSITION) != 2
    build()(x, mask=mask)[:, mask, 0].sum().backward()
    assert ((x.grad.abs().sum(dim=-1) > 0) == mask).all()


def test_without_positions_the_order_of_words_means_nothing(x):
    order = torch.tensor([3, 0, 4, 1, 2])
    encoder = build()
    torch.testing.assert_close(encoder(x[:, order]), encoder(x)[:, order])


def test_dropout_stands_on_the_output_of_both_sub_layers(x):
    layer = EncoderLayer(**(SIZES | {"dropout": 1.0}), norm_first=True)
    assert torch.equal(layer(x), x)
    assert not torch.equal(layer.eval()(x), x)


@pytest.mark.parametrize("bias", [True, False])
def test_the_switch_gives_attention_its_biases(bias):
    names = [name for name, _ in EncoderLayer(**SIZES, bias=bias).named_parameters()]
    assert sum(name.endswith("projection.bias") for name in names) == (4 if bias else 0)
