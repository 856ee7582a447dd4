"""Marian's translation models: their settings and weights in our Transformer, both ways (paper §3).

The models of OPUS-MT (Tiedemann and Thottingal 2020, https://aclanthology.org/2020.eamt-1.61) were
trained with Marian and are published for the library transformers. They differ from the paper's
model in six fields of TransformerConfig:

- ``bias``: every projection has one. ``final_logits_bias`` is that of our output projection.
- ``position_order``: the positional encoding holds all sines first, then all cosines.
- ``activation``: the feed-forward networks use SiLU, which Marian calls swish.
- ``start_id``: a target starts with the padding token, which is never written.
- ``end_id``: the end token is token 0. It ends the source too.
- ``num_decoder_layers``: some decoders have fewer layers than their encoder.
"""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from transformer_edu.model.embeddings import PositionalEncoding
from transformer_edu.model.transformer import Transformer, TransformerConfig, without_numbers

# What our config says of every Marian model.
SWITCHES = {
    "position_order": "halves",
    "bias": True,
    "norm_first": False,
    "has_final_norm": False,
    "tie_embeddings": True,
    "target_vocabulary_size": None,
}
# Settings that must have the first value, and the value that transformers takes for a missing one.
WANTED = {
    "model_type": ("marian", None),
    "scale_embedding": (True, False),
    "share_encoder_decoder_embeddings": (True, True),
    "tie_word_embeddings": (True, True),
}
SIZES = {  # each field of our config, and the settings that must agree on it
    "vocabulary_size": ("vocab_size",),
    "d_model": ("d_model",),
    "num_heads": ("encoder_attention_heads", "decoder_attention_heads"),
    "num_layers": ("encoder_layers",),
    "num_decoder_layers": ("decoder_layers",),
    "d_ff": ("encoder_ffn_dim", "decoder_ffn_dim"),
    "dropout": ("dropout",),
    "max_length": ("max_position_embeddings",),
    "padding_id": ("pad_token_id",),
    "start_id": ("decoder_start_token_id",),
    "end_id": ("eos_token_id",),
}
ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "swish": "silu", "silu": "silu"}
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
# The four names of one table; a file has at least one of them.
TABLES = (
    "model.shared.weight",
    "model.encoder.embed_tokens.weight",
    "model.decoder.embed_tokens.weight",
    "lm_head.weight",
)
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
    for name, (wanted, default) in WANTED.items():
        if (got := settings.get(name, default)) != wanted:
            raise ValueError(f"{name} must be {wanted}, got {got}")
    activation = settings.get("activation_function")
    if activation not in list(ACTIVATIONS):
        known = ", ".join(ACTIVATIONS)
        raise ValueError(f"activation_function must be one of {known}, got {activation}")
    sizes = {ours: _agreed(settings, names) for ours, names in SIZES.items()}
    switches = {name: value for name, value in SWITCHES.items() if name != "has_final_norm"}
    return TransformerConfig(**sizes, **switches, activation=ACTIVATIONS[activation])


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
    given = _with_one_table(tensors)
    _require_weights(given, model)
    is_double = all(tensor.dtype == torch.float64 for tensor in given.values())
    dtype = torch.float64 if is_double else torch.float32
    copies = {name: tensor.detach().to(dtype, copy=True) for name, tensor in given.items()}
    names = {name: _marian_name(name) for name in model.state_dict()}
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
    for name, wanted in SWITCHES.items():
        if (got := getattr(config, name)) != wanted:
            raise ValueError(f"{name} must be {wanted} in a Marian model, got {got}")
    activation = next(theirs for theirs, ours in ACTIVATIONS.items() if ours == config.activation)
    settings = {name: wanted for name, (wanted, _) in WANTED.items()}
    settings |= {"architectures": ["MarianMTModel"], "activation_function": activation}
    settings |= {name: getattr(config, ours) for ours, names in SIZES.items() for name in names}
    settings |= {"decoder_layers": config.decoder_depth, "forced_eos_token_id": config.end_id}
    tensors = {_marian_name(name): weight.detach() for name, weight in model.state_dict().items()}
    tensors[LOGITS_BIAS] = tensors[LOGITS_BIAS].unsqueeze(0)
    return settings, tensors


def _agreed(settings: Mapping[str, object], names: tuple[str, ...]) -> object:
    """The value of one setting, or of two that must be equal."""
    first, last = names[0], names[-1]
    for name in names:
        if name not in settings:
            raise ValueError(f"{name} must be among the settings, got none")
    if settings[first] != settings[last]:
        got = f"{settings[first]} and {settings[last]}"
        raise ValueError(f"{first} and {last} must be equal, got {got}")
    return settings[first]


def _marian_name(name: str) -> str:
    """The name that transformers has for a weight of ours."""
    if name == "output_projection.bias":
        return LOGITS_BIAS
    if not name.startswith(("encoder", "decoder")):  # the tied table
        return TABLES[0]
    for ours, theirs in MARIAN_NAMES.items():
        name = name.replace(ours, theirs)
    return f"model.{name}"


def _with_one_table(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors with one name for the table, a bias of the logits, and no positions."""
    given = {name: tensor for name, tensor in tensors.items() if name not in POSITIONS}
    tables = [given.pop(name) for name in TABLES if name in given]
    kinds = {(table.dtype, table.shape) for table in tables}
    if len(kinds) > 1 or any(not table.equal(tables[0]) for table in tables):
        raise ValueError(f"{', '.join(TABLES)} must be equal, got different tables")
    if tables:
        given[TABLES[0]] = tables[0]
        given.setdefault(LOGITS_BIAS, tables[0].new_zeros(1, *tables[0].shape[:1]))
    return given


def _require_weights(given: Mapping[str, Tensor], model: nn.Module) -> None:
    """Refuse tensors of other names, shapes or types than the model's."""
    wanted = {_marian_name(name): tuple(w.shape) for name, w in model.state_dict().items()}
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
