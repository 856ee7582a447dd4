"""The wrong split of lesson 04, inside the package."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest.mock import patch

from torch import Tensor

from transformer_edu.model import attention


@contextmanager
def heads_split_by(split: Callable[[Tensor, int], Tensor]) -> Iterator[None]:
    """Inside the block, every MultiHeadAttention of the package splits its heads by this function.

    Args:
        split: Takes x (batch, position, d_model) and num_heads; returns
            (batch, heads, position, d_head).
    """
    with patch.object(attention, "split_heads", split):
        yield
