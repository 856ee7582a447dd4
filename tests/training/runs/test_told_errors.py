"""Commands end in one sentence, whatever goes wrong, and do without streams that are closed."""

import io
import os
import subprocess
import sys

import pytest
import torch

from tools.notebooks import ROOT
from transformer_edu.training.runs.told_errors import FAILED, INTERRUPTED, with_told_errors


def raised(error: BaseException):
    @with_told_errors
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
    command = with_told_errors(lambda arguments: torch.empty(10**15).sum())
    assert command([]) == FAILED
    message = "memory must suffice for this command, got no room for 4000000000000000 bytes"
    assert capsys.readouterr().err == f"error: {message}\n"


def test_an_interrupt_gives_the_shell_s_exit_status():
    assert raised(KeyboardInterrupt())([]) == INTERRUPTED


def test_any_character_can_be_written_to_any_output(monkeypatch):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
    command = with_told_errors(lambda arguments: print("Hündchen \udcff", flush=True) or 0)
    assert command([]) == 0
    assert written.getvalue() == "Hündchen \\udcff\n".encode()


def test_without_standard_error_the_error_is_not_mixed_with_the_output(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stderr", None)
    assert raised(ValueError("x"))([]) == FAILED
    assert capsys.readouterr().out == ""


@pytest.mark.skipif(os.name != "posix", reason="a shell closes the streams")
def test_no_file_is_opened_under_the_number_of_a_closed_stream():
    program = (
        "from transformer_edu.training.runs.told_errors import prepare_streams\n"
        "prepare_streams()\nprint(open('/dev/null').fileno() > 2)"
    )
    closed = ["sh", "-c", '"$0" -c "$1" 0<&- 2>&-', sys.executable, program]
    assert subprocess.run(closed, cwd=ROOT, stdout=subprocess.PIPE).stdout == b"True\n"
