"""Memory is that of the process, at its peak."""

import sys

import pytest
import torch

from experiments.benchmark import memory
from experiments.benchmark.memory import peak_memory, report_memory
from experiments.benchmark.training_step import OURS, PYTORCH


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not tell its peak memory")
def test_peak_memory_grows_with_what_is_held():
    before = peak_memory()
    held = torch.ones(2**26)  # 256 MiB
    assert peak_memory() - before > 0.5 * held.nbytes


def test_the_report_has_a_row_for_each_model(monkeypatch):
    monkeypatch.setattr(memory, "measure_memory", lambda name: 1234.5)
    report = "\n".join(report_memory())
    for name in (OURS, PYTORCH):
        assert [line for line in report.splitlines() if line.startswith(f"| {name} ")]
    assert "1,234" in report
