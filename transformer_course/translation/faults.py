"""Two mistakes of lesson 15 that raise no error: other ids, and padding that is not hidden.

Used in notebooks/15_translation.ipynb.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import torch
from torch import Tensor

from transformer_edu.data.tokenizer import Tokenizer
from transformer_edu.model.transformer import Transformer


def renumber(tokenizer: Tokenizer) -> Tokenizer:
    """A tokenizer with the same merges in a different order, so that other ids mean its pieces."""
    return Tokenizer(sorted(tokenizer.merges, key=lambda pair: len(pair[0] + pair[1])))


@contextmanager
def padding_visible(model: Transformer) -> Iterator[None]:
    """Inside the block the source mask of a model hides nothing, padding included."""
    right_mask = model.source_mask

    def visible(source_ids: Tensor) -> Tensor:
        return torch.ones_like(right_mask(source_ids))

    with patch.object(model, "source_mask", visible):
        yield
