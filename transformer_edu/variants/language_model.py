"""A decoder-only language model, from the paper's layer to today's, one switch for each change.

Every layer is masked self-attention and a feed-forward network: a decoder layer without
cross-attention. Built in notebooks/19_from_2017_to_today.ipynb.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_edu.model.add_and_norm import AddAndNorm
from transformer_edu.model.attention import merge_heads, split_heads
from transformer_edu.model.cache import KeyValueCache
from transformer_edu.model.embeddings import PositionalEncoding
from transformer_edu.model.feed_forward import FeedForward
from transformer_edu.model.masks import causal_mask
from transformer_edu.model.refusals import (
    require_choice,
    require_divisor,
    require_flag,
    require_memory,
    require_token_ids,
    require_whole,
)

NORMS = {"layer": nn.LayerNorm, "rms": nn.RMSNorm}
POSITIONS = ("sinusoidal", "learned", "rotary")
FEED_FORWARDS = ("relu", "gelu", "gelu_tanh", "swiglu")
EPSILON = 1e-5  # of every norm


@dataclass(frozen=True, kw_only=True)
class LanguageModelConfig:
    """Sizes and switches; the defaults are the paper's choices.

    Args:
        vocabulary_size: Number of tokens.
        d_model: Width of every position's vector.
        num_heads: Heads of the queries; must divide d_model.
        num_layers: Number of layers.
        d_ff: Width inside the feed-forward network.
        norm_first: Normalize each sub-layer's input and the last layer's output, instead of the
            sum after each sub-layer.
        norm: One of NORMS.
        positions: One of POSITIONS. Only with sinusoidal positions is the embedding multiplied by
            √d_model, as in the paper.
        feed_forward: One of FEED_FORWARDS; "swiglu" has a third matrix, the gate.
        num_key_value_heads: Heads of keys and values; must divide num_heads. None for num_heads.
        tie_embeddings: Whether the output projection is the embedding table.
        feed_forward_bias: Whether the feed-forward network adds biases.
        attention_bias: Whether the four attention projections add biases.
        max_length: Number of positions.

    Raises:
        TypeError, ValueError: If a size is not a whole number, or a value is out of its range.
    """

    vocabulary_size: int
    d_model: int = 64
    num_heads: int = 4
    num_layers: int = 2
    d_ff: int = 256
    norm_first: bool = False
    norm: str = "layer"
    positions: str = "sinusoidal"
    feed_forward: str = "relu"
    num_key_value_heads: int | None = None
    tie_embeddings: bool = False
    feed_forward_bias: bool = True
    attention_bias: bool = False
    max_length: int = 1024

    def __post_init__(self) -> None:
        require_divisor("num_heads", self.num_heads, "d_model", self.d_model)
        for name in ("vocabulary_size", "num_layers", "d_ff", "max_length"):
            require_whole(name, getattr(self, name))
        for name in ("norm_first", "tie_embeddings", "feed_forward_bias", "attention_bias"):
            require_flag(name, getattr(self, name))
        require_choice("norm", self.norm, NORMS)
        require_choice("positions", self.positions, POSITIONS)
        require_choice("feed_forward", self.feed_forward, FEED_FORWARDS)
        if self.positions == "rotary" and self.d_head % 2:
            raise ValueError(f"d_model / num_heads must be even to rotate, got {self.d_head}")
        if self.num_key_value_heads is not None:
            given = ("num_key_value_heads", self.num_key_value_heads)
            require_divisor(*given, "num_heads", self.num_heads)

    @property
    def d_head(self) -> int:
        """Width of a head."""
        return self.d_model // self.num_heads

    @property
    def groups(self) -> int:
        """Heads of keys and values."""
        return self.num_key_value_heads or self.num_heads


class LanguageModel(nn.Module):
    """Predicts every next token from the tokens before it."""

    def __init__(self, config: LanguageModelConfig) -> None:
        super().__init__()
        if not isinstance(config, LanguageModelConfig):
            raise TypeError(f"config must be a LanguageModelConfig, got {type(config).__name__}")
        per_layer = 4 * config.d_model + 2 * config.d_ff
        require_memory(config.d_model * (config.num_layers * per_layer + config.vocabulary_size))
        self.config = config
        self.embedding = nn.Embedding(config.vocabulary_size, config.d_model)
        nn.init.normal_(self.embedding.weight, std=config.d_model**-0.5)
        self.positions = build_positions(config)
        self.layers = nn.ModuleList(LanguageModelLayer(config) for _ in range(config.num_layers))
        self.final_norm = build_norm(config) if config.norm_first else nn.Identity()
        self.output_projection = nn.Linear(config.d_model, config.vocabulary_size, bias=False)
        if config.tie_embeddings:
            self.output_projection.weight = self.embedding.weight

    def forward(
        self, token_ids: Tensor, *, caches: Sequence[KeyValueCache] | None = None
    ) -> Tensor:
        """Score every token as the next one, at every position.

        Padding at the end needs no mask: the causal mask hides it from every real token.

        Args:
            token_ids: Shape (batch, position).
            caches: Those of ``new_caches``, one for each layer. Then token_ids continue the tokens
                of earlier calls.

        Returns:
            Logits, shape (batch, position, vocabulary).

        Raises:
            TypeError, ValueError: If token_ids are not whole numbers, or there are too many.
        """
        require_token_ids("token_ids", token_ids, self.config.vocabulary_size)
        caches = [None] * len(self.layers) if caches is None else caches
        earlier = 0 if caches[0] is None else caches[0].length
        length = earlier + token_ids.size(1)
        if length > self.config.max_length:
            raise ValueError(f"length must be at most {self.config.max_length}, got {length}")
        mask = causal_mask(length, queries=token_ids.size(1), device=token_ids.device)
        x, angles = self.embedding(token_ids), None
        if self.config.positions == "sinusoidal":
            x = self.positions(x * math.sqrt(self.config.d_model), offset=earlier)
        elif self.config.positions == "learned":
            x = x + self.positions.weight[earlier:length]
        else:
            angles = self.positions.table[earlier:length]
        for layer, cache in zip(self.layers, caches, strict=True):
            x = layer(x, mask=mask, angles=angles, cache=cache)
        return self.output_projection(self.final_norm(x))

    def new_caches(self) -> list[KeyValueCache]:
        """Empty caches, one for each layer."""
        return [KeyValueCache() for _ in self.layers]


class LanguageModelLayer(nn.Module):
    """Masked self-attention and a feed-forward network, each inside Add & Norm."""

    def __init__(self, config: LanguageModelConfig) -> None:
        super().__init__()
        self.self_attention = GroupedAttention(config)
        self.feed_forward = build_feed_forward(config)
        sizes = {"d_model": config.d_model, "dropout": 0.0, "norm_first": config.norm_first}
        self.around_self_attention = AddAndNorm(**sizes)
        self.around_feed_forward = AddAndNorm(**sizes)
        for around in (self.around_self_attention, self.around_feed_forward):
            around.norm = build_norm(config)

    def forward(
        self, x: Tensor, *, mask: Tensor, angles: Tensor | None, cache: KeyValueCache | None
    ) -> Tensor:
        """Shape (batch, position, d_model) in and out; the arguments are GroupedAttention's."""
        given = {"mask": mask, "angles": angles, "cache": cache}
        x = self.around_self_attention(x, lambda y: self.self_attention(y, **given))
        return self.around_feed_forward(x, self.feed_forward)


class GroupedAttention(nn.Module):
    """Self-attention in which several heads of queries share one head of keys and values.

    With one group per head it is multi-head attention; with one group it is multi-query attention.
    """

    def __init__(self, config: LanguageModelConfig) -> None:
        super().__init__()
        self.num_heads, self.groups = config.num_heads, config.groups
        narrow, bias = config.groups * config.d_head, config.attention_bias
        self.query_projection = nn.Linear(config.d_model, config.d_model, bias=bias)
        self.key_projection = nn.Linear(config.d_model, narrow, bias=bias)
        self.value_projection = nn.Linear(config.d_model, narrow, bias=bias)
        self.output_projection = nn.Linear(config.d_model, config.d_model, bias=bias)

    def forward(
        self,
        x: Tensor,
        *,
        mask: Tensor,
        angles: Tensor | None = None,
        cache: KeyValueCache | None = None,
    ) -> Tensor:
        """Attend from every position to the positions that the mask allows.

        Args:
            x: Shape (batch, position, d_model), like the result.
            mask: True where a query may attend to a key, shape (query, key).
            angles: For ``rotate``, shape (position, d_head); None rotates nothing.
            cache: The keys and values of earlier positions; the new ones are added.
        """
        queries = split_heads(self.query_projection(x), self.num_heads)
        keys = split_heads(self.key_projection(x), self.groups)
        values = split_heads(self.value_projection(x), self.groups)
        if angles is not None:
            queries, keys = rotate(queries, angles), rotate(keys, angles)
        if cache is not None:
            keys, values = cache.add(keys, values)
        keys, values = (
            each.repeat_interleave(self.num_heads // self.groups, dim=1) for each in (keys, values)
        )
        heads = F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
        return self.output_projection(merge_heads(heads))


class GatedFeedForward(nn.Module):
    """SwiGLU: (SiLU(x W_gate) ⊙ x W₁) W₂, d_ff wide between the matrices (Shazeer, 2020)."""

    def __init__(self, *, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.gate = nn.Linear(d_model, d_ff)
        self.widen = nn.Linear(d_model, d_ff)
        self.narrow = nn.Linear(d_ff, d_model)

    def forward(self, x: Tensor) -> Tensor:
        """Shape (batch, position, d_model) in and out."""
        return self.narrow(F.silu(self.gate(x)) * self.widen(x))


def rotate(x: Tensor, angles: Tensor) -> Tensor:
    """Rotary positions: turn each pair of numbers by its position's angle (Su et al., 2021).

    Number i is paired with number i + d_head / 2, as in published Llama weights of Hugging Face.

    Args:
        x: Queries or keys, shape (batch, head, position, d_head).
        angles: ``sinusoidal_positions(…, order="halves")``: all sines, then all cosines of the
            angles, shape (position, d_head).

    Returns:
        The shape of x; every vector keeps its norm.
    """
    sine, cosine = angles.to(x.dtype).chunk(2, dim=-1)
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cosine - second * sine, second * cosine + first * sine], dim=-1)


def build_norm(config: LanguageModelConfig) -> nn.Module:
    """LayerNorm or RMSNorm, as config says."""
    return NORMS[config.norm](config.d_model, eps=EPSILON)


def build_positions(config: LanguageModelConfig) -> nn.Module:
    """A table that is added to the embedding, or for rotary positions the angles of a head."""
    if config.positions == "learned":
        table = nn.Embedding(config.max_length, config.d_model)
        nn.init.normal_(table.weight, std=config.d_model**-0.5)  # of a token vector's norm
        return table
    rotary = config.positions == "rotary"
    width, order = (config.d_head, "halves") if rotary else (config.d_model, "interleaved")
    return PositionalEncoding(d_model=width, max_length=config.max_length, order=order)


def build_feed_forward(config: LanguageModelConfig) -> nn.Module:
    """The paper's network, with ReLU or GELU, or SwiGLU; with or without biases."""
    sizes = {"d_model": config.d_model, "d_ff": config.d_ff}
    if config.feed_forward == "swiglu":
        network = GatedFeedForward(**sizes)
    else:
        network = FeedForward(**sizes, activation=config.feed_forward)
    if not config.feed_forward_bias:
        for linear in network.children():
            linear.bias = None
    return network
