"""Several processes train one model: torchrun starts them, torch.distributed connects them.

Each process computes the gradients of its own rows of a batch. DistributedDataParallel averages
them, so every process takes the step that a single process would take. ``OneProcess`` divides the
work, also where there is nobody to share it with; ``JoinedProcesses`` connects several.
"""

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from transformer_edu.data.batches import Batch
from transformer_edu.training.machine.device import pick_device

SECONDS_OF_SILENCE = 60  # without an answer, a process counts as lost
SECONDS_OF_PREPARATION = 3600  # for the first process to download data and train a tokenizer


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

    def parts(self, batch: Batch, count: int) -> list[tuple[Batch, float]]:
        """The parts of a batch that this process computes, as ``Batch.parts`` divides it.

        Args:
            batch: The same in every process.
            count: Number of parts of each process.

        Returns:
            Each part with the weight of its mean loss. The weighted losses of a process sum to a
            loss whose mean over the processes is the loss of the whole batch.
        """
        shares = batch.parts(self.count)
        # If there are fewer rows than processes, some processes compute a row with weight 0.
        own, weight = shares[self.number] if self.number < len(shares) else (shares[0][0], 0.0)
        return [(part, self.count * weight * share) for part, share in own.parts(count)]

    def replica(self, model: nn.Module) -> nn.Module:
        """The module to call instead of the model: its gradients are means over the processes."""
        return model

    def sum(self, values: Sequence[float]) -> list[float]:
        """The sum of every value over the processes, in float64."""
        return self._summed(torch.tensor(values, dtype=torch.float64, device="cpu")).tolist()

    def gather(self, own: Sequence[Sequence[int]], count: int) -> list[list[int]]:
        """All rows in order, each computed by one process.

        Args:
            own: Whole numbers, one row of any length for each of ``rows(count)``.
            count: Number of rows of all processes.
        """
        whole = {"dtype": torch.int64, "device": "cpu"}
        lengths = torch.zeros(count, **whole)
        lengths[list(self.rows(count))] = torch.tensor([len(row) for row in own], **whole)
        lengths = self._summed(lengths).tolist()
        table = torch.zeros(count, max(lengths, default=0), **whole)
        for number, row in zip(self.rows(count), own, strict=True):
            table[number, : len(row)] = torch.tensor(row, **whole)
        rows = zip(self._summed(table).tolist(), lengths, strict=True)
        return [row[:length] for row, length in rows]

    def first_before_others(self) -> AbstractContextManager[None]:
        """Let the first process run the block before the other processes do."""
        return nullcontext()

    def wait(self) -> None:
        """Wait until every process has reached this call."""

    def _summed(self, tensor: Tensor) -> Tensor:
        """The sum of a tensor over all processes, on the CPU."""
        return tensor


ALONE = OneProcess()


class JoinedProcesses(OneProcess):
    """The processes that torchrun has started. All of them must call every method."""

    def __init__(self) -> None:
        self.number, self.count = dist.get_rank(), dist.get_world_size()

    def replica(self, model: nn.Module) -> nn.Module:
        """As for OneProcess; the first process's weights are copied to the others."""
        return DistributedDataParallel(model)

    @contextmanager
    def first_before_others(self) -> Iterator[None]:
        """As for OneProcess: the first process prepares what the others find."""
        patient = dist.new_group(backend="gloo", timeout=timedelta(seconds=SECONDS_OF_PREPARATION))
        if not self.is_first:
            dist.barrier(patient)
        yield
        if self.is_first:
            dist.barrier(patient)
        dist.barrier(patient)  # the others may need longer than SECONDS_OF_SILENCE, too

    def wait(self) -> None:
        """As for OneProcess."""
        dist.barrier()

    def _summed(self, tensor: Tensor) -> Tensor:
        # NCCL sends tensors on GPUs only.
        tensor = tensor.to("cuda" if dist.get_backend() == "nccl" else "cpu")
        dist.all_reduce(tensor)
        return tensor.cpu()


@contextmanager
def joined_processes() -> Iterator[OneProcess]:
    """Inside the block, the processes that torchrun has started are connected.

    They communicate through NCCL if each has its own GPU, and through gloo on CPUs. Without
    torchrun there is only one process.
    """
    count = os.environ.get("WORLD_SIZE", "1")
    if count == "1":
        yield ALONE
        return
    on_gpu, here = pick_device().type == "cuda", os.environ.get("LOCAL_WORLD_SIZE", "1")
    if on_gpu and int(here) > (gpus := torch.cuda.device_count()):
        raise ConnectionError(f"--nproc-per-node must be at most {gpus}, the GPUs here, got {here}")
    silence = timedelta(seconds=SECONDS_OF_SILENCE)
    try:
        if on_gpu:
            torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        dist.init_process_group("nccl" if on_gpu else "gloo", timeout=silence)
    except (ValueError, LookupError, RuntimeError) as error:
        got = f"{count!r}, and no connection: {error}".partition("\n")[0]
        raise ConnectionError(f"WORLD_SIZE must be set by torchrun, got {got}") from error
    signal.signal(signal.SIGTERM, _end)
    yield JoinedProcesses()
    dist.destroy_process_group()  # not after an error: a lost process does not answer any more


def process_count() -> int:
    """How many processes are connected; 1 outside of ``joined_processes``."""
    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1


def is_lost_process(error: RuntimeError) -> bool:
    """Whether the error of a step says that a different process did not answer."""
    lost = isinstance(error, dist.DistError) or "gloo" in str(error).lower()
    return process_count() > 1 and lost


def _end(number: int, frame: object) -> None:
    """Turn torchrun's signal to end into an error that can be reported."""
    raise dist.DistError("torchrun has ended this process")
