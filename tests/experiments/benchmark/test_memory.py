"""Memory is that of the process, at its peak."""

import subprocess
import sys
from pathlib import Path

import pytest

from experiments.benchmark import memory
from experiments.benchmark.memory import report_memory
from experiments.benchmark.training_step import OURS, PYTORCH

ROOT = Path(__file__).parents[3]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not tell its peak memory")
def test_peak_memory_grows_with_what_is_held():
    code = (  # in a process of its own: here an earlier test may have held more
        "import torch; from experiments.benchmark.memory import peak_memory\n"
        "before, held = peak_memory(), torch.ones(2**26)\n"
        "print((peak_memory() - before) / held.nbytes)"
    )
    grown = subprocess.check_output([sys.executable, "-c", code], text=True, cwd=ROOT)
    assert 0.5 < float(grown) < 2


def test_the_report_has_a_row_for_each_model(monkeypatch):
    monkeypatch.setattr(memory, "measure_memory", lambda name: 1234.5)
    report = "\n".join(report_memory())
    for name in (OURS, PYTORCH):
        assert [line for line in report.splitlines() if line.startswith(f"| {name} ")]
    assert "1,234" in report
