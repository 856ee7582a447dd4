"""Several processes compute what one does, and a lost one ends the run with an error."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from torch.nn.utils import parameters_to_vector

from tools.notebooks import ROOT
from transformer_edu.data.batches import Batch, make_batch
from transformer_edu.model.special_ids import PADDING_ID
from transformer_edu.runs.command import INTERRUPTED, main
from transformer_edu.runs.run_folder import RunFolder
from transformer_edu.runs.watching import Watcher
from transformer_edu.training import loop
from transformer_edu.training.checkpoint import load_history, load_model
from transformer_edu.training.machine import processes as module
from transformer_edu.training.machine.processes import (
    JoinedProcesses,
    is_lost_process,
    joined_processes,
)
from transformer_edu.training.state import TrainingRun

BATCH = make_batch([([4] * n, [5] * (2 * n % 5)) for n in range(1, 8)])
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
SMALL = [
    *("--task", "numbers", "--d-model", "16", "--heads", "2", "--layers", "1", "--d-ff", "24"),
    *("--precision", "float32", "--dropout", "0", "--batch-size", "15", "--evaluate-on", "9"),
]
SECONDS = 600  # ends what hangs; a quiet machine takes a tenth of it
TOGETHER = """
import sys
from contextlib import nullcontext
import torch
from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.training.machine.processes import joined_processes
from transformer_edu.training.config import TrainingConfig
from transformer_edu.training.loop import fit
from transformer_edu.data.toy_tasks import copy_task
from transformer_edu.runs import command

with joined_processes() as processes:
    number = processes.number
    own = [[10 * row] * row for row in processes.rows(5)]
    rows = processes.gather(own, 5)
    nothing = processes.gather([[] for _ in processes.rows(3)], 3)
    total = processes.sum([number + 1.0])
    torch.manual_seed(number)  # other first weights in each: the first one's count
    sizes = {"d_model": 16, "num_heads": 2, "num_layers": 1, "d_ff": 24, "dropout": 0.3}
    task = copy_task(num_symbols=5, train_size=60, validation_size=5, test_size=5)
    model = Transformer(TransformerConfig(vocabulary_size=9, **sizes))
    config = TrainingConfig(steps=4, batch_size=7, evaluate_on=5)
    run = fit(model, task, config, processes=processes)
    weights = torch.cat([weight.detach().flatten() for weight in model.parameters()])
    losses = [step.loss for step in run.steps]
    print((rows, nothing, total, losses, run.evaluations, weights.tolist()), flush=True)
    # Connected once: a second connection of the same processes may find the first one's addresses.
    command.joined_processes = lambda: nullcontext(processes)
    status = command.main(sys.argv[1:])
sys.exit(status)
"""


def pretend(number: int, count: int) -> JoinedProcesses:
    """One of several processes, which the others never answer."""
    processes = JoinedProcesses.__new__(JoinedProcesses)
    processes.number, processes.count = number, count
    return processes


def real_labels(batch: Batch) -> int:
    return int((batch.label_ids != PADDING_ID).sum())


@pytest.mark.parametrize("count", [2, 3, 5, 9])
def test_the_parts_of_all_processes_make_up_the_batch(count):
    rows, total = [], 0.0
    for number in range(count):
        for part, weight in pretend(number, count).parts(BATCH, 2):
            total += weight
            if weight > 0:
                rows += part.source_ids.tolist()
                assert weight == pytest.approx(count * real_labels(part) / real_labels(BATCH))
            else:
                assert number >= len(BATCH.parts(count))  # only where no row is left
    assert rows == BATCH.source_ids.tolist()
    assert total == pytest.approx(count)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_every_row_belongs_to_one_process(count):
    assert sorted(row for number in range(count) for row in pretend(number, count).rows(7)) == [
        *range(7)
    ]


def test_an_error_of_ones_own_is_not_blamed_on_others(monkeypatch):
    lost = [dist.DistError("ended"), dist.DistBackendError("x"), RuntimeError("[gloo] closed")]
    assert not any(map(is_lost_process, lost))
    monkeypatch.setattr(module, "process_count", lambda: 2)
    assert all(map(is_lost_process, lost))
    assert not is_lost_process(RuntimeError("out of memory"))


def start(*program: str, logs: Path | None = None) -> subprocess.Popen:
    """A program in two processes, which may use one thread each."""
    redirected = [] if logs is None else ["--tee", "3", "--log-dir", str(logs)]
    return subprocess.Popen(
        [*TORCHRUN, *redirected, *program],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1", "TRANSFORMER_EDU_DEVICE": "cpu"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_each_process_drops_something_else():
    def dropped(number: int) -> tuple[float, ...]:
        with torch.random.fork_rng([]):
            loop._seed_dropout(torch.nn.Linear(2, 3), 5, 7, number)
            return tuple(torch.rand(4).tolist())

    assert len({dropped(number) for number in range(3)}) == 3


@pytest.mark.slow
def test_two_processes_agree_on_everything_and_compute_what_one_does(tmp_path, monkeypatch):
    monkeypatch.setenv("TRANSFORMER_EDU_DEVICE", "cpu")
    (tmp_path / "together.py").write_text(TOGETHER)
    # 4,000 pairs in batches of 15: the last of an epoch has 10, and 15 rows are no even number.
    options = [*SMALL, "--steps", "30", "--evaluate-every", "10", "--accumulate", "2"]
    program = [str(tmp_path / "together.py"), *options, "--out", str(tmp_path / "two")]
    process = start(*program, logs=tmp_path / "logs")
    assert main([*options, "--out", str(tmp_path / "one")]) == 0
    output, _ = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, output
    logs = sorted((tmp_path / "logs").rglob("stdout.log"))
    first, second = (path.read_text().splitlines()[0] for path in logs)
    assert first == second
    assert first.startswith("([[], [10], [20, 20], [30, 30, 30], [40, 40, 40, 40]], [[], [], []], ")
    assert ", [3.0], [" in first
    one, two = RunFolder(tmp_path / "one"), RunFolder(tmp_path / "two")
    first, second = load_history(one.checkpoint), load_history(two.checkpoint)
    for ours, theirs in zip(first.steps, second.steps, strict=True):
        assert theirs.loss == pytest.approx(ours.loss, abs=1e-5)
    for ours, theirs in zip(one.read_history(), two.read_history(), strict=True):
        for name in ("validation_loss", "token_accuracy", "exact_match"):
            assert theirs[name] == pytest.approx(ours[name], abs=1e-5)
        assert theirs["tokens"] == ours["tokens"]
    ours, theirs = (
        parameters_to_vector(load_model(folder.model).parameters()) for folder in (one, two)
    )
    apart = (ours - theirs).abs()
    # Adam's first steps make a whole step of a gradient that is rounding alone: of a few weights.
    assert (apart < 1e-5).float().mean() > 0.99
    assert apart.max() < 1e-3


def children(process: subprocess.Popen) -> list[int]:
    """The processes that torchrun has started."""
    tasks = Path(f"/proc/{process.pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


def interrupt_after_a_step(watcher: Watcher, run: TrainingRun) -> None:
    """Press Ctrl-C."""
    raise KeyboardInterrupt


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="children are found in /proc")
def test_a_killed_process_ends_the_run_and_the_last_checkpoint_goes_on(tmp_path, monkeypatch):
    monkeypatch.setenv("TRANSFORMER_EDU_DEVICE", "cpu")
    folder = RunFolder(tmp_path / "x")
    options = [*SMALL, "--steps", "9000", "--evaluate-every", "5", "--out", str(folder.path)]
    process = start("-m", "transformer_edu.training", *options)
    deadline = time.monotonic() + SECONDS
    while len(folder.read_history()) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    os.kill(children(process)[-1], signal.SIGKILL)
    output, _ = process.communicate(timeout=SECONDS)
    assert process.returncode != 0
    assert "error: another of the 2 processes of this run has ended" in output
    assert "evaluation: torchrun --nproc-per-node 2 -m transformer_edu.training --out " in output
    assert "--resume" in output
    taken = len(load_history(folder.checkpoint).steps)
    assert taken >= 5
    monkeypatch.setattr(Watcher, "__call__", interrupt_after_a_step)
    assert main(["--out", str(folder.path), "--resume"]) == INTERRUPTED
    assert len(load_history(folder.checkpoint).steps) == taken + 1


def test_a_single_process_computes_everything():
    with joined_processes() as alone, alone.first_before_others():
        assert (alone.count, alone.number, alone.is_first) == (1, 0, True)
        for (part, weight), (own, share) in zip(alone.parts(BATCH, 2), BATCH.parts(2), strict=True):
            assert part.label_ids.equal(own.label_ids) and weight == share
        assert alone.sum([1.5, 2]) == [1.5, 2]
        assert list(alone.rows(3)) == [0, 1, 2]
        assert alone.gather([[4, 5], []], 2) == [[4, 5], []]
        alone.wait()
        model = torch.nn.Linear(2, 3)
        assert alone.replica(model) is model
