"""Ctrl-C, or *Interrupt the kernel*, takes effect between two steps, never inside a step."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def noted_interrupts() -> Iterator[list[int]]:
    """Note interrupts in a list instead of raising them, so that a loop can end where it likes.

    Only the main thread receives interrupts; in other threads the list stays empty.

    Yields:
        The signal's number, once for each interrupt so far.
    """
    received: list[int] = []
    previous = signal.getsignal(signal.SIGINT)
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or previous is None:  # None: not set by Python, which could not restore it
        yield received
        return
    signal.signal(signal.SIGINT, lambda number, frame: received.append(number))
    try:
        yield received
    finally:
        signal.signal(signal.SIGINT, previous)


@contextmanager
def postponed_interrupt() -> Iterator[None]:
    """Delay an interrupt until the block is done: a step is taken whole or not at all.

    Only the main thread receives interrupts; in other threads the block just runs.
    """
    received: list[int] = []
    try:
        with noted_interrupts() as received:
            yield
    finally:
        if received:
            signal.raise_signal(signal.SIGINT)
