"""Where to compute and how: the device, the precision, the CPU threads, the memory.

Met in notebooks/00_start_here.ipynb.
"""

import ctypes
import os
import platform
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from timeit import timeit

import torch
from torch import nn

DEVICE_VARIABLE = "TRANSFORMER_EDU_DEVICE"
PRECISIONS = ("auto", "float32", "bfloat16", "float16")
SMALL_MODEL = 2_000_000  # parameters; below that, one CPU thread and float32 are the fastest
TIMED_PRODUCT = (480, 512, 2048)  # rows, inner size, columns: the base model's largest in a layer
TIMED_ROUNDS = 3
TRIM_THRESHOLD, MMAP_MAX = -1, -4  # the numbers of two settings in the C library's malloc.h
LARGEST_SETTING = 2**31 - 1
WORTH_CONVERTING = 0.8  # of float32's seconds: converting to bfloat16 and back takes time as well


def pick_device() -> torch.device:
    """The best device here: CUDA, then MPS (Apple), then the CPU.

    The environment variable TRANSFORMER_EDU_DEVICE overrides the choice.

    Raises:
        ValueError: If the variable names a device that is unknown or not here.
    """
    if wanted := os.environ.get(DEVICE_VARIABLE):
        return named_device(wanted, f" from --device or {DEVICE_VARIABLE}")
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")


def describe_device(device: torch.device | str) -> str:
    """A device in a few words, to put after "computed on", such as "the GPU NVIDIA A100"."""
    device = torch.device(device)
    if device.type == "cuda":
        return f"the GPU {torch.cuda.get_device_name(device)}"
    known = {"cpu": "the CPU", "mps": "the GPU of this Apple computer (MPS)"}
    return known.get(device.type, f"the device {device.type}")


@contextmanager
def random_state_restored() -> Iterator[None]:
    """Restore the state of torch's random generators after the block."""
    accelerator = torch.accelerator.current_accelerator(check_available=True)
    own = [] if accelerator is None else range(torch.accelerator.device_count())
    kind = "cuda" if accelerator is None else accelerator.type
    with torch.random.fork_rng(own, device_type=kind):
        yield


@contextmanager
def use_one_thread() -> Iterator[None]:
    """Inside the block torch uses a single CPU thread.

    A toy model's operations are too small to share: on a busy machine two threads were 13 to 35
    times slower than one. One thread also makes results independent of the number of cores.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def suitable_threads(model: nn.Module) -> AbstractContextManager[None]:
    """Inside the block a small model on the CPU uses one thread; any other model uses all."""
    return use_one_thread() if is_small(model) and device_of(model).type == "cpu" else nullcontext()


def autocast_for(model: nn.Module, precision: str) -> torch.autocast:
    """A context in which the model multiplies matrices in this precision.

    Weights, sums and normalization stay in float32, and so does attention on a CPU (see
    MultiHeadAttention). It is meant for the forward pass; the backward pass follows it.

    Args:
        model: Decides the device, and what "auto" means.
        precision: One of PRECISIONS; "auto" is what pick_precision picks.
    """
    dtype = _dtype(model, precision)
    return torch.autocast(device_of(model).type, dtype=dtype, enabled=dtype != torch.float32)


def gradient_scaler(model: nn.Module, precision: str) -> torch.amp.GradScaler:
    """What keeps small gradients above float16's smallest number; idle in other precisions.

    It multiplies the loss before the backward pass and divides the gradients after it. An
    update whose gradients overflowed is skipped, and the factor is halved.

    Args:
        model, precision: As for autocast_for.
    """
    enabled = _dtype(model, precision) == torch.float16
    return torch.amp.GradScaler(device_of(model).type, enabled=enabled)


def pick_precision(model: nn.Module) -> str:
    """The fastest precision in which this model can be trained on its device.

    A GPU computes in bfloat16 if it multiplies it itself, as NVIDIA's do since the A100: one that
    imitates it is slower than in float32. A CPU is timed, once in a process. Small models gain
    nothing.

    Raises:
        ValueError: If the model has no parameters.
    """
    kind = device_of(model).type
    if is_small(model):
        return "float32"
    if kind == "cuda":
        return ("float16", "bfloat16")[torch.cuda.is_bf16_supported(including_emulation=False)]
    return "bfloat16" if kind == "cpu" and cpu_is_faster_in_bfloat16() else "float32"


@cache
def cpu_is_faster_in_bfloat16() -> bool:
    """Whether the quickest of three products takes at most 0.8 of the time that float32 takes."""
    dtypes = torch.float32, torch.bfloat16
    rounds = [[product_seconds(dtype) for dtype in dtypes] for _ in range(TIMED_ROUNDS)]
    wide, narrow = map(min, zip(*rounds, strict=True))
    return narrow <= WORTH_CONVERTING * wide


def product_seconds(dtype: torch.dtype) -> float:
    """The seconds that the CPU takes for one product of matrices of this type."""
    sizes = TIMED_PRODUCT[:2], TIMED_PRODUCT[1:]
    first, second = (torch.ones(size, dtype=dtype, device="cpu") for size in sizes)
    return timeit(lambda: first @ second, number=1)


def is_small(model: nn.Module) -> bool:
    """Whether the model's operations are too small to gain from threads or half precision."""
    return sum(weight.numel() for weight in model.parameters()) < SMALL_MODEL


def device_of(model: nn.Module) -> torch.device:
    """The device of a model's parameters.

    Raises:
        ValueError: If it has none.
    """
    parameter = next(model.parameters(), None)
    if parameter is None:
        got = "none: layers in a plain list are not registered"
        raise ValueError(f"model must have parameters, got {got}")
    return parameter.device


def keep_freed_memory() -> bool:
    """Let this process keep the memory that it frees: the next step needs the same amount again.

    On Linux the C library returns large tensors to the system and requests them again, page by
    page. On the tiny preset, whose logits fill 160 MB, that took as much CPU time as all the
    arithmetic. It is for commands: a notebook does other things too.

    Returns:
        Whether the C library supports it; only glibc does.
    """
    if platform.libc_ver()[0] != "glibc":
        return False
    set_option = ctypes.CDLL(None).mallopt
    return bool(set_option(MMAP_MAX, 0) and set_option(TRIM_THRESHOLD, LARGEST_SETTING))


def _dtype(model: nn.Module, precision: str) -> torch.dtype:
    """The torch type of a precision, for this model."""
    return getattr(torch, pick_precision(model) if precision == "auto" else precision)


def named_device(name: str | torch.device, origin: str = "") -> torch.device:
    """The device of that name; a ValueError if it is not here, which says where it came from."""
    try:
        device = torch.device(name)
        torch.ones(1, device=device).item()  # fails where there is no such device, or no memory
    except (RuntimeError, TypeError, AssertionError, NotImplementedError, ImportError):
        other = torch.accelerator.current_accelerator(check_available=True)
        wanted = f"one of this machine ({'cpu' if other is None else f'cpu, {other.type}'})"
        raise ValueError(f"device must be {wanted}, got {name!r}{origin}") from None
    return device
