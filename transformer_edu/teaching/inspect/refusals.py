"""What several doors of the teaching tools refuse, in one sentence each."""

import numpy as np
from torch import Tensor

ABOVE_ONE = 1e-3  # what half precision adds up to beyond one


def require_floats(name: str, tensor: Tensor) -> None:
    """Refuse, with a TypeError, anything but a tensor of floating-point numbers."""
    if not isinstance(tensor, Tensor) or not tensor.is_floating_point():
        got = tensor.dtype if isinstance(tensor, Tensor) else type(tensor).__name__
        raise TypeError(f"{name} must be a tensor of floating-point numbers, got {got}")


def require_zero_to_one(name: str, numbers: Tensor | np.ndarray) -> None:
    """Refuse, with a ValueError, numbers outside [0, 1], NaN too; half precision may overshoot."""
    outside = numbers[~((numbers >= 0) & (numbers <= 1 + ABOVE_ONE))]
    if len(outside) > 0:
        raise ValueError(f"{name} must be from 0 to 1, got {outside[0].item()}")
