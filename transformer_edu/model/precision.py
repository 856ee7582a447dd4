"""In which precision attention computes, and the one call that fuses it.

The formulas in attention.py leave both to this module.
"""

from collections.abc import Callable
from contextlib import nullcontext
from functools import wraps

import torch
import torch.nn.functional as F
from torch import Tensor

HALF = (torch.float16, torch.bfloat16)


def at_least_float32(compute: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Let a function of query and key compute in float32 or wider, also under autocast.

    Half precision ends at 65,504, and attention scores can be larger. The result is rounded to
    the query's type, except under a CPU's autocast, where fused_attention stays in float32 too.

    Args:
        compute: Takes query and key, and further arguments by name.
    """

    @wraps(compute)
    def wide(query: Tensor, key: Tensor, **further: Tensor | None) -> Tensor:
        device = query.device.type
        has_autocast = torch.amp.is_autocast_available(device)  # the meta device has none
        with torch.autocast(device, enabled=False) if has_autocast else nullcontext():
            result = compute(widened(query), widened(key), **further)
        return result if under_cpu_autocast(query) else result.to(query.dtype)

    return wide


def fused_attention(
    query: Tensor, key: Tensor, value: Tensor, *, mask: Tensor | None, dropout: float
) -> Tensor:
    """Equation 1 in one call of PyTorch, which does not store the weights.

    Under a CPU's autocast it computes in float32: in bfloat16 its backward pass takes three to
    six times as long there.

    Args:
        query, key, value, mask: As for scaled_dot_product_attention.
        dropout: Probability of dropping an attention weight, in [0, 1].

    Returns:
        Shape (..., query, d_value).
    """
    options = {"attn_mask": None if mask is None else torch.atleast_2d(mask), "dropout_p": dropout}
    if not under_cpu_autocast(query):
        return F.scaled_dot_product_attention(query, key, value, **options)
    with torch.autocast("cpu", enabled=False):
        return F.scaled_dot_product_attention(*map(widened, (query, key, value)), **options)


def widened(x: Tensor) -> Tensor:
    """The tensor in float32 if it is in half precision."""
    return x.float() if x.dtype in HALF else x


def under_cpu_autocast(x: Tensor) -> bool:
    """Whether the tensor is on a CPU whose autocast is on."""
    return x.device.type == "cpu" and torch.is_autocast_enabled("cpu")
