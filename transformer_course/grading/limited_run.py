"""Run a notebook that somebody else has written: every cell, in a process with limits.

The limits are for accidents, they are not a sandbox: the process can read the user's files and
start other programs.
"""

import inspect
import logging
import os
import re
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from nbclient import NotebookClient
from nbclient.client import CellExecutionComplete
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

# Small models are fastest on one thread, sets keep their order, and outputs name the CPU.
KERNEL_SETTINGS = {
    "OMP_NUM_THREADS": "1",
    "OMP_WAIT_POLICY": "PASSIVE",
    "PYTHONHASHSEED": "0",
    "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    "TRANSFORMER_EDU_DEVICE": "cpu",
    "TRANSFORMER_EDU_KEEP": "0",  # no lesson writes or reads a reader's classes
    "HF_HUB_OFFLINE": "1",  # no lesson downloads a model
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "TQDM_DISABLE": "1",  # progress bars are for whoever waits
}
STOPPED = "Stopped"  # the name of the error in a cell that takes too long
KEPT = 10_000  # characters of what a cell prints, and the last lines of checks before them
# A check's sentence: a line of its own, or after what the answer prints without ending its line.
SAID = re.compile(
    r"(?m)Exercise (\d+\.\d+) is (?:(correct)\.|(waiting) for you: replace the three dots\.)$"
)
LINES_SAID = 20
SECONDS_FOR_OUTPUT = 10  # to arrive after its cell has ended


@dataclass(frozen=True)
class Limits:
    """What a notebook may use: seconds for a cell and for all cells, and gigabytes of memory."""

    cell_seconds: int = 300
    seconds: int = 1200
    memory: int = 4


@dataclass
class Run:
    """What is known of a run, by the numbers of the cells, counted from 1.

    Attributes:
        printed: The end of what each cell printed.
        sizes: How many characters of output each cell had.
        errors: The name and the message of the error in a cell; number 0 is the limits' own cell.
        finished: The cells that ran to their end or to an error.
        reason: Why the cells after these did not run; empty if all did.
    """

    printed: dict[int, str] = field(default_factory=dict)
    sizes: Counter[int] = field(default_factory=Counter)
    errors: dict[int, tuple[str, str]] = field(default_factory=dict)
    finished: set[int] = field(default_factory=set)
    reason: str = ""


def run_limited(sources: Sequence[str], limits: Limits) -> Run:
    """Run the cells of a notebook in a fresh process and an empty folder, also after an error.

    Args:
        sources: The code of every cell; empty for a cell of text.
        limits: A cell that takes too long is stopped, and the next one runs.
    """
    run = Run()
    guard = f"{inspect.getsource(_guard)}\n_guard({limits.memory * 2**30})\ndel _guard"
    client = NotebookClient(
        new_notebook(cells=[new_code_cell(source) for source in (guard, *sources)]),
        kernel_name="python3",
        timeout=limits.cell_seconds,
        interrupt_on_timeout=True,
        error_on_timeout={"ename": STOPPED, "evalue": "", "traceback": []},
        iopub_timeout=SECONDS_FOR_OUTPUT,
        allow_errors=True,
        record_timing=False,
        store_widget_state=False,
        shutdown_kernel="immediate",
        extra_arguments=["--IPKernelApp.log_level=ERROR"],
    )
    client.log = logging.Logger("silent", logging.CRITICAL)
    last = _watch(client, run, limits)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        try:
            client.execute(cwd=folder, env={**os.environ, **KERNEL_SETTINGS}, **quiet)
        except RuntimeError as error:  # also nbclient's own, when the process has ended
            run.reason = str(error)
            if run.reason == "Kernel died":
                run.reason = f"Python ended in cell {last['cell']}: no memory left, or a crash."
        except Exception as error:  # whatever a notebook's process has sent
            words = " ".join(str(error).split())
            run.reason = f"The run ended in cell {last['cell']}: {type(error).__name__} {words}"
    return run


def _watch(client: NotebookClient, run: Run, limits: Limits) -> dict[str, int]:
    """Let the client write into a run. Returns where it keeps the number of the present cell."""
    last, begin = {"cell": 0}, []

    def start(cell: NotebookNode, cell_index: int) -> None:
        begin.append(time.monotonic())
        if begin[-1] - begin[0] > limits.seconds:
            raise RuntimeError(f"The notebook took more than {limits.seconds} seconds.")
        last["cell"] = cell_index

    def finish(cell: NotebookNode, cell_index: int, execute_reply: dict) -> None:
        run.finished.add(cell_index)
        reply = execute_reply["content"]
        if reply["status"] == "error":
            run.errors[cell_index] = reply["ename"], reply["evalue"]
        elif any(each["source"] == "ask_exit" for each in reply["payload"]):
            raise RuntimeError(f"Cell {cell_index} ended Python: exit() or quit().")

    def keep(outs: list, msg: dict, display_id: str | None, cell_index: int) -> None:
        run.sizes[cell_index] += len(str(msg["content"]))
        text = run.printed.get(cell_index, "") + msg["content"].get("text", "")
        cut, said = max(len(text) - KEPT, 0), []
        for sentence in SAID.finditer(text):
            if sentence.start() < cut:
                cut = max(cut, sentence.end())  # which is not cut in the middle
                said.append(sentence[0])
        run.printed[cell_index] = "\n".join([*said[-LINES_SAID:], text[cut:]])

    client.on_cell_start, client.on_cell_executed = start, finish
    process = client.process_message

    def process_if_well_formed(msg: dict, cell: NotebookNode, cell_index: int) -> None:
        try:
            process(msg, cell, cell_index)
        except CellExecutionComplete:
            raise
        except Exception:  # a notebook can send anything
            run.sizes[cell_index] += len(str(msg))

    client.output = keep  # instead of storing all of it
    client.process_message = process_if_well_formed
    return last


def _guard(memory: int) -> None:
    """In the notebook's process: limit its memory, and refuse to connect to other computers."""
    import sys
    from contextlib import suppress

    def refuse_network(event: str, arguments: tuple) -> None:
        if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
            address = arguments[1]
            host = address[0] if isinstance(address, tuple) else "localhost"
        elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
            host = arguments[0]
        else:
            return
        if host not in (None, "", "localhost", "127.0.0.1", "::1"):
            raise PermissionError("a notebook has no network while it is graded")

    with suppress(ImportError, ValueError, OSError):  # Windows has no such limit
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    sys.addaudithook(refuse_network)
