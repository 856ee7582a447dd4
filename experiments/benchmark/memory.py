"""How much memory a training step needs, each model measured in a process of its own."""

import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from experiments.benchmark.timing import markdown_table
from experiments.benchmark.training_step import (
    BASE,
    MARIAN,
    OURS,
    PYTORCH,
    Workload,
    build_trainer,
)

MEBIBYTE = 2**20


def added_memory(name: str, workload: Workload = BASE) -> float:
    """MiB that two training steps add to this process at their peak, over the model itself."""
    step = build_trainer(name, workload)
    before = peak_memory()
    step()
    step()
    return (peak_memory() - before) / MEBIBYTE


def peak_memory() -> int:
    """The most memory that this process ever held, in bytes.

    Raises:
        OSError: On Windows, which does not tell.
    """
    status = Path("/proc/self/status")
    if status.exists():  # on Linux getrusage counts the parent's memory as well
        found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text())
        return int(found[1]) * 1024
    try:
        import resource
    except ImportError as error:
        raise OSError("memory must be measured on Linux or macOS, got Windows") from error
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def measure_memory(name: str) -> float:
    """What ``added_memory`` finds in a fresh process, where nothing else has run."""
    command = [sys.executable, "-m", "experiments.benchmark", "memory", name]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def report_memory() -> Iterator[str]:
    """Measure the memory of a base model's step, each model alone, and tell line by line."""
    names = [OURS, PYTORCH]
    if importlib.util.find_spec("transformers") is not None:
        names.append(MARIAN)
    rows = [[name, f"{measure_memory(name):,.0f}"] for name in names]
    yield markdown_table(["memory added by a step of the base model", "MiB"], rows)
