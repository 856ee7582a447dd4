"""The way from the encoder to the decoder, cut: the Break it of lesson 00."""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import torch
from torch import Tensor

from transformer_edu.model.transformer import Transformer


@contextmanager
def memory_of_zeros(model: Transformer) -> Iterator[None]:
    """Inside the block the encoder runs as before, but the decoder gets zeros as its memory.

    Args:
        model: Its weights stay as they are.
    """
    encode = model.encode

    def zeros(source_ids: Tensor, **masks: Tensor | None) -> Tensor:
        return torch.zeros_like(encode(source_ids, **masks))

    with patch.object(model, "encode", zeros):
        yield
