"""Operations, bytes and runs are counted rightly, and what cannot run is told in a sentence."""

import subprocess
import sys

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from transformer_edu.teaching.inspect import costs
from transformer_edu.teaching.inspect.costs import (
    compiled,
    losses_of_a_run,
    operations,
    saved_bytes,
    seconds,
)


def test_a_matrix_product_needs_2mnp_operations():
    assert operations(lambda: torch.ones(3, 5) @ torch.ones(5, 7)) == 2 * 3 * 5 * 7


def test_the_fused_kernel_counts_as_two_products():
    query, key, value = torch.ones(1, 2, 5, 4), torch.ones(1, 2, 7, 4), torch.ones(1, 2, 7, 4)
    found = operations(lambda: F.scaled_dot_product_attention(query, key, value))
    assert found == 2 * (2 * 2 * 5 * 7 * 4)


def test_the_call_is_repeated_and_takes_time():
    calls = []
    assert seconds(lambda: calls.append(0) or torch.ones(2, 3), rounds=4) > 0
    assert len(calls) == 4


def test_autograd_keeps_each_tensor_once_and_weights_do_not_count():
    layer, x = nn.Linear(5, 7), torch.ones(3, 5, requires_grad=True)
    kept = 4 * x.numel()  # bytes: the backward pass of the product needs its input
    assert saved_bytes(lambda: layer(x), layer) == kept
    assert saved_bytes(lambda: layer(x)) == kept + 4 * layer.weight.numel()
    assert saved_bytes(lambda: layer(x) + layer(x), layer) == kept
    with torch.no_grad():
        assert saved_bytes(lambda: layer(x), layer) == 0


def test_views_of_one_storage_count_as_that_storage():
    x = torch.ones(6, 5, requires_grad=True)
    whole = 4 * x.numel()
    assert saved_bytes(lambda: x[1:] * x[:-1]) == whole
    assert saved_bytes(lambda: (x.sin(), x[:2].sin())) == whole
    assert saved_bytes(lambda: torch.ones(1, 5).expand(6, 5) * x) == 4 * 5
    layer = nn.Linear(5, 7)
    assert saved_bytes(lambda: torch.ones(3, 5) @ layer.weight[2:].T, layer) == 4 * 3 * 5


def test_where_compiling_fails_a_sentence_says_so(monkeypatch, capsys):
    def fail(*given):
        raise RuntimeError("no compiler")

    monkeypatch.setattr(torch, "compile", lambda function, **options: fail)
    assert compiled(torch.sin, torch.ones(2)) is None
    assert "does not work here (RuntimeError)" in capsys.readouterr().out
    monkeypatch.setattr(torch, "compile", lambda function, **options: function)
    assert compiled(torch.sin, torch.ones(2)) is torch.sin


SMALL = [
    *("--task", "copy", "--steps", "2", "--evaluate-every", "2", "--evaluate-on", "2"),
    *("--d-model", "8", "--heads", "2", "--layers", "1", "--d-ff", "8", "--batch-size", "4"),
]


@pytest.mark.slow
def test_a_run_in_two_processes_has_the_losses_of_a_run_in_one():
    options = [*SMALL, "--dropout", "0", "--threads", "1", "--precision", "float32"]
    one, two = (losses_of_a_run(options, processes=number) for number in (1, 2))
    assert len(one) == 2
    assert two == pytest.approx(one, abs=1e-4)


@pytest.mark.parametrize("processes", [1, 3])
def test_a_run_that_fails_is_told_in_a_sentence(processes, monkeypatch, capsys):
    start = subprocess.Popen

    def refuse(command, **settings):
        assert ("--nproc-per-node" in command) == (processes > 1)
        return start([sys.executable, "-c", "raise SystemExit(3)"], **settings)

    monkeypatch.setattr(costs.subprocess, "Popen", refuse)
    assert losses_of_a_run(SMALL, processes=processes) is None
    assert "could not be started here" in capsys.readouterr().out


def test_a_run_that_hangs_is_ended(monkeypatch, capsys):
    start, started = subprocess.Popen, []

    def hang(command, **settings):
        started.append(start([sys.executable, "-c", "import time; time.sleep(600)"], **settings))
        return started[0]

    monkeypatch.setattr(costs.subprocess, "Popen", hang)
    monkeypatch.setattr(costs, "LONGEST_RUN", 0.1)
    assert losses_of_a_run(SMALL, processes=2) is None
    assert started[0].poll() is not None
    assert "could not be started here" in capsys.readouterr().out
