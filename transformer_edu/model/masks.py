"""Masks: which query may attend to which key (paper §3.2.3). True means *may attend*.

``F.scaled_dot_product_attention`` reads a boolean mask in the same way. In
``nn.MultiheadAttention`` True hides. Masks combine with ``&``. Built in notebooks/03_masks.ipynb.
"""

import torch
from torch import Tensor

from .refusals import require_token_ids, require_whole
from .special_ids import PADDING_ID, START_ID

LARGEST_MASK = 65_536  # positions; a larger square mask takes more than 4 GiB


def padding_mask(token_ids: Tensor, *, padding_id: int = PADDING_ID) -> Tensor:
    """Hide padding from every query: True where a key is a real token.

    Only keys are hidden. A padded position still has a query, and the loss ignores its output.

    Args:
        token_ids: Shape (batch, position).
        padding_id: The id that fills short sequences.

    Returns:
        Shape (batch, 1, 1, key), broadcastable to (batch, heads, query, key).

    Raises:
        TypeError, ValueError: If token_ids is not a non-empty (batch, position) of whole numbers.
    """
    require_token_ids("token_ids", token_ids)
    require_whole("padding_id", padding_id, minimum=0)
    return real_tokens(token_ids, padding_id)


def causal_mask(
    length: int, *, queries: int | None = None, device: torch.device | str | None = None
) -> Tensor:
    """Hide the future: True where the key is not later than the query.

    Args:
        length: Number of positions, at least 1.
        queries: Number of queries, the last positions; None for all positions.
        device: Where the mask is needed; torch's default when None.

    Returns:
        Shape (query, key), a lower triangle of True, or the last rows of one.

    Raises:
        TypeError, ValueError: If length is not a whole number from 1 to LARGEST_MASK, or queries
            not one from 1 to length.
    """
    require_whole("length", length, maximum=LARGEST_MASK)
    queries = length if queries is None else queries
    require_whole("queries", queries, maximum=length)
    return torch.ones(queries, length, dtype=torch.bool, device=device).tril(length - queries)


def target_mask(
    token_ids: Tensor, *, padding_id: int = PADDING_ID, start_id: int = START_ID
) -> Tensor:
    """Hide padding and the future: the mask of the decoder's self-attention.

    Args:
        token_ids: The decoder's input, shape (batch, position).
        padding_id: The id that fills short sequences.
        start_id: The id that every target starts with. If it is padding_id too, the first
            position is not padding.

    Returns:
        Shape (batch, 1, query, key): the padding mask and the causal mask combined.

    Raises:
        TypeError, ValueError: If token_ids is not a non-empty (batch, position) of whole numbers.
    """
    require_token_ids("token_ids", token_ids)
    require_whole("padding_id", padding_id, minimum=0)
    require_whole("start_id", start_id, minimum=0)
    real = real_tokens(token_ids, padding_id, start_id)
    return real & causal_mask(token_ids.size(1), device=token_ids.device)


def real_tokens(token_ids: Tensor, padding_id: int, start_id: int | None = None) -> Tensor:
    """True at every token that is not padding, shape (batch, 1, 1, position); checks nothing.

    If targets start with padding, so that start_id is padding_id, the first token counts as real.
    """
    real = (token_ids != padding_id).unsqueeze(1).unsqueeze(1)
    if start_id == padding_id:
        real[..., 0] = True
    return real
