"""Operations, bytes and runs are counted rightly, and what cannot run is told in a sentence."""

import subprocess
import sys

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.small_model import small_transformer
from tests.small_translator import PAIRS, small_translator
from transformer_course.speed_and_scale import costs
from transformer_course.speed_and_scale.costs import (
    engines,
    losses_of_a_run,
    next_logits,
    operations,
    operations_a_byte,
    saved_bytes,
    seconds,
)
from transformer_edu.model.cache import DecoderCache


def test_a_matrix_product_needs_2mnp_operations():
    assert operations(lambda: torch.ones(3, 5) @ torch.ones(5, 7)) == 2 * 3 * 5 * 7


def test_the_fused_kernel_counts_as_two_products():
    query, key, value = torch.ones(1, 2, 5, 4), torch.ones(1, 2, 7, 4), torch.ones(1, 2, 7, 4)
    found = operations(F.scaled_dot_product_attention, query, key, value)
    assert found == 2 * (2 * 2 * 5 * 7 * 4)


def test_the_call_is_repeated_and_takes_time():
    calls = []
    assert seconds(lambda: calls.append(0) or torch.ones(2, 3), rounds=4) > 0
    assert len(calls) == 4
    assert seconds(torch.max, torch.ones(2, 3), 1) > 0  # it returns two tensors


def test_autograd_keeps_each_tensor_once_and_weights_do_not_count():
    layer, x = nn.Linear(5, 7), torch.ones(3, 5, requires_grad=True)
    kept = 4 * x.numel()  # bytes: the backward pass of the product needs its input
    assert saved_bytes(layer, x, model=layer) == kept
    assert saved_bytes(layer, x) == kept + 4 * layer.weight.numel()
    assert saved_bytes(lambda: layer(x) + layer(x), model=layer) == kept
    with torch.no_grad():
        assert saved_bytes(layer, x, model=layer) == 0


def test_views_of_one_storage_count_as_that_storage():
    x = torch.ones(6, 5, requires_grad=True)
    whole = 4 * x.numel()
    assert saved_bytes(lambda: x[1:] * x[:-1]) == whole
    assert saved_bytes(lambda: (x.sin(), x[:2].sin())) == whole
    assert saved_bytes(lambda: torch.ones(1, 5).expand(6, 5) * x) == 4 * 5
    layer = nn.Linear(5, 7)
    assert saved_bytes(lambda: torch.ones(3, 5) @ layer.weight[2:].T, model=layer) == 4 * 3 * 5


def test_another_engine_writes_the_same_and_a_sentence_says_where_it_is_missing(
    monkeypatch, capsys
):
    pytest.importorskip("ctranslate2")
    translator = small_translator()
    found = engines(translator)
    names = ["PyTorch", "CTranslate2, float32", "CTranslate2, int8"]
    assert list(found) == names and capsys.readouterr().out == ""
    texts = [source for source, _ in PAIRS]
    assert found[names[1]].translate_all(texts) == found[names[0]].translate_all(texts)
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    assert engines(translator) == {names[0]: translator}
    assert capsys.readouterr().out.count('pip install "transformer-edu[fast]"\n') == 1


SMALL = (
    "--task copy --steps 2 --evaluate-every 2 --evaluate-on 2 "
    "--d-model 8 --heads 2 --layers 1 --d-ff 8 --batch-size 4"
)


@pytest.mark.slow
def test_a_run_in_two_processes_has_the_losses_of_a_run_in_one():
    options = f"{SMALL} --dropout 0 --threads 1 --precision float32"
    one, two = (losses_of_a_run(processes=number, options=options) for number in (1, 2))
    assert len(one) == 2
    assert two == pytest.approx(one, abs=1e-4)


def start_instead(monkeypatch, program, *, processes, ready=False):
    """Have losses_of_a_run start another program; if ready, wait for its first line."""
    start, started = subprocess.Popen, []

    def begin(command, **settings):
        assert ("--nproc-per-node" in command) == (processes > 1)
        started.append(start([sys.executable, "-c", program], **settings))
        if ready:
            started[0].stdout.readline()
        return started[0]

    monkeypatch.setattr(costs.subprocess, "Popen", begin)
    return started


def say(text):
    return f"print({text!r})\nraise SystemExit(3)"


@pytest.mark.parametrize("processes", [1, 3])
@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("raise SystemExit(3)", "exit status 3"),
        (say("step 1\nerror: --steps must be at least 1\n"), "error: --steps must be at least 1"),
        ("raise OSError('no port')", "OSError: no port"),
        (say("No module named x"), "No module named x"),
        (say("E1123 08:00:00.1 12 torch/distributed/elastic/multiprocessing/api.py:10] f\n==="),
         "exit status 3"),
    ],
)  # fmt: skip
def test_the_error_of_a_run_is_told(processes, program, reason, monkeypatch, capsys):
    start_instead(monkeypatch, program, processes=processes)
    assert losses_of_a_run(processes=processes, options=SMALL) is None
    assert f" failed here: {reason}. The text below" in capsys.readouterr().out


@pytest.mark.slow
def test_the_error_of_a_process_is_told_and_not_the_report_of_torchrun(capsys):
    assert losses_of_a_run(processes=2, options=f"{SMALL} --heads 3") is None
    said = capsys.readouterr().out
    assert "failed here: error: num_heads must divide d_model, got 3 and 8. The" in said


STUBBORN = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
time.sleep(60)
"""


POLITE = STUBBORN.replace("signal.SIG_IGN", "lambda *_: exit(0)")


@pytest.mark.parametrize(("program", "patience"), [(POLITE, 60), (STUBBORN, 0.1)])
def test_a_run_that_hangs_is_ended(program, patience, monkeypatch, capsys):
    started = start_instead(monkeypatch, program, processes=2, ready=True)
    monkeypatch.setattr(costs, "LONGEST_WAIT", 0.1)
    monkeypatch.setattr(costs, "LONGEST_END", patience)
    assert losses_of_a_run(processes=2, options=SMALL) is None
    assert started[0].poll() is not None
    assert "2 processes failed here: no end within 0.1 seconds" in capsys.readouterr().out


def test_a_step_reads_the_decoders_weights_once_for_every_row():
    model = small_transformer(50, d_model=32, num_heads=4, d_ff=64).eval()
    one, many = operations_a_byte(model, 1, 1), operations_a_byte(model, 16, 1)
    assert 0.2 < one < 0.5, "two operations for four bytes, less those for the memory's keys"
    assert many == pytest.approx(16 * one)
    ids, memory = torch.tensor([[5, 6, 7]]), model.encode(torch.tensor([[8, 9]]))
    cache = DecoderCache(num_layers=1)
    next_logits(model, ids[:, :2], memory, cache)
    whole = next_logits(model, ids, memory, None)
    torch.testing.assert_close(next_logits(model, ids[:, 2:], memory, cache), whole)
