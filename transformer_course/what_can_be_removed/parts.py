"""The parts of a Transformer that lesson 17 removes, by kind: heads and whole sub-layers."""

import re

from torch import nn

from transformer_course.looking.ablation import HeadName, every_head
from transformer_edu.model.attention import MultiHeadAttention
from transformer_edu.model.feed_forward import FeedForward

ATTENTIONS = {  # the names of each kind, with a place for the layer's number
    "encoder self-attention": "encoder.layers.{}.self_attention",
    "decoder self-attention": "decoder.layers.{}.self_attention",
    "cross-attention": "decoder.layers.{}.cross_attention",
}


def heads_of(model: nn.Module) -> dict[str, list[HeadName]]:
    """All heads of a Transformer, by the kind of their attention.

    Args:
        model: With encoder and decoder, named as in this package.

    Returns:
        By the names of ATTENTIONS, pairs of the attention's name and the head's number from 1.
    """
    kinds = {name: kind for kind, name in ATTENTIONS.items()}
    heads: dict[str, list[HeadName]] = {kind: [] for kind in ATTENTIONS}
    for attention, number in every_head(model):
        heads[kinds[re.sub(r"\d+", "{}", attention)]].append((attention, number))
    return heads


def sublayers_of(model: nn.Module) -> dict[str, list[str]]:
    """The names of all attentions and feed-forward networks of a Transformer.

    Args:
        model: As for heads_of.

    Returns:
        Names such as "encoder.layers.0.feed_forward", by kinds such as "encoder feed-forward".
    """
    names: dict[str, list[str]] = {}
    for name, module in model.named_modules():
        if isinstance(module, (MultiHeadAttention, FeedForward)):
            kind = re.sub(r"\.layers\.\d+\.", " ", name).replace("_", "-")
            names.setdefault(kind, []).append(name)
    return names
