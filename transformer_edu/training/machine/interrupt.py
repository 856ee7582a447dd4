"""Ctrl-C, or *Interrupt the kernel*, takes effect between two steps, never inside a step."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def postponed_interrupt() -> Iterator[None]:
    """Delay an interrupt until the block is done: a step is taken whole or not at all.

    Only the main thread receives interrupts; in other threads the block just runs.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.getsignal(signal.SIGINT)
    if previous is None:  # the handler was not set by Python, which could not restore it
        yield
        return
    received = []
    signal.signal(signal.SIGINT, lambda number, frame: received.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
        if received:
            signal.raise_signal(signal.SIGINT)
