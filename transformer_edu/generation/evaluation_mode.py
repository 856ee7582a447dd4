"""Use a model without training it: no dropout, no gradients, then everything as it was."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

import torch
from torch import nn

_LOCK, _USES = Lock(), {}  # each module in use: by how many blocks, and the mode that it was in


@contextmanager
def evaluation_mode(model: nn.Module) -> Iterator[None]:
    """Inside the block the model neither drops numbers nor tracks gradients.

    Afterwards, also after an error and with several threads, every module is in its mode again.

    Raises:
        TypeError: If model is not a torch.nn.Module.
    """
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be a torch.nn.Module, got {type(model).__name__}")
    modules = list(model.modules())
    with _LOCK:
        for module in modules:
            _USES.setdefault(module, [0, module.training])[0] += 1
        model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        with _LOCK:
            for module in modules:
                _USES[module][0] -= 1
                if _USES[module][0] == 0:
                    module.training = _USES.pop(module)[1]
