"""Memory: keep the memory that a training step frees, and report a lack of memory clearly.

The next step needs the same amount again. The logits of 4,096 tokens and 10,000 words fill 160 MB.
On Linux the C library returns every tensor of that size to the system and requests it again, page
by page. Measured on the tiny preset, that took as much CPU time as all the arithmetic.
"""

import ctypes
import platform
import re
from collections.abc import Iterator
from contextlib import contextmanager

TRIM_THRESHOLD, MMAP_MAX = -1, -4  # the numbers of two settings in the C library's malloc.h
LARGEST_SETTING = 2**31 - 1
# Torch's messages on a CPU, a GPU, Windows and macOS, and about sizes that no memory can have.
OUT_OF_MEMORY = re.compile(
    r"not enough memory|out of memory|can(?:'|no)t allocate memory|ALLOC_FAILED"
    r"|size calculation overflowed|Overflow when unpacking",
    re.IGNORECASE,
)
REQUESTED = re.compile(r"(?:tried|unable) to allocate ([\d.,]+ \w+)", re.IGNORECASE)


class NotEnoughMemoryError(MemoryError):
    """There is not enough memory; the message says for what."""


@contextmanager
def enough_memory(purpose: str, advice: str = "") -> Iterator[None]:
    """Inside the block, one sentence replaces torch's own messages about a lack of memory.

    Args:
        purpose: What needs the memory.
        advice: How to need less.

    Raises:
        NotEnoughMemoryError: If the memory of the CPU or the GPU does not suffice.
    """
    try:
        yield
        return
    except NotEnoughMemoryError:  # from an inner block
        raise
    except (MemoryError, RuntimeError, TypeError, ValueError) as error:
        if not isinstance(error, MemoryError) and not OUT_OF_MEMORY.search(str(error)):
            raise
        requested = REQUESTED.search(str(error))
        got = f"no room for {requested[1]}" if requested else "too little"
        advice = f"; {advice}" if advice else ""
        message = f"memory must suffice for {purpose}, got {got}{advice}"
    raise NotEnoughMemoryError(message)  # outside the handler: torch's error holds tensors


def keep_freed_memory() -> bool:
    """Let this process keep the memory that it frees, until the process ends.

    Only a process that does nothing else should call this: a command, not a notebook.

    Returns:
        Whether the C library supports it; only glibc does.
    """
    if platform.libc_ver()[0] != "glibc":
        return False
    set_option = getattr(ctypes.CDLL(None), "mallopt", None)
    if set_option is None:
        return False
    return bool(set_option(MMAP_MAX, 0) and set_option(TRIM_THRESHOLD, LARGEST_SETTING))
