"""A small Transformer for tests, and what tells whether two models have the same weights."""

import torch
from torch import Tensor, nn

from transformer_edu.model.transformer import Transformer, TransformerConfig


def small_transformer(
    vocabulary_size: int = 12, *, seed: int = 0, **changes: object
) -> Transformer:
    """A Transformer that a test builds and trains in a moment; changes are the config's."""
    torch.manual_seed(seed)
    sizes = {"d_model": 16, "num_heads": 2, "num_layers": 1, "d_ff": 24}
    return Transformer(TransformerConfig(vocabulary_size=vocabulary_size, **sizes | changes))


def weights(model: nn.Module) -> list[Tensor]:
    """A copy of every weight, tied ones once."""
    return [parameter.detach().clone() for parameter in model.parameters()]


def same(first: list[Tensor], second: list[Tensor]) -> bool:
    """Whether two lists of weights are equal, bit for bit."""
    return all(one.equal(other) for one, other in zip(first, second, strict=True))
