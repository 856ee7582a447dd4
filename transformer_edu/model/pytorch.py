"""Weights to and from torch.nn: the same layers under other names (paper §3).

Used in notebooks/09_transformer.ipynb. Three things differ between the twins:

- **Masks have the opposite polarity.** Here True means *may attend*; in ``nn.MultiheadAttention``
  and everything built on it True *hides*. Turn a mask round with ``~``. Padding masks are
  (batch, key) there and (batch, 1, 1, key) here.
- **Dropout.** Ours stands where §5.4 puts it, on every sub-layer's output. torch.nn also drops
  attention weights, and numbers inside the feed-forward network.
- **A query that may attend to nothing** gathers zeros here; there, in some settings, NaN.
"""

from functools import singledispatch

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_edu.model.attention import MultiHeadAttention
from transformer_edu.model.decoder import Decoder, DecoderLayer
from transformer_edu.model.encoder import Encoder, EncoderLayer
from transformer_edu.model.feed_forward import FeedForward
from transformer_edu.model.transformer import Transformer

# Our name of each part of a layer, and torch.nn's. It numbers norms and dropouts.
ATTENTION_NAMES = {"self_attention": "self_attn", "cross_attention": "multihead_attn"}
FEED_FORWARD_NAMES = {"feed_forward.widen": "linear1", "feed_forward.narrow": "linear2"}
AROUND_NAMES = ("around_self_attention", "around_cross_attention", "around_feed_forward")
EPS = 1e-5  # what torch.nn and we add to the variance in every normalisation


@singledispatch
def to_pytorch(module: nn.Module) -> nn.Module:
    """Build torch.nn's twin of a module: a copy that gives the same numbers.

    The twin has ``batch_first=True``, the module's type, device and mode, and zeros for the
    biases that the module does without. It drops what the module drops: unlike a fresh layer
    of torch.nn, nothing inside the feed-forward network. Remember to turn the masks round.

    Args:
        module: A MultiHeadAttention, EncoderLayer, DecoderLayer, Encoder, Decoder, or a
            Transformer, of which torch.nn has the two stacks, neither embeddings nor output.

    Returns:
        An ``nn.MultiheadAttention``, ``nn.TransformerEncoderLayer`` and so on.

    Raises:
        TypeError: If torch.nn has no twin of the module.
        ValueError: If a normalisation's eps is not torch.nn's 1e-5.
    """
    raise TypeError(
        "module must be a MultiHeadAttention, an Encoder, a Decoder, one of their layers or a "
        f"Transformer, got {type(module).__name__}"
    )


@singledispatch
def from_pytorch(module: nn.Module) -> nn.Module | tuple[Encoder, Decoder]:
    """Build our twin of a module of torch.nn: a copy that gives the same numbers.

    The twin takes (batch, position, d_model) whatever the module's ``batch_first`` says. It
    drops what the module drops, except inside the feed-forward network: with dropout there,
    the two agree in eval mode only. Remember to turn the masks round.

    Args:
        module: An ``nn.MultiheadAttention``, ``nn.TransformerEncoderLayer``,
            ``nn.TransformerDecoderLayer``, ``nn.TransformerEncoder``, ``nn.TransformerDecoder``
            or ``nn.Transformer``.

    Returns:
        Our module; for an ``nn.Transformer``, which has no embeddings, (encoder, decoder).

    Raises:
        TypeError: If the module is another one.
        ValueError: If it computes what ours cannot: an activation other than ReLU, an eps other
            than 1e-5, keys or values of another width, extra keys.
    """
    raise TypeError(
        "module must be torch.nn's MultiheadAttention, TransformerEncoder, TransformerDecoder, "
        f"one of their layers or Transformer, got {type(module).__name__}"
    )


@to_pytorch.register
def _attention_to_pytorch(module: MultiHeadAttention) -> nn.MultiheadAttention:
    with torch.device("meta"):  # no numbers yet: they are copied, so none need be drawn
        twin = nn.MultiheadAttention(module.d_model, module.num_heads, batch_first=True)
    twin = settle(twin, like=module)
    inward = (module.query_projection, module.key_projection, module.value_projection)
    biases = [projection.bias for projection in inward if projection.bias is not None]
    fill(twin.in_proj_weight, torch.cat([projection.weight for projection in inward]))
    fill(twin.in_proj_bias, torch.cat(biases) if biases else None)
    copy_part(module.output_projection, twin.out_proj)
    twin.dropout = module.dropout
    return twin


@from_pytorch.register
def _attention_from_pytorch(module: nn.MultiheadAttention) -> MultiHeadAttention:
    width = module.embed_dim
    if (module.kdim, module.vdim) != (width, width):
        raise ValueError(
            f"module must have keys and values of width {width}, as wide as its queries, "
            f"got kdim {module.kdim} and vdim {module.vdim}"
        )
    if module.bias_k is not None or module.add_zero_attn:
        raise ValueError("module must attend to its keys alone, got add_bias_kv or add_zero_attn")
    has_bias = module.in_proj_bias is not None
    with torch.device("meta"):
        twin = MultiHeadAttention(d_model=width, num_heads=module.num_heads, bias=has_bias)
    twin = settle(twin, like=module)
    inward = (twin.query_projection, twin.key_projection, twin.value_projection)
    biases = module.in_proj_bias.chunk(3) if has_bias else (None, None, None)
    for projection, weight, bias in zip(
        inward, module.in_proj_weight.chunk(3), biases, strict=True
    ):
        fill(projection.weight, weight)
        fill(projection.bias, bias)
    copy_part(module.out_proj, twin.output_projection)
    twin.dropout = module.dropout
    return twin


@to_pytorch.register(EncoderLayer)
@to_pytorch.register(DecoderLayer)
def _layer_to_pytorch(module: EncoderLayer | DecoderLayer) -> nn.Module:
    if type(module.feed_forward) is not FeedForward:
        got = type(module.feed_forward).__name__
        raise TypeError(f"feed_forward must be a FeedForward, got {got}")
    orders = {getattr(module, name).norm_first for name in AROUND_NAMES if hasattr(module, name)}
    if len(orders) > 1:
        raise ValueError(f"norm_first must be the same around every sub-layer, got {orders}")
    encodes = isinstance(module, EncoderLayer)
    build = nn.TransformerEncoderLayer if encodes else nn.TransformerDecoderLayer
    with torch.device("meta"):
        twin = build(
            module.self_attention.d_model,
            module.self_attention.num_heads,
            module.feed_forward.widen.out_features,
            dropout=0.0,
            batch_first=True,
            norm_first=module.around_self_attention.norm_first,
        )
    twin = settle(twin, like=module)
    for ours, theirs in ATTENTION_NAMES.items():
        if hasattr(module, ours):
            setattr(twin, theirs, to_pytorch(getattr(module, ours)))
    for ours, theirs in _part_names(module).items():
        copy_part(module.get_submodule(ours), twin.get_submodule(theirs))
    return twin


@from_pytorch.register(nn.TransformerEncoderLayer)
@from_pytorch.register(nn.TransformerDecoderLayer)
def _layer_from_pytorch(module: nn.Module) -> EncoderLayer | DecoderLayer:
    activation = module.activation
    if activation not in (F.relu, torch.relu) and not isinstance(activation, nn.ReLU):
        name = getattr(activation, "__name__", type(activation).__name__)
        raise ValueError(f"module must have the activation ReLU, got {name}")
    build = EncoderLayer if isinstance(module, nn.TransformerEncoderLayer) else DecoderLayer
    with torch.device("meta"):
        twin = build(
            d_model=module.self_attn.embed_dim,
            num_heads=module.self_attn.num_heads,
            d_ff=module.linear1.out_features,
            norm_first=module.norm_first,
        )
    twin = settle(twin, like=module)
    for ours, theirs in ATTENTION_NAMES.items():
        if hasattr(module, theirs):
            setattr(twin, ours, from_pytorch(getattr(module, theirs)))
    for ours, theirs in _part_names(twin).items():
        copy_part(module.get_submodule(theirs), twin.get_submodule(ours))
    return twin


@to_pytorch.register(Encoder)
@to_pytorch.register(Decoder)
def _stack_to_pytorch(module: Encoder | Decoder) -> nn.Module:
    layers = [to_pytorch(layer) for layer in module.layers]
    norm = _twin_norm(module.final_norm)
    if isinstance(module, Encoder):
        # Nested tensors would cut padded positions out of the answer in eval mode.
        twin = nn.TransformerEncoder(layers[0], 1, norm=norm, enable_nested_tensor=False)
    else:
        twin = nn.TransformerDecoder(layers[0], 1, norm=norm)
    twin.layers, twin.num_layers = nn.ModuleList(layers), len(layers)
    return twin.train(module.training)


@from_pytorch.register(nn.TransformerEncoder)
@from_pytorch.register(nn.TransformerDecoder)
def _stack_from_pytorch(module: nn.Module) -> Encoder | Decoder:
    build = Encoder if isinstance(module, nn.TransformerEncoder) else Decoder
    twin = build(map(from_pytorch, module.layers), final_norm=_twin_norm(module.norm))
    return twin.train(module.training)


@to_pytorch.register
def _transformer_to_pytorch(module: Transformer) -> nn.Transformer:
    width, num_heads = module.config.d_model, module.config.num_heads
    # nn.Transformer draws new weights for the stacks that it is given: they come afterwards.
    empty = {"custom_encoder": nn.Identity(), "custom_decoder": nn.Identity()}
    twin = nn.Transformer(width, num_heads, batch_first=True, **empty)
    twin.encoder, twin.decoder = to_pytorch(module.encoder), to_pytorch(module.decoder)
    return twin.train(module.training)


@from_pytorch.register
def _transformer_from_pytorch(module: nn.Transformer) -> tuple[Encoder, Decoder]:
    return from_pytorch(module.encoder), from_pytorch(module.decoder)


def _part_names(layer: EncoderLayer | DecoderLayer) -> dict[str, str]:
    """The parts of a layer of ours that are no attention, each with torch.nn's name for it."""
    around = [name for name in AROUND_NAMES if hasattr(layer, name)]
    norms = {f"{name}.norm": f"norm{number}" for number, name in enumerate(around, 1)}
    dropouts = {f"{name}.dropout": f"dropout{number}" for number, name in enumerate(around, 1)}
    return FEED_FORWARD_NAMES | norms | dropouts


def _twin_norm(norm: nn.LayerNorm | None) -> nn.LayerNorm | None:
    """A copy of a stack's final normalisation, with the bias that it may lack."""
    if norm is None:
        return None
    if not isinstance(norm, nn.LayerNorm) or norm.weight is None:
        raise TypeError(f"module must end in a LayerNorm with weights or in none, got {norm}")
    twin = settle(nn.LayerNorm(norm.normalized_shape, device="meta"), like=norm)
    copy_part(norm, twin)
    return twin


def settle(twin: nn.Module, *, like: nn.Module) -> nn.Module:
    """Give a twin on the meta device memory, of the type and on the device of its model."""
    weight = next(like.parameters())
    return twin.to(weight.dtype).to_empty(device=weight.device).train(like.training)


def copy_part(source: nn.Module, target: nn.Module) -> None:
    """Copy a linear layer's or a normalisation's weights, or a dropout's probability."""
    kind = next(kind for kind in (nn.Linear, nn.LayerNorm, nn.Dropout) if isinstance(target, kind))
    if not isinstance(source, kind):
        raise TypeError(f"module must hold a {kind.__name__} here, got {type(source).__name__}")
    if isinstance(source, nn.Dropout):
        target.p = source.p
        return
    if isinstance(source, nn.LayerNorm) and source.eps != EPS:
        raise ValueError(f"module must normalise with an eps of {EPS}, got {source.eps}")
    fill(target.weight, source.weight)
    fill(target.bias, source.bias)


@torch.no_grad()
def fill(parameter: Tensor | None, values: Tensor | None) -> None:
    """Copy values into a parameter: zeros where there are none, nothing into none."""
    if parameter is not None:
        parameter.copy_(torch.zeros_like(parameter) if values is None else values)
