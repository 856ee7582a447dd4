"""What can end a run early: an interrupt, too little memory, a missing library, wrong input.

Ctrl-C, or *Interrupt the kernel*, takes effect between two steps, never inside a step. The other
failures are reported in one sentence; a command prints no traceback for them.
"""

import io
import os
import re
import signal
import sys
import threading
from _thread import interrupt_main
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import wraps
from importlib import import_module
from types import ModuleType
from typing import NoReturn

# Torch's messages on a CPU, a GPU, Windows and macOS, and about sizes that no memory can have.
OUT_OF_MEMORY = re.compile(
    r"not enough memory|out of memory|can(?:'|no)t allocate memory|ALLOC_FAILED"
    r"|size calculation overflowed|Overflow when unpacking",
    re.IGNORECASE,
)
REQUESTED = re.compile(r"(?:tried|unable) to allocate ([\d.,]+ \w+)", re.IGNORECASE)
FAILED = 1
INTERRUPTED = 130  # the exit status that shells give to Ctrl-C
EXPECTED = (ValueError, TypeError, OSError, ImportError, MemoryError)  # any other is our mistake
Command = Callable[[Sequence[str] | None], int]


@contextmanager
def noted_interrupts() -> Iterator[list[int]]:
    """Collect interrupts in a list instead of raising them, so that a loop can end where it likes.

    Yields:
        The signal's number, once for each interrupt so far; nothing outside the main thread.
    """
    received: list[int] = []
    previous = signal.getsignal(signal.SIGINT)
    is_main = threading.current_thread() is threading.main_thread()
    # None: not set by Python, which could not restore it. Ignored interrupts stay ignored.
    if not is_main or previous in (None, signal.SIG_IGN):
        yield received
        return
    signal.signal(signal.SIGINT, lambda number, frame: received.append(number))
    try:
        yield received
    finally:
        signal.signal(signal.SIGINT, previous)


@contextmanager
def postponed_interrupt() -> Iterator[None]:
    """Delay an interrupt until the block is done: a step is taken whole, or its error is raised."""
    with noted_interrupts() as received:
        yield
    if received:
        signal.raise_signal(signal.SIGINT)


class NotEnoughMemoryError(MemoryError):
    """The memory does not suffice; the message says for what."""


@contextmanager
def enough_memory(purpose: str, advice: str = "") -> Iterator[None]:
    """Turn any error about a lack of memory into a NotEnoughMemoryError with one sentence.

    Args:
        purpose: What needs the memory.
        advice: How to need less.
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


def import_extra(name: str, *, extra: str = "data") -> ModuleType:
    """Import a library of an extra, or say in a ModuleNotFoundError how to install it."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        message = f'{name} must be installed for this: pip install "transformer-edu[{extra}]"'
        raise ModuleNotFoundError(message, name=name) from error


def one_line_errors(command: Command) -> Command:
    """Make a command print an expected error in one line on standard error, without a traceback.

    The exit status is then FAILED; after Ctrl-C it is INTERRUPTED.
    """

    @wraps(command)
    def reporting(arguments: Sequence[str] | None = None) -> int:
        try:
            prepare_streams()
            with enough_memory("this command"):
                return command(arguments)
        except EXPECTED as error:
            report(f"error: {error}")
            return FAILED
        except KeyboardInterrupt:
            report("Interrupted.")
            return INTERRUPTED

    return reporting


def report(sentence: str) -> None:
    """Write a line to standard error at once: several processes may write there."""
    sys.stderr.write(f"{sentence}\n")


def run_command(module: str) -> NoReturn:
    """Import a module and run its ``main``, which has ``one_line_errors``, as a program.

    Importing torch takes seconds, and an interrupt then would end in a long traceback or be lost:
    so it ends the program at once. While ``main`` runs, it is raised.
    """
    main: Command | None = None

    def interrupt(number: int, frame: object) -> NoReturn:
        if main is not None:
            raise KeyboardInterrupt
        with suppress(OSError):  # standard error may be closed
            os.write(2, b"Interrupted.\n")
        os._exit(INTERRUPTED)

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # ignored ones stay ignored
        signal.signal(signal.SIGINT, interrupt)
    sys.unraisablehook = _interrupt_again
    main = import_module(module).main
    try:
        status = main()
    except KeyboardInterrupt:  # a second one, while the first was reported
        status = INTERRUPTED
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # nothing is left to be interrupted
    sys.exit(status)


def _interrupt_again(dropped: "sys.UnraisableHookArgs") -> None:
    """Python drops what a callback raises: an interrupt in one comes again a moment later."""
    if not isinstance(dropped.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(dropped)
    elif not any(isinstance(each, threading.Timer) for each in threading.enumerate()):
        threading.Timer(0.1, interrupt_main).start()


def prepare_streams() -> None:
    """Write UTF-8 to the standard streams, and drop what goes to a closed one.

    No file that is opened later gets the descriptor of a closed stream: torch writes its warnings
    there.
    """
    while (file := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(file)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
