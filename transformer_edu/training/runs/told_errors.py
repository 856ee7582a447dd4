"""What all commands have in common: errors become one sentence, and closed streams do no harm."""

import io
import os
import sys
from collections.abc import Callable, Sequence
from functools import wraps

from transformer_edu.training.machine.memory import enough_memory

FAILED = 1
INTERRUPTED = 130  # the exit status that shells give to Ctrl-C
TOLD = (ValueError, TypeError, OSError, ImportError, MemoryError)  # any other is a mistake of ours

Command = Callable[[Sequence[str] | None], int]


def with_told_errors(command: Command) -> Command:
    """Make a command tell errors in one sentence on standard error instead of a traceback.

    Args:
        command: Takes the words of the command line, or None for the program's own; returns the
            exit status.

    Returns:
        The same, which returns FAILED after an error and INTERRUPTED after Ctrl-C.
    """

    @wraps(command)
    def told(arguments: Sequence[str] | None = None) -> int:
        prepare_streams()
        try:
            with enough_memory("this command"):
                return command(arguments)
        except TOLD as error:
            print(f"error: {error}", file=sys.stderr)
            return FAILED
        except KeyboardInterrupt:
            return INTERRUPTED

    return told


def prepare_streams() -> None:
    """Let output be UTF-8 and never fail for a character; what is closed takes it and drops it.

    A file that is opened later never gets the number of a closed stream, to which torch writes
    its warnings.
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
