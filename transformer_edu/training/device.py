"""Where to compute: a GPU if there is one, and one CPU thread for small models.

Met in notebooks/00_start_here.ipynb.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

DEVICE_VARIABLE = "TRANSFORMER_EDU_DEVICE"
SMALL_MODEL = 2_000_000  # parameters; below that, one CPU thread is the fastest


def pick_device() -> torch.device:
    """The best device here: CUDA, then MPS (Apple), then the CPU.

    The environment variable TRANSFORMER_EDU_DEVICE overrides the choice.

    Raises:
        ValueError: If the variable names a device that is unknown or not here.
    """
    wanted = os.environ.get(DEVICE_VARIABLE)
    if wanted:
        return _named_device(wanted)
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


def describe_device(device: torch.device | None = None) -> str:
    """One sentence on what computes here, and how to get something faster where that is easy.

    Args:
        device: The device to describe; None describes what pick_device picks.
    """
    device = pick_device() if device is None else torch.device(device)
    if device.type == "cuda":
        return f"Computing on the GPU {torch.cuda.get_device_name(device)}."
    if device.type == "mps":
        return "Computing on the GPU of this Apple computer (MPS)."
    return (
        "Computing on the CPU, which is enough for these lessons; "
        "for a GPU in Colab choose Runtime, Change runtime type, T4 GPU, then run all again."
    )


@contextmanager
def use_one_thread() -> Iterator[None]:
    """Inside the block torch uses a single CPU thread.

    A toy model's operations are too small to share: on a busy machine two threads were
    measured 13 to 35 times slower than one. One thread also makes results independent of the
    number of cores.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@contextmanager
def suitable_threads(model: nn.Module) -> Iterator[None]:
    """Inside the block a small model on the CPU has one thread; any other has all."""
    small = sum(weight.numel() for weight in model.parameters()) < SMALL_MODEL
    if small and device_of(model).type == "cpu":
        with use_one_thread():
            yield
    else:
        yield


def device_of(model: nn.Module) -> torch.device:
    """The device of a model's parameters.

    Raises:
        ValueError: If it has none.
    """
    parameter = next(model.parameters(), None)
    if parameter is None:
        raise ValueError(
            "model must have parameters, got none: layers in a plain list are not registered"
        )
    return parameter.device


def _named_device(name: str) -> torch.device:
    """The device of that name, if it is here."""
    try:
        device = torch.device(name)
        torch.ones(1, device=device).item()  # fails where there is no such device, or no memory
    except (RuntimeError, AssertionError, NotImplementedError):
        raise ValueError(
            f"{DEVICE_VARIABLE} must name a device of this machine (cpu, cuda, mps), got {name!r}"
        ) from None
    return device
