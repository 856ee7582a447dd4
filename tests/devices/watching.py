"""Run a lesson on the pretend device, and say which of its models computed elsewhere."""

import io
import linecache
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from traceback import extract_stack
from typing import NamedTuple
from unittest.mock import patch

from IPython.display import display
from nbformat import NotebookNode
from torch import nn
from torch.nn.modules.module import register_module_forward_pre_hook

from tests.devices.pretend import DEVICE, NAME, Backend, switch_on
from tests.devices.shortening import shorten
from tools.notebooks import KERNEL_SETTINGS, ROOT, LessonError, refusal
from transformer_edu.training.machine.device import DEVICE_VARIABLE

SETTINGS = KERNEL_SETTINGS | {"PYTHONPATH": str(ROOT), "MPLBACKEND": "Agg", DEVICE_VARIABLE: NAME}
CELL = "cell of the lesson, "

strangers: set[str] = set()


class Report(NamedTuple):
    """What has been seen while a lesson ran."""

    printed: dict[int, str]  # by every code cell
    strangers: list[str]  # the modules that were called or left with weights elsewhere
    computations: int  # so many operations were computed on the device


def run_on_pretend_device(notebook: NotebookNode, name: str, *, steps: int | None) -> Report:
    """Run a lesson's code in a fresh process where pick_device answers with the pretend device.

    Args:
        notebook: The lesson.
        name: How error messages call it.
        steps: Its models learn for so many steps at most; None leaves the lesson as it is.

    Raises:
        LessonError: If a cell fails or warns.
    """
    cells = enumerate(notebook.cells)
    sources = {index: cell.source for index, cell in cells if cell.cell_type == "code"}
    with (
        patch.dict(os.environ, SETTINGS),
        ProcessPoolExecutor(max_workers=1, mp_context=_processes()) as pool,
    ):
        return pool.submit(_run, sources, name, steps).result()


def _processes() -> multiprocessing.context.BaseContext:
    """How a fresh process begins: where it can, with the imports of this module behind it."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    return context


def _run(sources: dict[int, str], name: str, steps: int | None) -> Report:
    """In the lesson's process: run the cells, watch the models."""
    os.chdir(ROOT / "notebooks")
    switch_on()
    if steps is not None:
        shorten(steps)
    register_module_forward_pre_hook(_note)
    printed, namespace = {}, {"__name__": "__main__", "display": display}
    for index, source in sources.items():
        file_name = f"{CELL}{name}, {index + 1}"
        linecache.cache[file_name] = (len(source), None, source.splitlines(True), file_name)
        written, warned = io.StringIO(), io.StringIO()
        try:
            with redirect_stdout(written), redirect_stderr(warned):
                exec(compile(source, file_name, "exec"), namespace)
        except (Exception, SystemExit) as error:
            first_line = source.strip().partition("\n")[0]
            reason = f"{type(error).__name__}: {error}"
            words = f"cell {index + 1} ({first_line!r}) failed on another device: {reason}"
            raise LessonError(refusal(name, words)) from error
        if warned.getvalue().strip():
            words = f"cell {index + 1} on another device warns: {warned.getvalue().strip()}"
            raise LessonError(refusal(name, words))
        printed[index] = written.getvalue()
    return Report(printed, sorted(strangers | _left_behind(namespace)), Backend.computations)


def _left_behind(namespace: dict[str, object]) -> set[str]:
    """The lesson's variables with a model elsewhere in them, called or not ("meta" is nowhere)."""
    found = set()
    for name, value in namespace.items():
        values = value.values() if isinstance(value, dict) else value
        for each in values if isinstance(value, dict | list | tuple) else [value]:
            weights = each.parameters() if isinstance(each, nn.Module) else ()
            if not all(weight.device == DEVICE or weight.is_meta for weight in weights):
                found.add(f"{type(each).__name__} in {name!r}")
    return found


def _note(module: nn.Module, given: tuple) -> None:
    """Note a module with weights elsewhere, by the line of the lesson that has it called."""
    if all(
        weight.device == DEVICE or weight.is_meta for weight in module.parameters(recurse=False)
    ):
        return
    frames = extract_stack()
    if any(frame.filename.endswith("checks.py") for frame in frames):  # they are on the CPU
        return
    lines = [frame.line for frame in frames if frame.filename.startswith(CELL)]
    strangers.add(f"{type(module).__name__} in {lines[-1] if lines else 'the package'!r}")
