"""How fast and how large: this package beside torch.nn's Transformer, measured on this machine.

    python -m transformer_edu.benchmark train
    python -m transformer_edu.benchmark precision

Both sides train on the same padded batches with the same loss and the same Adam, in turns,
on one thread; what counts is CPU time, which other programs disturb least. A ratio is the
median over pairs of neighbouring steps. Speed is measured here and never in a test.
"""

import argparse
import importlib.util
import platform
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor

from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.model.vocabulary import PADDING_ID, START_ID, UNKNOWN_ID
from transformer_edu.peers import PytorchTransformer, build_marian
from transformer_edu.training.device import autocast_for, has_fast_bfloat16
from transformer_edu.training.loss import token_loss

ABOUT = "Measure this package beside others on this machine."
SIZES, FASTER = "d_model/heads/layers/d_ff", "times as fast"
LEGEND = "CPU time: least / median / most. The last column is over pairs of neighbours."
MEBIBYTE = 2**20
WARM_UP = 2  # rounds that are not counted
Step = Callable[[], float]  # makes one training step and returns its loss
OURS, PYTORCH, MARIAN = "ours", "nn.Transformer", "Hugging Face Marian"


@dataclass(frozen=True, kw_only=True)
class Workload:
    """A model's sizes and the batches that it is trained on.

    Args:
        config: The model's sizes.
        batch: Sentences in a batch.
        length: Positions of the longest of them.
        rounds: Steps of each model that are counted.
    """

    config: TransformerConfig
    batch: int
    length: int
    rounds: int

    def __str__(self) -> str:
        """Width / heads / layers / inner width, then batch × length."""
        c = self.config
        sizes = f"{c.d_model}/{c.num_heads}/{c.num_layers}+{c.num_layers}/{c.d_ff}"
        return f"{sizes}, batch {self.batch} × {self.length}, vocabulary {c.vocabulary_size:,}"


SMALL = Workload(
    config=TransformerConfig(
        vocabulary_size=8000, d_model=128, num_heads=4, num_layers=3, d_ff=512
    ),
    batch=64,
    length=20,
    rounds=30,
)
BASE = Workload(config=TransformerConfig.base(vocabulary_size=8000), batch=16, length=30, rounds=15)


def draw_batch(workload: Workload) -> tuple[Tensor, Tensor]:
    """Random sources, (batch, length), and targets, one longer; most rows end in padding."""
    generator = torch.Generator().manual_seed(0)
    size = (workload.batch, workload.length + 1)
    first_word, vocabulary = UNKNOWN_ID + 1, workload.config.vocabulary_size
    source_ids, target_ids = (
        torch.randint(first_word, vocabulary, size, generator=generator) for _ in range(2)
    )
    target_ids[:, 0] = START_ID
    for row in range(workload.batch):
        source_ids[row, workload.length - row % 5 :] = PADDING_ID
        target_ids[row, workload.length + 1 - row % 7 :] = PADDING_ID
    return source_ids[:, :-1], target_ids


def build_trainer(name: str, workload: Workload, *, precision: str = "float32") -> Step:
    """A function that makes one training step of the named model and returns its loss."""
    torch.manual_seed(0)
    model = {OURS: Transformer, PYTORCH: PytorchTransformer, MARIAN: build_marian}[name](
        workload.config
    )
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True)
    source_ids, target_ids = draw_batch(workload)
    inputs, labels = target_ids[:, :-1], target_ids[:, 1:]

    def step() -> float:
        optimiser.zero_grad()
        with autocast_for(model, precision):
            logits = model(source_ids, inputs)
        loss = token_loss(logits, labels)
        loss.backward()
        optimiser.step()
        return loss.item()

    return step


def take_turns(first: Step, second: Step, rounds: int) -> Iterator[tuple[float, float]]:
    """CPU seconds of one step of each, round after round; who begins alternates."""
    for number in range(WARM_UP + rounds):
        order = (first, second) if number % 2 == 0 else (second, first)
        seconds = {}
        for step in order:
            start = time.process_time()
            step()
            seconds[step] = time.process_time() - start
        if number >= WARM_UP:
            yield seconds[first], seconds[second]


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
    command = [sys.executable, "-m", "transformer_edu.benchmark", "memory", name]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def machine() -> str:
    """What the figures depend on besides the code, as a line of text."""
    processor = platform.processor() or platform.machine()
    described = Path("/proc/cpuinfo")
    if described.exists():
        found = re.search(r"model name\s*: (.+)", described.read_text())
        processor = found[1] if found else processor
    return f"{processor}, {torch.get_num_threads()} thread, torch {torch.__version__}"


def compare(first: Step, second: Step, rounds: int) -> tuple[str, str, str]:
    """Milliseconds of each, and how many times as fast the first is, as text."""
    pairs = list(take_turns(first, second, rounds))
    ours, others = (
        spread([1000 * value for value in values], 0) for values in zip(*pairs, strict=True)
    )
    return ours, others, spread(ratios(pairs), 2)


def report_train(workloads: Sequence[Workload]) -> Iterator[str]:
    """Measure a training step, and tell line by line."""
    yield f"Training step: forward, backward, Adam. {machine()}.\n"
    rows = []
    for workload in workloads:
        steps = [build_trainer(name, workload) for name in (OURS, PYTORCH)]
        rows.append([str(workload), *compare(*steps, workload.rounds)])
    yield markdown_table([SIZES, f"{OURS}, ms", f"{PYTORCH}, ms", FASTER], rows)
    yield f"\n{LEGEND}\n"
    names = [OURS, PYTORCH]
    if importlib.util.find_spec("transformers") is not None:
        names.append(MARIAN)
    rows = [[name, f"{measure_memory(name):,.0f}"] for name in names]
    yield markdown_table(["memory added by a step of the base model", "MiB"], rows)


def report_precision(workloads: Sequence[Workload]) -> Iterator[str]:
    """Measure a training step of ours in half precision beside float32, and tell line by line."""
    if not has_fast_bfloat16(torch.device("cpu")):
        yield f"No AVX512-BF16 here, so bfloat16 is not chosen: float32 is faster. {machine()}."
        return
    yield f"Training step of ours: bfloat16 autocast beside float32. {machine()}.\n"
    rows = []
    for workload in workloads:
        steps = [build_trainer(OURS, workload, precision=name) for name in ("bfloat16", "float32")]
        rows.append([str(workload), *compare(*steps, workload.rounds)])
    yield markdown_table([SIZES, "bfloat16, ms", "float32, ms", FASTER], rows)
    yield f"\n{LEGEND}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, measure, print."""
    parser = argparse.ArgumentParser(prog="python -m transformer_edu.benchmark", description=ABOUT)
    commands = parser.add_subparsers(dest="command", required=True)
    train = commands.add_parser("train", help="time and memory of a training step")
    precision = commands.add_parser("precision", help="a training step in bfloat16 and float32")
    for timed in (train, precision):
        timed.add_argument("--rounds", type=int, help="steps of each side that are counted")
    memory = commands.add_parser("memory", help="memory of one model's step, in this process")
    memory.add_argument("name", choices=[OURS, PYTORCH, MARIAN])
    chosen = parser.parse_args(arguments)
    torch.set_num_threads(1)
    if chosen.command == "memory":
        print(added_memory(chosen.name))
        return
    changes = {} if chosen.rounds is None else {"rounds": chosen.rounds}
    report = {"train": report_train, "precision": report_precision}[chosen.command]
    for line in report([replace(workload, **changes) for workload in (SMALL, BASE)]):
        print(line, flush=True)


if __name__ == "__main__":
    main()
