"""A run that is interrupted or lacks memory, and a command that fails, end in order."""

import io
import os
import signal
import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest
import torch

from tools.notebooks import ROOT
from transformer_edu.training.machine.failures import (
    FAILED,
    INTERRUPTED,
    NotEnoughMemoryError,
    enough_memory,
    noted_interrupts,
    one_line_errors,
    postponed_interrupt,
)


def test_an_interrupt_inside_the_block_comes_after_it():
    done = []
    with pytest.raises(KeyboardInterrupt), postponed_interrupt():
        signal.raise_signal(signal.SIGINT)
        done.append("the rest of the block")
    assert done == ["the rest of the block"]


def test_an_error_of_the_block_is_not_lost_to_an_interrupt():
    with pytest.raises(RuntimeError, match="my step"), postponed_interrupt():
        signal.raise_signal(signal.SIGINT)
        raise RuntimeError("my step")


def test_afterwards_an_interrupt_works_as_before():
    handler = signal.getsignal(signal.SIGINT)
    with postponed_interrupt():
        pass
    assert signal.getsignal(signal.SIGINT) is handler
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_interrupts_can_be_noted_instead_of_raised():
    with noted_interrupts() as interrupts:
        assert not interrupts
        signal.raise_signal(signal.SIGINT)
        assert interrupts == [signal.SIGINT]


def test_in_another_thread_the_block_just_runs():
    done = []

    def work():
        with postponed_interrupt():
            done.append(1)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [1]


@pytest.mark.parametrize(
    ("said", "got"),
    [
        (
            "CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has a total capacity of 15 GiB",
            "no room for 20.00 GiB",
        ),
        ("MPS backend out of memory. Tried to allocate 1.50 GB on private pool", "1.50 GB"),
        ("DefaultCPUAllocator: not enough memory: you tried to allocate 64 bytes.", "64 bytes"),
        ("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate", "too little"),
        ("Storage size calculation overflowed with sizes=[9, 9]", "too little"),
    ],
)
def test_torch_s_words_for_a_lack_of_memory_are_known_on_every_device(said, got):
    message = f"memory must suffice for a test, got .*{got}; be modest$"
    with pytest.raises(NotEnoughMemoryError, match=message), enough_memory("a test", "be modest"):
        raise RuntimeError(said)


def test_the_innermost_purpose_is_told_and_other_errors_are_left_alone():
    inner = enough_memory("the inner")
    with pytest.raises(MemoryError, match="the inner"), enough_memory("the outer"), inner:
        bytearray(10**18)
    with pytest.raises(RuntimeError, match="^shapes$"), enough_memory("a test"):
        raise RuntimeError("shapes")


def raised(error: BaseException):
    @one_line_errors
    def command(arguments=None) -> int:
        raise error

    return command


@pytest.mark.parametrize(
    "error", [ValueError("x"), TypeError("x"), OSError("x"), ImportError("x"), MemoryError("x")]
)
def test_an_error_of_the_user_s_is_one_sentence_on_standard_error(capsys, error):
    assert raised(error)([]) == FAILED
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.startswith("error: ")
    assert shown.err.count("\n") == 1


def test_an_error_of_the_program_s_is_not_hidden():
    with pytest.raises(AttributeError):
        raised(AttributeError("x"))([])


def test_what_the_memory_cannot_hold_is_one_sentence_with_its_size(capsys):
    command = one_line_errors(lambda arguments: torch.empty(10**15).sum())
    assert command([]) == FAILED
    message = "memory must suffice for this command, got no room for 4000000000000000 bytes"
    assert capsys.readouterr().err == f"error: {message}\n"


@pytest.mark.parametrize(
    ("error", "status", "sentence"),
    [
        (ValueError("x"), FAILED, "error: x\n"),
        (KeyboardInterrupt(), INTERRUPTED, "Interrupted.\n"),
    ],
)
def test_a_sentence_is_one_write_that_another_process_cannot_cut(
    monkeypatch, error, status, sentence
):
    written = []
    monkeypatch.setattr(sys, "stderr", SimpleNamespace(write=written.append))
    assert raised(error)([]) == status
    assert written == [sentence]


SILENT_PLACES = {
    "in an import": "signal.raise_signal(signal.SIGINT)",
    "in a callback, whose errors Python drops": "Trap()",
    "where all errors are caught": """
try:
    signal.raise_signal(signal.SIGINT)
except BaseException:
    pass
""",
}
COMMAND = """
import signal, time
from transformer_edu.training.machine.failures import one_line_errors

class Trap:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

{imported}
@one_line_errors
def main(arguments=None):
    {run}
    for _ in range(600):
        time.sleep(0.1)
    print("went on")
"""


@pytest.mark.skipif(os.name != "posix", reason="Windows has no process groups")
@pytest.mark.parametrize(
    "texts",
    [
        *({"imported": place, "run": ""} for place in SILENT_PLACES.values()),
        {"imported": "", "run": "signal.raise_signal(signal.SIGINT)"},
        {"imported": "", "run": "Trap()"},
        {"imported": "", "run": "[Trap() for _ in range(3)]"},
    ],
    ids=[*SILENT_PLACES, "in a run", "in a callback in a run", "in several"],
)
def test_no_interrupt_is_lost_while_a_command_is_imported_or_runs(tmp_path, texts):
    (tmp_path / "trapped.py").write_text(COMMAND.format(**texts))
    program = "from transformer_edu.training.machine.failures import run_command as run"
    result = subprocess.run(
        [sys.executable, "-c", f"{program}; run('trapped')"],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"},
        # Those who start tests in the background may have told them to ignore Ctrl-C.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    found = (result.returncode, result.stdout, result.stderr)
    assert found == (INTERRUPTED, "", "Interrupted.\n")


def test_any_character_can_be_written_to_any_output(monkeypatch):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
    command = one_line_errors(lambda arguments: print("Hündchen \udcff", flush=True) or 0)
    assert command([]) == 0
    assert written.getvalue() == "Hündchen \\udcff\n".encode()


def test_without_standard_error_the_error_is_not_mixed_with_the_output(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stderr", None)
    assert raised(ValueError("x"))([]) == FAILED
    assert capsys.readouterr().out == ""


@pytest.mark.skipif(os.name != "posix", reason="a shell closes the streams")
def test_no_file_is_opened_under_the_number_of_a_closed_stream():
    program = (
        "from transformer_edu.training.machine.failures import prepare_streams\n"
        "prepare_streams()\nprint(open('/dev/null').fileno() > 2)"
    )
    closed = ["sh", "-c", '"$0" -c "$1" 0<&- 2>&-', sys.executable, program]
    assert subprocess.run(closed, cwd=ROOT, stdout=subprocess.PIPE).stdout == b"True\n"


def test_ignored_interrupts_stay_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with noted_interrupts() as received:
            signal.raise_signal(signal.SIGINT)
        assert received == []
    finally:
        signal.signal(signal.SIGINT, before)
