"""Use a model without training it: no dropout, no gradients, then everything as it was."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn


@contextmanager
def evaluation_mode(model: nn.Module) -> Iterator[None]:
    """Inside the block the model neither drops numbers nor tracks gradients.

    Afterwards, also after an error, every module is in the mode that it was in.

    Raises:
        TypeError: If model is not a torch.nn.Module.
    """
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be a torch.nn.Module, got {type(model).__name__}")
    modes = [(module, module.training) for module in model.modules()]
    try:
        model.eval()
        with torch.no_grad():
            yield
    finally:
        for module, mode in modes:
            module.training = mode
