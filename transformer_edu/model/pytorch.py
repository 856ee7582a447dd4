"""The same layers in torch.nn: conversion of weights both ways (paper §3).

Used in notebooks/07_encoder.ipynb and 13_pattern_with_torch.ipynb. Three things differ:

- **Masks have the opposite polarity.** Here True means *may attend*; in ``nn.MultiheadAttention``
  and everything built on it True *hides*. Invert a mask with ``~``. Padding masks are
  (batch, key) there and (batch, 1, 1, key) here.
- **Dropout.** Ours is where §5.4 puts it, on every sub-layer's output. torch.nn also drops
  attention weights, and elements inside the feed-forward network.
- **A query that may attend to nothing** has an output of zeros here; there, in some settings, NaN.
"""

import copy
from functools import singledispatch

import torch
from torch import Tensor, nn

from .attention import MultiHeadAttention
from .decoder import Decoder, DecoderLayer
from .encoder import Encoder, EncoderLayer
from .feed_forward import ACTIVATIONS, FeedForward
from .transformer import Transformer

# The name of each part of a layer here, and in torch.nn, which numbers norms and dropouts.
ATTENTION_NAMES = {"self_attention": "self_attn", "cross_attention": "multihead_attn"}
FEED_FORWARD_NAMES = {"feed_forward.widen": "linear1", "feed_forward.narrow": "linear2"}
ACTIVATION_NAMES = {function: name for name, function in ACTIVATIONS.items()}
ACTIVATION_NAMES |= {torch.relu: "relu", nn.ReLU: "relu", nn.SiLU: "silu"}
AROUND_NAMES = ("around_self_attention", "around_cross_attention", "around_feed_forward")


@singledispatch
def to_pytorch(module: nn.Module) -> nn.Module:
    """Build the module of torch.nn that computes the same: a copy.

    It has ``batch_first=True`` and the type, device and mode of the module. Attention without
    biases gets biases of zero. Unlike a new layer of torch.nn, it drops nothing inside the
    feed-forward network. Remember to invert the masks.

    Args:
        module: A MultiHeadAttention, EncoderLayer, DecoderLayer, Encoder, Decoder, or a
            Transformer, of which only the two stacks are converted: nn.Transformer has neither
            embeddings nor an output projection.

    Raises:
        TypeError: If torch.nn has no such module.
    """
    raise TypeError(f"module must have a counterpart in torch.nn, got {type(module).__name__}")


@singledispatch
def from_pytorch(module: nn.Module) -> nn.Module | tuple[Encoder, Decoder]:
    """Build our module that computes the same as a module of torch.nn: a copy.

    It takes (batch, position, d_model), whatever the module's ``batch_first`` says. It drops
    nothing inside the feed-forward network: if the module does, the two agree in eval mode only.
    Remember to invert the masks.

    Args:
        module: An ``nn.MultiheadAttention``, ``nn.TransformerEncoderLayer``,
            ``nn.TransformerDecoderLayer``, ``nn.TransformerEncoder``, ``nn.TransformerDecoder``
            or ``nn.Transformer``.

    Returns:
        Our module; for an ``nn.Transformer``, which has no embeddings, (encoder, decoder).

    Raises:
        TypeError: If the module is none of these.
        ValueError: If our modules cannot compute the same, as with another activation than
            ACTIVATIONS, or with ``add_bias_kv`` or ``add_zero_attn``.
    """
    raise TypeError(f"module must have a counterpart in this package, got {type(module).__name__}")


@to_pytorch.register
def _attention_to_pytorch(module: MultiHeadAttention) -> nn.MultiheadAttention:
    sizes = {"embed_dim": module.d_model, "num_heads": module.num_heads}
    with torch.device("meta"):  # without numbers: they are copied
        twin = nn.MultiheadAttention(**sizes, dropout=module.dropout, batch_first=True)
    inward = (module.query_projection, module.key_projection, module.value_projection)
    twin.in_proj_weight = _parameter(torch.cat([each.weight for each in inward]))
    twin.in_proj_bias = _parameter(torch.cat([_bias(each) for each in inward]))
    twin.out_proj.weight = _parameter(module.output_projection.weight)
    twin.out_proj.bias = _parameter(_bias(module.output_projection))
    return twin.train(module.training)


@from_pytorch.register
def _attention_from_pytorch(module: nn.MultiheadAttention) -> MultiHeadAttention:
    if module.bias_k is not None or module.add_zero_attn:
        raise ValueError("module must attend to its keys alone, got add_bias_kv or add_zero_attn")
    sizes = {"d_model": module.embed_dim, "num_heads": module.num_heads}
    has_bias = module.in_proj_bias is not None
    with torch.device("meta"):
        twin = MultiHeadAttention(**sizes, dropout=module.dropout, bias=has_bias)
    inward = (twin.query_projection, twin.key_projection, twin.value_projection)
    for projection, weight in zip(inward, module.in_proj_weight.chunk(3), strict=True):
        projection.weight = _parameter(weight)
    twin.output_projection.weight = _parameter(module.out_proj.weight)
    if has_bias:
        for projection, bias in zip(inward, module.in_proj_bias.chunk(3), strict=True):
            projection.bias = _parameter(bias)
        twin.output_projection.bias = _parameter(module.out_proj.bias)
    return twin.train(module.training)


@to_pytorch.register(EncoderLayer)
@to_pytorch.register(DecoderLayer)
def _layer_to_pytorch(module: EncoderLayer | DecoderLayer) -> nn.Module:
    attention, feed_forward = module.self_attention, module.feed_forward
    if type(feed_forward) is not FeedForward:  # it could compute anything
        raise TypeError(f"feed_forward must be a FeedForward, got {type(feed_forward).__name__}")
    is_encoder = isinstance(module, EncoderLayer)
    build = nn.TransformerEncoderLayer if is_encoder else nn.TransformerDecoderLayer
    sizes = (attention.d_model, attention.num_heads, feed_forward.widen.out_features)
    switches = {"norm_first": module.around_self_attention.norm_first, "batch_first": True}
    with torch.device("meta"):
        twin = build(*sizes, dropout=0.0, activation=feed_forward.activation, **switches)
    for ours, theirs in ATTENTION_NAMES.items():
        if hasattr(module, ours):
            setattr(twin, theirs, to_pytorch(getattr(module, ours)))
    for ours, theirs in _part_names(module).items():
        twin.set_submodule(theirs, copy.deepcopy(module.get_submodule(ours)))
    return twin.train(module.training)


@from_pytorch.register(nn.TransformerEncoderLayer)
@from_pytorch.register(nn.TransformerDecoderLayer)
def _layer_from_pytorch(module: nn.Module) -> EncoderLayer | DecoderLayer:
    function = module.activation
    activation = ACTIVATION_NAMES.get(function, ACTIVATION_NAMES.get(type(function)))
    if activation is None:
        wanted, got = ", ".join(ACTIVATIONS), getattr(function, "__name__", function)
        raise ValueError(f"module must have one of the activations {wanted}, got {got}")
    build = EncoderLayer if isinstance(module, nn.TransformerEncoderLayer) else DecoderLayer
    sizes = {"d_model": module.self_attn.embed_dim, "num_heads": module.self_attn.num_heads}
    sizes["d_ff"] = module.linear1.out_features
    with torch.device("meta"):
        twin = build(**sizes, norm_first=module.norm_first, activation=activation)
    for ours, theirs in ATTENTION_NAMES.items():
        if hasattr(module, theirs):
            setattr(twin, ours, from_pytorch(getattr(module, theirs)))
    for ours, theirs in _part_names(twin).items():
        twin.set_submodule(ours, copy.deepcopy(module.get_submodule(theirs)))
    return twin.train(module.training)


@to_pytorch.register(Encoder)
@to_pytorch.register(Decoder)
def _stack_to_pytorch(module: Encoder | Decoder) -> nn.Module:
    layers, norm = [to_pytorch(each) for each in module.layers], copy.deepcopy(module.final_norm)
    if isinstance(module, Encoder):
        # Nested tensors would cut padded positions out of the output in eval mode.
        twin = nn.TransformerEncoder(layers[0], 1, norm=norm, enable_nested_tensor=False)
    else:
        twin = nn.TransformerDecoder(layers[0], 1, norm=norm)
    twin.layers, twin.num_layers = nn.ModuleList(layers), len(layers)
    return twin.train(module.training)


@from_pytorch.register(nn.TransformerEncoder)
@from_pytorch.register(nn.TransformerDecoder)
def _stack_from_pytorch(module: nn.Module) -> Encoder | Decoder:
    build = Encoder if isinstance(module, nn.TransformerEncoder) else Decoder
    twin = build(map(from_pytorch, module.layers), final_norm=copy.deepcopy(module.norm))
    return twin.train(module.training)


@to_pytorch.register
def _transformer_to_pytorch(module: Transformer) -> nn.Transformer:
    width, num_heads = module.config.d_model, module.config.num_heads
    # nn.Transformer draws new weights for the stacks that it is given, so they are set afterwards.
    empty = {"custom_encoder": nn.Identity(), "custom_decoder": nn.Identity()}
    twin = nn.Transformer(width, num_heads, batch_first=True, **empty)
    twin.encoder, twin.decoder = to_pytorch(module.encoder), to_pytorch(module.decoder)
    return twin.train(module.training)


@from_pytorch.register
def _transformer_from_pytorch(module: nn.Transformer) -> tuple[Encoder, Decoder]:
    return from_pytorch(module.encoder), from_pytorch(module.decoder)


def _part_names(layer: EncoderLayer | DecoderLayer) -> dict[str, str]:
    """The parts of our layer other than attention, each with torch.nn's name for it."""
    around = [name for name in AROUND_NAMES if hasattr(layer, name)]
    norms = {f"{name}.norm": f"norm{number}" for number, name in enumerate(around, 1)}
    dropouts = {f"{name}.dropout": f"dropout{number}" for number, name in enumerate(around, 1)}
    return FEED_FORWARD_NAMES | norms | dropouts


def _parameter(values: Tensor) -> nn.Parameter:
    """A parameter with a copy of these values."""
    return nn.Parameter(values.detach().clone())


def _bias(linear: nn.Linear) -> Tensor:
    """A linear layer's bias; zeros if it has none."""
    return linear.weight.new_zeros(linear.out_features) if linear.bias is None else linear.bias
