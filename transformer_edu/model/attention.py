"""Attention: every position gathers what it needs from the others (paper §3.2).

Built step by step in notebooks/02_attention.ipynb and 04_multi_head_attention.ipynb.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_edu.model.cache import KeyValueCache, with_earlier
from transformer_edu.model.refusals import require_attention, require_heads


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
        TypeError, ValueError: If query and key would only be converted or broadcast to fit each
            other, or mask is not boolean and broadcastable.
    """
    require_attention(query, key, mask=mask)
    # Half precision ends at 65,504, and scores can be larger.
    with at_least_float32(query, key) as (wide_query, wide_key):
        scores = wide_query @ wide_key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is None:
        return scores.softmax(dim=-1).to(query.dtype)
    # The dtype's own minimum, not -inf or -1e9: no NaN in an empty row, no overflow in float16.
    scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return scores.softmax(dim=-1).masked_fill(~mask, 0.0).to(query.dtype)


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
        TypeError, ValueError: As for attention_weights.
    """
    require_attention(query, key, value, mask)
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
        TypeError, ValueError: If num_heads does not divide d_model.
    """

    def __init__(
        self, *, d_model: int, num_heads: int, dropout: float = 0.0, bias: bool = False
    ) -> None:
        super().__init__()
        require_heads(num_heads, d_model)
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
            cache: The keys and values of earlier positions; those of key and value are added
                to it, and the queries attend to all.

        Returns:
            Shape (batch, query, d_model).

        Raises:
            TypeError, ValueError: If the inputs would only be broadcast to fit each other, or
                mask is not boolean and broadcastable.
        """
        queries = split_heads(self.query_projection(query), self.num_heads)
        keys = split_heads(self.key_projection(key), self.num_heads)
        values = split_heads(self.value_projection(value), self.num_heads)
        keys, values = with_earlier(cache, keys, values)
        require_attention(queries, keys, values, mask)
        with float32_under_cpu_autocast(queries, keys, values) as (queries, keys, values):
            heads = F.scaled_dot_product_attention(
                queries,
                keys,
                values,
                attn_mask=None if mask is None else torch.atleast_2d(mask),
                dropout_p=self.dropout if self.training else 0.0,
            )
        concatenated = merge_heads(heads)
        return self.output_projection(concatenated)

    def attention_weights(
        self, query: Tensor, key: Tensor, *, mask: Tensor | None = None
    ) -> Tensor:
        """The weights that ``forward`` applies, before dropout, shape (batch, heads, query, key).

        Takes what ``forward`` does, without the value: weights do not depend on it.
        """
        queries = split_heads(self.query_projection(query), self.num_heads)
        keys = split_heads(self.key_projection(key), self.num_heads)
        with float32_under_cpu_autocast(queries, keys) as (queries, keys):
            return attention_weights(queries, keys, mask=mask)


def split_heads(x: Tensor, num_heads: int) -> Tensor:
    """Turn (batch, position, d_model) into (batch, heads, position, d_head)."""
    return x.unflatten(-1, (num_heads, -1)).transpose(-3, -2)


def merge_heads(x: Tensor) -> Tensor:
    """Turn (batch, heads, position, d_head) back into (batch, position, d_model)."""
    return x.transpose(-3, -2).flatten(-2)


@contextmanager
def at_least_float32(*tensors: Tensor) -> Iterator[list[Tensor]]:
    """The tensors in float32 or wider, and no autocast that would narrow them again."""
    device = tensors[0].device.type
    has_autocast = torch.amp.is_autocast_available(device)  # the meta device has none
    with torch.autocast(device, enabled=False) if has_autocast else nullcontext():
        yield [x.to(torch.promote_types(x.dtype, torch.float32)) for x in tensors]


def float32_under_cpu_autocast(*tensors: Tensor) -> AbstractContextManager[Sequence[Tensor]]:
    """Under a CPU's autocast at_least_float32, otherwise the tensors as they are.

    In bfloat16 the backward pass of attention takes a CPU three to six times as long.
    """
    narrowed = tensors[0].device.type == "cpu" and torch.is_autocast_enabled("cpu")
    return at_least_float32(*tensors) if narrowed else nullcontext(tensors)
