"""Attention: every position gathers what it needs from the others (paper §3.2).

Built step by step in notebooks/02_attention.ipynb and 04_multi_head_attention.ipynb.
"""

import math
from contextlib import AbstractContextManager, nullcontext

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_edu.model.cache import KeyValueCache, require_cache
from transformer_edu.model.refusals import (
    require_flag,
    require_heads,
    require_mask,
    require_pair,
    require_probability,
    require_same_batch,
    require_vectors,
)

CPU = torch.device("cpu")


def attention_weights(query: Tensor, key: Tensor, *, mask: Tensor | None = None) -> Tensor:
    """How much of each key every query takes: softmax(query keyᵀ / √d_head), paper eq. 1.

    Args:
        query: What each position looks for, shape (..., query, d_head).
        key: What each position offers, shape (..., key, d_head).
        mask: True where a query may attend to a key, broadcastable to (..., query, key).

    Returns:
        Weights, shape (..., query, key). Every row sums to one, except the row of a query
        that may attend to nothing: it is all zero, with zero gradient.

    Raises:
        TypeError: If query and key are not tensors of one floating-point type, or mask is not
            boolean.
        ValueError: If a shape does not fit, or mask does not broadcast.
    """
    require_pair("query", query, "key", key, axis=-1)
    require_mask(mask, (*query.shape[:-1], key.size(-2)), query.device)
    # Half precision ends at 65,504 and scores do not: they are computed at least in float32.
    wide = torch.promote_types(query.dtype, torch.float32)
    with _without_autocast(query.device):  # it would make them narrow again
        scores = query.to(wide) @ key.to(wide).transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is None:
        return scores.softmax(dim=-1).to(query.dtype)
    hidden = ~mask
    # The dtype's own minimum, not -inf or -1e9: no NaN in an empty row, no overflow in float16.
    scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
    return scores.softmax(dim=-1).masked_fill(hidden, 0.0).to(query.dtype)


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, *, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Average the values, each weighted by how well its key matches the query (paper §3.2.1).

    The written-out form of ``torch.nn.functional.scaled_dot_product_attention``, which
    MultiHeadAttention uses: the same numbers, plus the weights to look at.

    Args:
        query: Shape (..., query, d_head).
        key: Shape (..., key, d_head).
        value: Shape (..., key, d_value).
        mask: True where a query may attend to a key, broadcastable to (..., query, key).

    Returns:
        The output, shape (..., query, d_value), and the weights, shape (..., query, key).

    Raises:
        TypeError: If the inputs are not tensors of one floating-point type, or mask is not boolean.
        ValueError: If a shape does not fit, or mask does not broadcast.
    """
    require_pair("key", key, "value", value, axis=-2)
    weights = attention_weights(query, key, mask=mask)
    return weights @ value, weights


class MultiHeadAttention(nn.Module):
    """Several attentions side by side, each in its own narrow space (paper §3.2.2).

    Args:
        d_model: Width of every position's vector, in and out.
        num_heads: Number of heads; must divide d_model. Each head is d_model / num_heads wide.
        dropout: Probability of dropping an attention weight while training, in [0, 1]. The
            paper drops none (§5.4); torch.nn's layers do.
        bias: Whether the four projections add a bias; the paper's do not, torch.nn's do.

    Raises:
        TypeError: If an argument is of another type.
        ValueError: If num_heads does not divide d_model, or dropout lies outside [0, 1].
    """

    def __init__(
        self, *, d_model: int, num_heads: int, dropout: float = 0.0, bias: bool = False
    ) -> None:
        super().__init__()
        require_heads(num_heads, d_model)
        require_probability("dropout", dropout)
        require_flag("bias", bias)
        self.d_model = d_model
        self.num_heads = num_heads
        self.dropout = dropout
        self.query_projection = nn.Linear(d_model, d_model, bias=bias)
        self.key_projection = nn.Linear(d_model, d_model, bias=bias)
        self.value_projection = nn.Linear(d_model, d_model, bias=bias)
        self.output_projection = nn.Linear(d_model, d_model, bias=bias)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        *,
        mask: Tensor | None = None,
        cache: KeyValueCache | None = None,
    ) -> Tensor:
        """Attend from every query position to every key position, once per head.

        Args:
            query: Shape (batch, query, d_model).
            key: Shape (batch, key, d_model).
            value: Shape (batch, key, d_model).
            mask: True where a query may attend to a key, broadcastable to
                (batch, heads, query, key). What it hides changes nothing, unless its projection
                or score is infinite (beyond about 1e30 in float32, 1e4 in float16).
            cache: The keys and values of earlier calls, which this call attends to as well;
                those of key and value are added to it, unless it is complete.

        Returns:
            Shape (batch, query, d_model).

        Raises:
            TypeError: If an argument is of another type.
            ValueError: If a shape does not fit, mask does not broadcast, or cache holds another
                model's numbers and that shows.
        """
        require_cache(cache, KeyValueCache)
        kept = 0 if cache is None or cache.is_complete else cache.length
        self._require_inputs(query, key, mask, kept=kept)
        if value is not key:
            require_vectors("value", value, self.d_model, self.value_projection.weight)
            require_same_batch("key", key, "value", value)
            require_pair("key", key, "value", value, axis=-2)
        queries = self._by_head(self.query_projection(query))
        keys, values = self._keys_and_values(key, value, cache)
        if cache is not None and cache.is_complete:  # nothing was added, and so nothing compared
            cache.require_alike("query", queries)
        with _without_autocast(CPU):  # there attention stays in float32
            gathered = F.scaled_dot_product_attention(
                queries,
                keys,
                values,
                attn_mask=None if mask is None else torch.atleast_2d(mask),
                dropout_p=self.dropout if self.training else 0.0,
            )
        return self.output_projection(merge_heads(gathered))

    def attention_weights(
        self, query: Tensor, key: Tensor, *, mask: Tensor | None = None
    ) -> Tensor:
        """The weights that ``forward`` applies, before dropout, shape (batch, heads, query, key).

        Takes and refuses what ``forward`` does, without the value: weights do not depend on it.
        """
        self._require_inputs(query, key, mask)
        queries = self._by_head(self.query_projection(query))
        return attention_weights(queries, self._by_head(self.key_projection(key)), mask=mask)

    def _keys_and_values(
        self, key: Tensor, value: Tensor, cache: KeyValueCache | None
    ) -> tuple[Tensor, Tensor]:
        """What may be attended to, by head; the cache saves projecting anything twice."""
        if cache is None or not cache.is_complete:
            keys = self._by_head(self.key_projection(key))
            values = self._by_head(self.value_projection(value))
            if cache is None:
                return keys, values
            cache.add(keys, values)
        elif (len(key), key.size(1)) != (len(cache.keys), cache.length):
            raise ValueError(
                f"key must have the cache's batch and length {(len(cache.keys), cache.length)}, "
                f"got {tuple(key.shape[:2])}"
            )
        return cache.keys, cache.values

    def _by_head(self, projected: Tensor) -> Tensor:
        """Split, (batch, position, d_model) to (batch, heads, position, d_head)."""
        return split_heads(_wide_on_cpu(projected), self.num_heads)

    def _require_inputs(
        self, query: Tensor, key: Tensor, mask: Tensor | None, *, kept: int = 0
    ) -> None:
        require_vectors("query", query, self.d_model, self.query_projection.weight)
        if key is not query:
            require_vectors("key", key, self.d_model, self.key_projection.weight)
            require_same_batch("query", query, "key", key)
        shape = (query.size(0), self.num_heads, query.size(1), kept + key.size(1))
        require_mask(mask, shape, query.device)


def split_heads(x: Tensor, num_heads: int) -> Tensor:
    """Turn (batch, position, d_model) into (batch, heads, position, d_head).

    Raises:
        ValueError: If x has another number of axes, or num_heads does not divide d_model.
    """
    if x.dim() != 3:
        raise ValueError(f"x must have shape (batch, position, d_model), got {tuple(x.shape)}")
    require_heads(num_heads, x.size(-1))
    return x.unflatten(-1, (num_heads, -1)).transpose(1, 2)


def merge_heads(x: Tensor) -> Tensor:
    """Turn (batch, heads, position, d_head) back into (batch, position, d_model).

    Raises:
        ValueError: If x has another number of axes.
    """
    if x.dim() != 4:
        raise ValueError(
            f"x must have shape (batch, heads, position, d_head), got {tuple(x.shape)}"
        )
    return x.transpose(1, 2).flatten(-2)


def _without_autocast(device: torch.device) -> AbstractContextManager:
    """Scores exceed half precision; a device that knows no autocast (meta) needs nothing."""
    known = torch.amp.is_autocast_available(device.type)
    on = known and torch.is_autocast_enabled(device.type)
    return torch.autocast(device.type, enabled=False) if on else nullcontext()


def _wide_on_cpu(x: Tensor) -> Tensor:
    """What autocast has narrowed on a CPU, at least in float32; anything else as it is.

    In bfloat16 the backward pass of a CPU's attention takes several times as long.
    """
    if x.device.type == "cpu" and torch.is_autocast_enabled("cpu"):
        return x.to(torch.promote_types(x.dtype, torch.float32))
    return x
