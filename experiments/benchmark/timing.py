"""Fair timing: two sides take turns, and CPU time counts, which other programs disturb least."""

import contextlib
import multiprocessing
import platform
import re
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from pathlib import Path

import torch

LEGEND = "CPU time: least / median / most. The last column is over pairs of neighbours."
WARM_UP = 2  # rounds that are not counted
Step = Callable[[], object]  # does once what is timed
Timer = Callable[[], float]  # does it, and tells the CPU seconds


def take_turns(*steps: Step, rounds: int, warm_up: int = WARM_UP) -> Iterator[tuple[float, ...]]:
    """CPU seconds of one step of each, round after round; every second round runs backwards.

    Args:
        steps: What is timed.
        rounds: Rounds that are counted.
        warm_up: Rounds before them.
    """
    yield from alternate(*map(_clock, steps), rounds=rounds, warm_up=warm_up)


def alternate(*timers: Timer, rounds: int, warm_up: int = WARM_UP) -> Iterator[tuple[float, ...]]:
    """The seconds of each timer, round after round; every second round runs backwards.

    Args:
        timers: Each does once what is timed, and tells the CPU seconds that it took.
        rounds: Rounds that are counted.
        warm_up: Rounds before them.
    """
    for number in range(warm_up + rounds):
        order = list(enumerate(timers))
        seconds = [0.0] * len(timers)
        for place, timer in order if number % 2 == 0 else reversed(order):
            seconds[place] = timer()
        if number >= warm_up:
            yield tuple(seconds)


class OwnProcess:
    """A timer for a step in a process of its own, where memory that others freed helps nobody.

    Args:
        build: Makes the step there; a function of a module.
        arguments: What it is given.
    """

    def __init__(self, build: Callable[..., Step], *arguments: object) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        given = (theirs, torch.get_num_threads(), build, arguments)
        self._process = context.Process(target=_serve, args=given, daemon=True)
        self._process.start()
        theirs.close()

    def __call__(self) -> float:
        """Do the step once, and tell its CPU seconds.

        Raises:
            RuntimeError: If the process has ended, by an error that it has told.
        """
        try:
            self._connection.send(None)
            return self._connection.recv()
        except (EOFError, BrokenPipeError) as error:
            raise RuntimeError("step must go on in its process, got the end of it") from error

    def close(self) -> None:
        """End the process."""
        self._connection.close()
        self._process.join()


def _serve(
    connection: Connection, threads: int, build: Callable[..., Step], arguments: Sequence[object]
) -> None:
    """In the other process: time the step as often as asked."""
    torch.set_num_threads(threads)
    timer = _clock(build(*arguments))
    with contextlib.suppress(EOFError):
        while True:
            connection.recv()
            connection.send(timer())


def _clock(step: Step) -> Timer:
    """A timer for a step in this process."""

    def seconds() -> float:
        start = time.process_time()
        step()
        return time.process_time() - start

    return seconds


def ratios(pairs: Sequence[tuple[float, float]]) -> list[float]:
    """How many times as long the second of each pair took."""
    return [second / first for first, second in pairs]


def spread(values: Sequence[float], digits: int) -> str:
    """Smallest, median and largest, as text."""
    extremes = (min(values), statistics.median(values), max(values))
    return " / ".join(f"{value:.{digits}f}" for value in extremes)


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table with every column as wide as its widest cell."""
    lines = [heads, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    padded = [
        [cell.ljust(width) for cell, width in zip(line, widths, strict=True)] for line in lines
    ]
    rule = ["-" * width for width in widths]
    return "\n".join(f"| {' | '.join(line)} |" for line in [padded[0], rule, *padded[1:]])


def compare(first: Step, second: Step, rounds: int) -> tuple[str, str, str]:
    """Milliseconds of each, and how many times as fast the first is, as text."""
    pairs = list(take_turns(first, second, rounds=rounds))
    ours, others = (
        spread([1000 * value for value in values], 0) for values in zip(*pairs, strict=True)
    )
    return ours, others, spread(ratios(pairs), 2)


def machine() -> str:
    """What the figures depend on besides the code, as a line of text."""
    processor = platform.processor() or platform.machine()
    described = Path("/proc/cpuinfo")
    if described.exists():
        found = re.search(r"model name\s*: (.+)", described.read_text())
        processor = found[1] if found else processor
    return f"{processor}, {torch.get_num_threads()} thread, torch {torch.__version__}"
