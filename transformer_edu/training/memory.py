"""Keep the memory that a training step frees: the next step needs as much again.

The logits of 4,096 tokens and 10,000 words fill 160 MB. On Linux the C library gives every
tensor of that size back to the system at once and asks for it again, page by page: measured on
the tiny preset, that took as much CPU time as all the arithmetic.
"""

import ctypes
import platform

TRIM_THRESHOLD, MMAP_MAX = -1, -4  # the names of two settings in the C library's malloc.h
MOST = 2**31 - 1


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
