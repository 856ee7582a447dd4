"""Memory: keep what a training step frees, and say in a sentence when there is too little.

The next step needs as much again. The logits of 4,096 tokens and 10,000 words fill 160 MB. On
Linux the C library gives every tensor of that size back to the system at once and asks for it
again, page by page: measured on the tiny preset, that took as much CPU time as all the arithmetic.
"""

import ctypes
import platform
import re
from collections.abc import Iterator
from contextlib import contextmanager

TRIM_THRESHOLD, MMAP_MAX = -1, -4  # the names of two settings in the C library's malloc.h
MOST = 2**31 - 1
# What torch says on a CPU, a GPU, Windows and macOS, and of sizes that no memory can have.
TOO_LITTLE = re.compile(
    r"not enough memory|out of memory|can(?:'|no)t allocate memory|ALLOC_FAILED"
    r"|size calculation overflowed|Overflow when unpacking",
    re.IGNORECASE,
)
ASKED = re.compile(r"(?:tried|unable) to allocate ([\d.,]+ \w+)", re.IGNORECASE)


class NotEnoughMemoryError(MemoryError):
    """Something does not fit into the memory; one sentence says what."""


@contextmanager
def enough_memory(purpose: str, advice: str = "") -> Iterator[None]:
    """Inside the block a lack of memory is told in one sentence instead of torch's own words.

    Args:
        purpose: What needs the memory.
        advice: How to need less.

    Raises:
        NotEnoughMemoryError: If the memory of the CPU or the GPU does not suffice.
    """
    try:
        yield
        return
    except NotEnoughMemoryError:  # an inner block has told it
        raise
    except (MemoryError, RuntimeError, TypeError, ValueError) as error:
        if not isinstance(error, MemoryError) and not TOO_LITTLE.search(str(error)):
            raise
        asked = ASKED.search(str(error))
        got = f"no room for {asked[1]}" if asked else "too little"
        advice = f"; {advice}" if advice else ""
        message = f"memory must suffice for {purpose}, got {got}{advice}"
    raise NotEnoughMemoryError(message)  # outside the handler: torch's error holds tensors


def keep_freed_memory() -> bool:
    """Let this process keep, to the end, the memory that it frees.

    Only a process that does nothing else should ask for it: a command, not a notebook.

    Returns:
        Whether the C library can; others than glibc cannot.
    """
    if platform.libc_ver()[0] != "glibc":
        return False
    set_option = getattr(ctypes.CDLL(None), "mallopt", None)
    if set_option is None:
        return False
    return bool(set_option(MMAP_MAX, 0) and set_option(TRIM_THRESHOLD, MOST))
