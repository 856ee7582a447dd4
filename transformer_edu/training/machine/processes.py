"""Several processes train one model together: torchrun starts them, torch.distributed joins them.

Each computes the gradients of its own rows of a batch; DistributedDataParallel adds them up, and
so every process takes the step that one alone would take. Alone, every function here does nothing.
"""

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from transformer_edu.training.machine.device import pick_device

SECONDS_OF_SILENCE = 60  # after which a process that does not answer is taken for lost
SECONDS_OF_PREPARATION = 3600  # for the first process to download data and train a tokenizer


class LostProcessError(RuntimeError):
    """Another process has ended, and torchrun ends this one too."""


def process_count() -> int:
    """How many processes train together; 1 where nobody joined any."""
    return dist.get_world_size() if dist.is_available() and dist.is_initialized() else 1


def process_number() -> int:
    """Which of them this is, from 0."""
    return dist.get_rank() if process_count() > 1 else 0


def is_first_process() -> bool:
    """Whether this is the one that writes files and talks."""
    return process_number() == 0


@contextmanager
def joined_processes() -> Iterator[None]:
    """Inside the block the processes that torchrun has started together are joined.

    They talk through NCCL where each has a GPU of its own, through gloo on CPUs. Without
    torchrun there is nobody to join.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield
        return
    on_gpu = pick_device().type == "cuda"
    if on_gpu:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    silence = timedelta(seconds=SECONDS_OF_SILENCE)
    dist.init_process_group("nccl" if on_gpu else "gloo", timeout=silence)
    signal.signal(signal.SIGTERM, _tell)
    yield
    dist.destroy_process_group()  # not after an error: a process that is lost cannot say goodbye


@contextmanager
def first_before_others() -> Iterator[None]:
    """Let the first process run the block before any other: it prepares, the others find."""
    if process_count() == 1:
        yield
        return
    patient = dist.new_group(backend="gloo", timeout=timedelta(seconds=SECONDS_OF_PREPARATION))
    if not is_first_process():
        dist.barrier(patient)
    yield
    if is_first_process():
        dist.barrier(patient)


def wait_for_all() -> None:
    """Go on when every process has come this far."""
    if process_count() > 1:
        dist.barrier()


def is_of_a_lost_process(error: RuntimeError) -> bool:
    """Whether an error says that another process did not answer.

    Args:
        error: What a step together has ended with.
    """
    lost = isinstance(error, LostProcessError | dist.DistError) or "gloo" in str(error).lower()
    return process_count() > 1 and lost


def replica_of(model: nn.Module) -> nn.Module:
    """What to call instead of the model while training: its gradients are then everybody's mean.

    Args:
        model: The same in every process; the first one's weights are copied to the others.

    Returns:
        A DistributedDataParallel around the model, or alone the model itself.
    """
    if process_count() == 1:
        return model
    return DistributedDataParallel(model)


def sum_of_processes(values: Sequence[float]) -> list[float]:
    """The sum of every value over all processes, in float64; alone, the values.

    Args:
        values: As many in every process.
    """
    if process_count() == 1:
        return list(values)
    sums = torch.tensor(values, dtype=torch.float64, device=_meeting_place())
    dist.all_reduce(sums)
    return sums.tolist()


def mean_of_processes(value: float) -> float:
    """The mean of a value over all processes; alone, the value."""
    return sum_of_processes([value])[0] / process_count()


def own_rows(count: int) -> range:
    """Which of so many rows this process computes; alone, all of them.

    Args:
        count: Number of rows.
    """
    return range(process_number(), count, process_count())


def gather_rows(own: Sequence[Sequence[int]], count: int) -> list[list[int]]:
    """Put together the rows that every process has computed.

    Args:
        own: Whole numbers, a row for each of own_rows(count); of any lengths.
        count: Number of rows of all processes.
    """
    if process_count() == 1:
        return [list(row) for row in own]
    lengths = torch.zeros(count, dtype=torch.int64)
    lengths[list(own_rows(count))] = torch.tensor([len(row) for row in own], dtype=torch.int64)
    lengths = _summed(lengths)
    table = torch.zeros(count, max(lengths.tolist(), default=0), dtype=torch.int64)
    for number, row in zip(own_rows(count), own, strict=True):
        table[number, : len(row)] = torch.tensor(row, dtype=torch.int64)
    rows = zip(_summed(table).tolist(), lengths.tolist(), strict=True)
    return [row[:length] for row, length in rows]


def _tell(number: int, frame: object) -> None:
    """Turn torchrun's signal to end into an error, which can be told."""
    raise LostProcessError("torchrun has ended this process")


def _summed(tensor: Tensor) -> Tensor:
    """The sum of a tensor over all processes, on the CPU."""
    tensor = tensor.to(_meeting_place())
    dist.all_reduce(tensor)
    return tensor.cpu()


def _meeting_place() -> torch.device:
    """Where tensors must lie to be sent: NCCL knows GPUs only."""
    return torch.device("cuda" if dist.get_backend() == "nccl" else "cpu")
