"""Attention: every position gathers what it needs from the others (paper §3.2).

Built step by step in notebooks/02_attention.ipynb and 04_multi_head_attention.ipynb.
"""

import math

import torch
from torch import Tensor, nn

from .cache import KeyValueCache
from .precision import at_least_float32, fused_attention
from .refusals import require_attention, require_divisor, require_flag, require_probability


@at_least_float32
def attention_weights(query: Tensor, key: Tensor, *, mask: Tensor | None = None) -> Tensor:
    """How much each query attends to each key: softmax(query keyᵀ / √d_head), paper eq. 1.

    Args:
        query: What each position looks for, shape (..., query, d_head).
        key: What each position offers, shape (..., key, d_head).
        mask: True where a query may attend to a key, broadcastable to (..., query, key).

    Returns:
        Weights, shape (..., query, key). Every row sums to one, except the row of a query
        that may attend to nothing: it is all zero, with zero gradient.

    Raises:
        TypeError, ValueError: If query is not of a floating-point type, mask is not boolean, or
            the shapes do not fit each other.
    """
    require_attention(query, key, key, mask)
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is None:
        return scores.softmax(dim=-1)
    # The smallest number, not -inf: where all keys are hidden, the softmax of -inf is NaN.
    scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return scores.softmax(dim=-1).masked_fill(~mask, 0.0)


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, *, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Average the values, each weighted by how well its key matches the query (paper §3.2.1).

    The written-out form of ``torch.nn.functional.scaled_dot_product_attention``, which
    MultiHeadAttention uses: the same numbers, and the weights too.

    Args:
        query: Shape (..., query, d_head).
        key: Shape (..., key, d_head).
        value: Shape (..., key, d_value).
        mask: True where a query may attend to a key, broadcastable to (..., query, key).

    Returns:
        The output, shape (..., query, d_value), and the weights, shape (..., query, key).

    Raises:
        TypeError, ValueError: As for attention_weights.
    """
    require_attention(query, key, value, mask)
    weights = attention_weights(query, key, mask=mask)
    return weights @ value, weights


class MultiHeadAttention(nn.Module):
    """Several attentions side by side, each in its own d_head dimensions (paper §3.2.2).

    Args:
        d_model: Width of every position's vector, in and out.
        num_heads: Number of heads; must divide d_model. Each head is d_model / num_heads wide.
        dropout: Probability of dropping an attention weight while training, in [0, 1]. The
            paper drops none (§5.4); torch.nn's layers do.
        bias: Whether the four projections add a bias; the paper's do not, torch.nn's do.

    Raises:
        TypeError, ValueError: If num_heads does not divide d_model.
    """

    def __init__(
        self, *, d_model: int, num_heads: int, dropout: float = 0.0, bias: bool = False
    ) -> None:
        super().__init__()
        require_divisor("num_heads", num_heads, "d_model", d_model)
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
                (batch, heads, query, key). Hidden keys change nothing, unless a projection or
                a score is infinite (beyond about 1e30 in float32, 1e4 in float16).
            cache: The keys and values of earlier positions. The new ones are added to it, and
                the queries attend to all of them.

        Returns:
            Shape (batch, query, d_model).

        Raises:
            TypeError, ValueError, RuntimeError: If mask is not boolean, or the shapes do not fit.
        """
        queries = split_heads(self.query_projection(query), self.num_heads)
        keys = split_heads(self.key_projection(key), self.num_heads)
        values = split_heads(self.value_projection(value), self.num_heads)
        if cache is not None:
            keys, values = cache.add(keys, values)
        require_attention(queries, keys, values, mask)
        dropout = self.dropout if self.training else 0.0
        heads = fused_attention(queries, keys, values, mask=mask, dropout=dropout)
        return self.output_projection(merge_heads(heads))

    def attention_weights(
        self, query: Tensor, key: Tensor, *, mask: Tensor | None = None
    ) -> Tensor:
        """The weights that ``forward`` applies, before dropout, shape (batch, heads, query, key).

        Takes what ``forward`` does, without the value: weights do not depend on it.
        """
        queries = split_heads(self.query_projection(query), self.num_heads)
        keys = split_heads(self.key_projection(key), self.num_heads)
        return attention_weights(queries, keys, mask=mask)


def split_heads(x: Tensor, num_heads: int) -> Tensor:
    """Turn (batch, position, d_model) into (batch, heads, position, d_head)."""
    return x.unflatten(-1, (num_heads, -1)).transpose(-3, -2)


def merge_heads(x: Tensor) -> Tensor:
    """Turn (batch, heads, position, d_head) back into (batch, position, d_model)."""
    return x.transpose(-3, -2).flatten(-2)
