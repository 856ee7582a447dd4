"""Our modules and torch.nn's are twins: the same weights give the same numbers, either way."""

import copy
import itertools

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_edu.model.attention import MultiHeadAttention
from transformer_edu.model.decoder import Decoder
from transformer_edu.model.embeddings import TokenEmbedding
from transformer_edu.model.encoder import Encoder, EncoderLayer
from transformer_edu.model.feed_forward import ACTIVATIONS
from transformer_edu.model.masks import causal_mask
from transformer_edu.model.pytorch import from_pytorch, to_pytorch
from transformer_edu.model.transformer import Transformer, TransformerConfig

BATCH, SOURCE, TARGET, HEADS, D_MODEL, D_FF, LAYERS = 3, 5, 4, 2, 12, 20, 2
TOLERANCES = {torch.float32: 1e-5, torch.float64: 1e-10}
# True at the real tokens: no padding, some, and all but one word padding.
REAL_SOURCE = torch.arange(SOURCE) < torch.tensor([[5], [3], [1]])
REAL_TARGET = torch.arange(TARGET) < torch.tensor([[2], [4], [3]])

SWITCHES = [
    {"norm_first": norm_first, "final_norm": final_norm, "bias": bias}
    for norm_first, final_norm, bias in itertools.product([False, True], repeat=3)
]
each_switch = pytest.mark.parametrize("switches", SWITCHES, ids=lambda s: str([*s.values()]))
each_type = pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
each_mode = pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])


def build(dtype: torch.dtype = torch.float32, **switches: bool) -> Transformer:
    """A small model whose every weight is random, biases and normalisations too."""
    sizes = {"d_model": D_MODEL, "num_heads": HEADS, "d_ff": D_FF, "num_layers": LAYERS}
    model = Transformer(TransformerConfig(vocabulary_size=7, dropout=0.0, **(sizes | switches)))
    for name, parameter in model.named_parameters():
        mean = 1.0 if name.endswith("norm.weight") else 0.0
        nn.init.normal_(parameter, mean=mean, std=0.3)
    return model.to(dtype)


def draw(dtype: torch.dtype = torch.float32) -> tuple[Tensor, Tensor]:
    """Vectors for a source and a target."""
    source = torch.randn(BATCH, SOURCE, D_MODEL, dtype=dtype)
    return source, torch.randn(BATCH, TARGET, D_MODEL, dtype=dtype)


def read(encoder: Encoder, decoder: Decoder, source: Tensor, target: Tensor) -> Tensor:
    """Run our stacks over padded sequences."""
    source_mask = REAL_SOURCE[:, None, None]
    target_mask = REAL_TARGET[:, None, None] & causal_mask(TARGET)
    memory = encoder(source, mask=source_mask)
    return decoder(target, memory, target_mask=target_mask, source_mask=source_mask)


def read_pytorch(transformer: nn.Transformer, source: Tensor, target: Tensor) -> Tensor:
    """Run torch.nn's stacks over the same, every mask turned round."""
    return transformer(
        source,
        target,
        src_key_padding_mask=~REAL_SOURCE,
        tgt_mask=~causal_mask(TARGET),
        tgt_key_padding_mask=~REAL_TARGET,
        memory_key_padding_mask=~REAL_SOURCE,
    )


@each_switch
@each_type
@each_mode
def test_the_stacks_agree_with_nn_transformer(switches, dtype, training):
    model = build(dtype, **switches).train(training)
    twin = to_pytorch(model)
    source, target = draw(dtype)
    ours = read(model.encoder, model.decoder, source, target)
    with torch.set_grad_enabled(training):
        theirs = read_pytorch(twin, source, target)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=TOLERANCES[dtype])


@each_switch
@each_mode
def test_the_way_there_and_back_changes_nothing(switches, training):
    model = build(**switches).train(training)
    encoder, decoder = from_pytorch(to_pytorch(model))
    source, target = draw()
    ours = read(model.encoder, model.decoder, source, target)
    assert torch.equal(read(encoder, decoder, source, target), ours)


@each_switch
def test_every_gradient_agrees_with_nn_transformer(switches):
    model = build(torch.float64, **switches)
    twin = to_pytorch(model)
    source, target = draw(torch.float64)
    probe = torch.randn(BATCH, TARGET, D_MODEL, dtype=torch.float64)
    (read(model.encoder, model.decoder, source, target) * probe).sum().backward()
    (read_pytorch(twin, source, target) * probe).sum().backward()
    # A model whose weights are the gradients is carried over like any other.
    gradients = copy.deepcopy(model)
    for parameter, own in zip(gradients.parameters(), model.parameters(), strict=True):
        parameter.data.copy_(torch.zeros_like(own) if own.grad is None else own.grad)
    ours = dict(to_pytorch(gradients).named_parameters())
    compared = 0
    for name, parameter in twin.named_parameters():
        if not switches["bias"] and name.endswith(("in_proj_bias", "out_proj.bias")):
            continue  # ours does without
        torch.testing.assert_close(parameter.grad, ours[name], rtol=0, atol=1e-10)
        assert parameter.grad.abs().max() > 0
        compared += 1
    assert compared >= LAYERS * (10 + 14)


@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize("bias", [True, False])
@each_type
def test_single_layers_agree(norm_first, bias, dtype):
    model = build(dtype, norm_first=norm_first, bias=bias)
    source, target = draw(dtype)
    exact = {"rtol": 0, "atol": TOLERANCES[dtype]}
    ours = model.encoder.layers[0](source, mask=REAL_SOURCE[:, None, None])
    twin = to_pytorch(model.encoder.layers[0])
    theirs = twin(source, src_key_padding_mask=~REAL_SOURCE)
    torch.testing.assert_close(ours, theirs, **exact)

    ours = model.decoder.layers[0](target, source, target_mask=causal_mask(TARGET))
    twin = to_pytorch(model.decoder.layers[0])
    theirs = twin(target, source, tgt_mask=~causal_mask(TARGET))
    torch.testing.assert_close(ours, theirs, **exact)


def test_torch_nns_names_meet_their_classes():
    model = build()
    layer, decoder_layer = model.encoder.layers[0], model.decoder.layers[0]
    for module, twin in [
        (layer.self_attention, nn.MultiheadAttention),
        (layer, nn.TransformerEncoderLayer),
        (decoder_layer, nn.TransformerDecoderLayer),
        (model.encoder, nn.TransformerEncoder),
        (model.decoder, nn.TransformerDecoder),
        (model, nn.Transformer),
    ]:
        assert type(to_pytorch(module)) is twin
        if module is not model:
            assert type(from_pytorch(to_pytorch(module))) is type(module)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("norm_first", [True, False])
def test_a_fresh_nn_transformer_becomes_ours(bias, batch_first, norm_first):
    pytorch = nn.Transformer(
        D_MODEL,
        HEADS,
        num_encoder_layers=2,
        num_decoder_layers=3,
        dim_feedforward=D_FF,
        dropout=0.0,
        bias=bias,
        batch_first=batch_first,
        norm_first=norm_first,
    )
    for parameter in pytorch.parameters():
        nn.init.normal_(parameter, std=0.3)
    encoder, decoder = from_pytorch(pytorch)
    source, target = draw()
    flip = (lambda x: x) if batch_first else (lambda x: x.transpose(0, 1))
    theirs = flip(read_pytorch(pytorch, flip(source), flip(target)))
    torch.testing.assert_close(read(encoder, decoder, source, target), theirs)
    assert (len(encoder.layers), len(decoder.layers)) == (2, 3)


@pytest.mark.parametrize("bias", [True, False])
def test_a_fresh_nn_multihead_attention_becomes_ours(bias):
    pytorch = nn.MultiheadAttention(D_MODEL, HEADS, bias=bias, batch_first=True)
    source, target = draw()
    attention = from_pytorch(pytorch)
    theirs, weights = pytorch(target, source, source, average_attn_weights=False)
    torch.testing.assert_close(attention(target, source, source), theirs)
    torch.testing.assert_close(attention.attention_weights(target, source), weights)
    has_bias = {name.endswith("bias") for name, _ in attention.named_parameters()}
    assert has_bias == ({True, False} if bias else {False})


def test_our_model_can_take_the_stacks_of_an_nn_transformer():
    model = build(bias=True, final_norm=True)
    pytorch = nn.Transformer(D_MODEL, HEADS, LAYERS, LAYERS, D_FF, 0.0, batch_first=True)
    encoder, decoder = from_pytorch(pytorch)
    model.encoder.load_state_dict(encoder.state_dict())
    model.decoder.load_state_dict(decoder.state_dict())
    source, target = draw()
    ours = read(model.encoder, model.decoder, source, target)
    torch.testing.assert_close(ours, read_pytorch(pytorch, source, target))


def test_the_twin_is_a_copy_and_not_the_same_memory():
    model = build()
    twin = to_pytorch(model)
    source, target = draw()
    before = read_pytorch(twin, source, target)
    for parameter in model.parameters():
        parameter.data.zero_()
    torch.testing.assert_close(read_pytorch(twin, source, target), before)


def test_carrying_weights_draws_no_random_number():
    model = build()
    before = torch.get_rng_state()
    from_pytorch(to_pytorch(model))
    assert torch.equal(torch.get_rng_state(), before)


@each_mode
@each_type
def test_type_and_mode_come_along(training, dtype):
    twin = to_pytorch(build(dtype).train(training))
    stacks = nn.ModuleList(from_pytorch(twin))
    for module in (twin, stacks):
        assert {parameter.dtype for parameter in module.parameters()} == {dtype}
    for module in (*twin.modules(), *stacks[0].modules(), *stacks[1].modules()):
        assert module.training == training


@each_mode
def test_the_mode_of_a_single_layer_comes_along(training):
    for layer in (build().encoder.layers[0], MultiHeadAttention(d_model=6, num_heads=3)):
        twin = to_pytorch(layer.train(training))
        assert all(module.training == training for module in twin.modules())
        assert all(module.training == training for module in from_pytorch(twin).modules())


@torch.no_grad()
def test_positions_that_are_padding_in_every_row_stay_in_the_answer():
    # torch.nn's own default, nested tensors, would cut them off in eval mode.
    source, _ = draw()
    real = REAL_SOURCE & (torch.arange(SOURCE) < 4)
    model = build().eval()
    theirs = to_pytorch(model.encoder)(source, src_key_padding_mask=~real)
    assert theirs.shape == source.shape
    torch.testing.assert_close(theirs, model.encoder(source, mask=real[:, None, None]))


def test_the_device_comes_along():
    twin = to_pytorch(build().to("meta"))
    assert {parameter.device.type for parameter in twin.parameters()} == {"meta"}


def test_dropout_comes_along_where_both_have_it():
    layer = EncoderLayer(d_model=D_MODEL, num_heads=HEADS, d_ff=D_FF, dropout=0.3)
    twin = to_pytorch(layer)
    assert (twin.dropout1.p, twin.dropout2.p) == (0.3, 0.3)
    assert (twin.self_attn.dropout, twin.dropout.p) == (0.0, 0.0), "ours drops nothing there"
    attention = MultiHeadAttention(d_model=D_MODEL, num_heads=HEADS, dropout=0.4)
    assert to_pytorch(attention).dropout == 0.4
    pytorch = nn.TransformerDecoderLayer(D_MODEL, HEADS, D_FF, dropout=0.2)
    layer = from_pytorch(pytorch)
    assert layer.cross_attention.dropout == 0.2
    boxes = (
        layer.around_self_attention,
        layer.around_cross_attention,
        layer.around_feed_forward,
    )
    assert [box.dropout.p for box in boxes] == [0.2] * 3


@pytest.mark.parametrize("module", [TokenEmbedding(vocabulary_size=3, d_model=4), "model.pt"])
def test_what_torch_nn_does_not_have_is_refused(module):
    got = type(module).__name__
    with pytest.raises(TypeError, match=f"must have a counterpart in torch.nn, got {got}$"):
        to_pytorch(module)


def encoder_layer(**changes: object) -> nn.TransformerEncoderLayer:
    return nn.TransformerEncoderLayer(D_MODEL, HEADS, D_FF, **changes)


OTHER_KEYS = "module must attend to its keys alone, got add_bias_kv or add_zero_attn"


@pytest.mark.parametrize(
    ("module", "error", "message"),
    [
        (encoder_layer(activation=torch.sin), ValueError, f"{', '.join(ACTIVATIONS)}, got sin"),
        (encoder_layer(activation=nn.GELU("tanh")), ValueError, "got GELU(approximate='tanh')"),
        (nn.MultiheadAttention(6, 3, add_zero_attn=True), ValueError, OTHER_KEYS),
        (nn.MultiheadAttention(6, 3, add_bias_kv=True), ValueError, OTHER_KEYS),
        (
            MultiHeadAttention(d_model=6, num_heads=3),
            TypeError,
            "module must have a counterpart in this package, got MultiHeadAttention",
        ),
    ],
)
def test_what_ours_cannot_compute_is_refused(module, error, message):
    with pytest.raises(error) as caught:
        from_pytorch(module)
    assert str(caught.value).endswith(message)


def test_keys_of_a_different_width_are_not_converted():
    with pytest.raises(AttributeError):
        from_pytorch(nn.MultiheadAttention(6, 3, kdim=4, vdim=5))


@pytest.mark.parametrize("activation", [nn.ReLU(), nn.SiLU(), torch.relu, F.silu, "gelu"])
def test_the_activation_comes_along_both_ways(activation):
    layer = encoder_layer(activation=activation, dropout=0.0, batch_first=True)
    x, _ = draw()
    ours = from_pytorch(layer)
    torch.testing.assert_close(ours(x), layer(x))
    torch.testing.assert_close(to_pytorch(ours)(x), layer(x))


@pytest.mark.parametrize("norm", [nn.LayerNorm(D_MODEL, eps=0.1), nn.RMSNorm(D_MODEL)], ids=str)
def test_a_different_normalization_comes_along_both_ways(norm):
    nn.init.normal_(norm.weight)
    theirs = encoder_layer(dropout=0.0, batch_first=True)
    x, _ = draw()
    usual = theirs(x)
    theirs.norm1 = norm
    expected = theirs(x)
    assert not torch.allclose(expected, usual)
    ours = from_pytorch(nn.TransformerEncoder(theirs, 1, norm=norm, enable_nested_tensor=False))
    torch.testing.assert_close(ours(x), norm(expected))
    torch.testing.assert_close(to_pytorch(ours)(x), norm(expected))
    assert ours.final_norm is not norm
