"""The interface of the processes that share the work of training, for a single process.

``JoinedProcesses`` in processes.py implements it for several processes.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from torch import nn


class Divisible(Protocol):
    """A batch that can be split between its rows, such as ``Batch`` in data/batches.py."""

    def parts(self, count: int) -> list[tuple["Divisible", float]]:
        """The parts, each with its fraction of the batch's real labels."""


class OneProcess:
    """A single process, which computes everything. ``number`` is 0, ``count`` is 1."""

    number, count = 0, 1

    @property
    def is_first(self) -> bool:
        """Whether this process writes the files and prints the messages."""
        return self.number == 0

    def rows(self, count: int) -> range:
        """Which of ``count`` rows this process computes."""
        return range(self.number, count, self.count)

    def parts(self, batch: Divisible, count: int) -> list[tuple[Divisible, float]]:
        """The parts of a batch that this process computes, as ``Batch.parts`` splits them.

        Args:
            batch: The same in every process.
            count: Number of parts of each process.

        Returns:
            Each part with the weight of its mean loss. The weighted losses of a process sum to a
            loss whose mean over the processes is the loss of the whole batch.
        """
        return batch.parts(count)

    def replica(self, model: nn.Module) -> nn.Module:
        """The module to call instead of the model: its gradients are means over the processes."""
        return model

    def sum(self, values: Sequence[float]) -> list[float]:
        """The sum of every value over the processes, in float64."""
        return list(values)

    def mean(self, value: float) -> float:
        """The mean of a value over the processes."""
        return self.sum([value])[0] / self.count

    def gather(self, own: Sequence[Sequence[int]], count: int) -> list[list[int]]:
        """All rows in order, each computed by one process.

        Args:
            own: Whole numbers, one row of any length for each of ``rows(count)``.
            count: Number of rows of all processes.
        """
        return [list(row) for row in own]

    def first_before_others(self) -> AbstractContextManager[None]:
        """A context whose block the first process runs before the other processes do."""
        return nullcontext()

    def wait(self) -> None:
        """Wait until every process has reached this call."""


ALONE = OneProcess()
