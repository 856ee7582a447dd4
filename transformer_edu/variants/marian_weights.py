"""Marian's translation models: their settings and weights in our Transformer, both ways (paper §3).

The models of OPUS-MT (Tiedemann and Thottingal 2020, https://aclanthology.org/2020.eamt-1.61) were
trained with Marian and are published for the library transformers. They differ from the paper's
model in these fields of TransformerConfig:

- ``bias``: every projection has one. ``final_logits_bias`` is that of our output projection.
- ``position_order``: the positional encoding holds all sines first, then all cosines.
- ``activation``: the feed-forward networks of most use SiLU, which Marian calls swish.
- ``start_id``: a target starts with the padding token, which is never written.
- ``end_id``: the end token is token 0. It ends the source too.
- The decoder may have other depths and sizes than the encoder, and a vocabulary of its own.

What a setting decides in training only (init_std, layerdrop, dropout inside a sub-layer) is not
read: our model drops what the paper drops.
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from transformer_edu.model.embeddings import PositionalEncoding
from transformer_edu.model.refusals import require_flag
from transformer_edu.model.transformer import Transformer, TransformerConfig, without_numbers

# What our config says of every Marian model.
SWITCHES = {"position_order": "halves", "bias": True, "norm_first": False}
FIELDS = {  # fields of our config, and the settings that decide them
    "vocabulary_size": "vocab_size",
    "d_model": "d_model",
    "num_heads": "encoder_attention_heads",
    "num_decoder_heads": "decoder_attention_heads",
    "num_layers": "encoder_layers",
    "num_decoder_layers": "decoder_layers",
    "d_ff": "encoder_ffn_dim",
    "decoder_d_ff": "decoder_ffn_dim",
    "dropout": "dropout",
    "max_length": "max_position_embeddings",
    "padding_id": "pad_token_id",
    "start_id": "decoder_start_token_id",
    "end_id": "eos_token_id",
    "activation": "activation_function",
    "tie_embeddings": "tie_word_embeddings",
    "scale_embeddings": "scale_embedding",
}
JOINT = "share_encoder_decoder_embeddings"
DEFAULTS = {"scale_embedding": False, "tie_word_embeddings": True, JOINT: True}  # transformers'
# Other names of our activations, the one that we write first.
ALIASES = {"gelu": "gelu", "swish": "silu", "gelu_new": "gelu_tanh", "gelu_python": "gelu"}
TANH = ("gelu_fast", "gelu_accurate", "gelu_pytorch_tanh", "gelu_python_tanh")
ALIASES |= dict.fromkeys(TANH, "gelu_tanh")
# The norms first: their names contain those of the attentions.
MARIAN_NAMES = {
    "around_self_attention.norm": "self_attn_layer_norm",
    "around_cross_attention.norm": "encoder_attn_layer_norm",
    "around_feed_forward.norm": "final_layer_norm",
    "self_attention": "self_attn",
    "cross_attention": "encoder_attn",
    "query_projection": "q_proj",
    "key_projection": "k_proj",
    "value_projection": "v_proj",
    "output_projection": "out_proj",
    "feed_forward.widen": "fc1",
    "feed_forward.narrow": "fc2",
}
LOGITS_BIAS = "final_logits_bias"
TABLES = {  # each of ours by the name that it has in a file if it is not shared
    "source_embedding.table.weight": "model.encoder.embed_tokens.weight",
    "target_embedding.table.weight": "model.decoder.embed_tokens.weight",
    "output_projection.weight": "lm_head.weight",
}
SHARED = "model.shared.weight"
# Older files hold the positions too, which are a formula.
POSITIONS = {f"model.{stack}.embed_positions.weight" for stack in ("encoder", "decoder")}


def config_from_marian(settings: Mapping[str, object]) -> TransformerConfig:
    """The config of our model that computes what a Marian model with these settings does.

    Args:
        settings: What its ``config.json`` holds.

    Raises:
        TypeError, ValueError: If a setting is missing, out of its range, or not one that our
            model can have.
    """
    if (kind := settings.get("model_type")) != "marian":
        raise ValueError(f"model_type must be marian, got {kind}")
    given = DEFAULTS | dict(settings)
    for name in FIELDS.values():
        if name not in given:
            raise ValueError(f"{name} must be among the settings, got none")
    fields = {ours: given[theirs] for ours, theirs in FIELDS.items()}
    fields["activation"] = ALIASES.get(str(fields["activation"]), fields["activation"])
    require_flag(JOINT, given[JOINT])
    if not given[JOINT]:
        fields["target_vocabulary_size"] = given.get("decoder_vocab_size") or given["vocab_size"]
    return TransformerConfig(**fields, **SWITCHES)


def from_marian(settings: Mapping[str, object], tensors: Mapping[str, Tensor]) -> Transformer:
    """Our model with a Marian model's weights: a copy, in evaluation mode.

    It is float32, or float64 if all tensors are. In training it drops what the paper drops.

    Args:
        settings: What the model's ``config.json`` holds.
        tensors: Its weights by transformers' names, on one device.

    Raises:
        TypeError, ValueError: As config_from_marian, or if the tensors are not those of a model
            with these settings.
    """
    config = config_from_marian(settings)
    depth = config.num_layers + config.decoder_depth
    if depth > len(tensors):  # before a model of that depth takes memory
        raise ValueError(f"a model of {depth} layers must have more tensors, got {len(tensors)}")
    model = without_numbers(config)
    names = _names(model)
    given = _with_one_name_each(tensors, names, config.output_size)
    _require_weights(given, {names[ours]: each for ours, each in model.state_dict().items()})
    is_double = all(tensor.dtype == torch.float64 for tensor in given.values())
    dtype = torch.float64 if is_double else torch.float32
    copies = {name: tensor.detach().to(dtype, copy=True) for name, tensor in given.items()}
    copies[LOGITS_BIAS] = copies[LOGITS_BIAS].squeeze(0)
    model.load_state_dict({ours: copies[theirs] for ours, theirs in names.items()}, assign=True)
    sizes = {"d_model": config.d_model, "max_length": config.max_length}
    positions = PositionalEncoding(**sizes, order=config.position_order)
    model.positions = positions.to(model.output_projection.weight)
    return model.eval()


def to_marian(model: Transformer) -> tuple[dict[str, object], dict[str, Tensor]]:
    """The settings and the tensors of the Marian model that computes what our model does.

    Returns:
        The contents of ``config.json`` and ``model.safetensors``; the tensors share memory with
        the model.

    Raises:
        ValueError: If one of the model's SWITCHES is not that of a Marian model.
    """
    config = model.config
    for name, wanted in (SWITCHES | {"has_final_norm": False}).items():
        if (got := getattr(config, name)) != wanted:
            raise ValueError(f"{name} must be {wanted} in a Marian model, got {got}")
    settings = {theirs: getattr(config, ours) for ours, theirs in FIELDS.items()}
    heads, d_ff = config.decoder_sizes.values()
    settings |= {"decoder_attention_heads": heads, "decoder_ffn_dim": d_ff}
    settings |= {"decoder_layers": config.decoder_depth, "decoder_vocab_size": config.output_size}
    written = [theirs for theirs, ours in ALIASES.items() if ours == config.activation]
    settings |= {"activation_function": [*written, config.activation][0], JOINT: _is_joint(config)}
    settings |= {"model_type": "marian", "architectures": ["MarianMTModel"]}
    settings |= {"forced_eos_token_id": config.end_id}
    weights, names = model.state_dict(), _names(model)
    tensors = {theirs: weights[ours].detach() for ours, theirs in names.items()}
    tensors[LOGITS_BIAS] = tensors[LOGITS_BIAS].unsqueeze(0)
    return settings, tensors


def _is_joint(config: TransformerConfig) -> bool:
    """Whether one table serves source, target and output."""
    return config.tie_embeddings and config.target_vocabulary_size is None


def _names(model: Transformer) -> dict[str, str]:
    """The name that transformers has for each of our weights; tied ones have the same."""
    names = {}
    for name in model.state_dict():
        theirs = name
        for ours, part in MARIAN_NAMES.items():
            theirs = theirs.replace(ours, part)
        names[name] = f"model.{theirs}"
    names |= TABLES | {"output_projection.bias": LOGITS_BIAS}
    if model.config.tie_embeddings:
        names["output_projection.weight"] = TABLES["target_embedding.table.weight"]
    return names | dict.fromkeys(TABLES, SHARED) if _is_joint(model.config) else names


def _with_one_name_each(
    tensors: Mapping[str, Tensor], names: Mapping[str, str], output_size: int
) -> dict[str, Tensor]:
    """The tensors with one name for tied tables, a bias of the logits, and no positions.

    A table that the file does not name is the shared one.
    """
    given = {name: tensor for name, tensor in tensors.items() if name not in POSITIONS}
    shared = [given.pop(SHARED)] if SHARED in given else []
    own = {ours: given.pop(theirs) for ours, theirs in TABLES.items() if theirs in given}
    for name in {names[ours]: None for ours in TABLES}:
        tied = [own[ours] for ours in own if names[ours] == name]
        tied += shared if name == SHARED or not tied else []
        kinds = {(table.dtype, table.shape) for table in tied}
        if len(kinds) > 1 or any(not table.equal(tied[0]) for table in tied):
            raise ValueError(f"{', '.join(TABLES.values())} must be equal, got different tables")
        given |= {name: tied[0]} if tied else {}
    for tensor in list(given.values())[:1]:
        given.setdefault(LOGITS_BIAS, tensor.new_zeros(1, output_size))
    return given


def _require_weights(given: Mapping[str, Tensor], weights: Mapping[str, Tensor]) -> None:
    """Refuse tensors of other names, shapes or types than the weights."""
    wanted = {name: tuple(weight.shape) for name, weight in weights.items()}
    wanted[LOGITS_BIAS] = (1, *wanted[LOGITS_BIAS])
    for name in [*wanted, *given]:
        if name not in given:
            raise ValueError(f"the tensors must include {name}, got none of that name")
        if name not in wanted:
            raise ValueError(f"the tensors must be those of the settings, got {name} too")
        kind = (given[name].is_floating_point(), tuple(given[name].shape))
        if kind != (True, wanted[name]):
            got = f"{given[name].dtype} {kind[1]}"
            raise ValueError(f"{name} must be floats of shape {wanted[name]}, got {got}")
