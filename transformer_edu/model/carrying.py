"""Carrying weights from one module into its twin, as pytorch.py needs it."""

import torch
from torch import Tensor, nn

EPS = 1e-5  # what torch.nn and we add to the variance in every normalisation


def settle(twin: nn.Module, *, like: nn.Module) -> nn.Module:
    """Give a twin on the meta device memory, of the type and on the device of its model."""
    weight = next(like.parameters())
    return twin.to(weight.dtype).to_empty(device=weight.device).train(like.training)


def copy_part(source: nn.Module, target: nn.Module) -> None:
    """Copy a linear layer's or a normalisation's weights, or a dropout's probability."""
    kind = next(kind for kind in (nn.Linear, nn.LayerNorm, nn.Dropout) if isinstance(target, kind))
    if not isinstance(source, kind):
        raise TypeError(f"module must hold a {kind.__name__} here, got {type(source).__name__}")
    if isinstance(source, nn.Dropout):
        target.p = source.p
        return
    if isinstance(source, nn.LayerNorm) and source.eps != EPS:
        raise ValueError(f"module must normalise with an eps of {EPS}, got {source.eps}")
    fill(target.weight, source.weight)
    fill(target.bias, source.bias)


@torch.no_grad()
def fill(parameter: Tensor | None, values: Tensor | None) -> None:
    """Copy values into a parameter: zeros where there are none, nothing into none."""
    if parameter is not None:
        parameter.copy_(torch.zeros_like(parameter) if values is None else values)
