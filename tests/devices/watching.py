"""Run a lesson on the pretend device, and say which of its models computed elsewhere."""

import json
import os
from pathlib import Path
from traceback import extract_stack

import nbformat
from nbformat import NotebookNode
from torch import nn
from torch.nn.modules.module import register_module_forward_pre_hook

from tests.devices.pretend import DEVICE, NAME, PretendTensor, switch_on
from tools.notebooks import ROOT, execute
from transformer_edu.training.machine.device import DEVICE_VARIABLE

FIRST_CELL = f"""\
import sys
sys.path.insert(0, {str(ROOT)!r})
from tests.devices.watching import report, watch
watch()
"""
LAST_CELL = "print(report())"

strangers: set[str] = set()


def run_on_pretend_device(notebook: NotebookNode, name: str) -> tuple[list[str], int]:
    """Run a lesson where pick_device answers with the pretend device.

    Args:
        notebook: The lesson; its outputs are filled in.
        name: How error messages call it.

    Returns:
        The modules that were called elsewhere, and how much was computed on the device.

    Raises:
        LessonError: If a cell fails or warns.
    """
    first, last = map(nbformat.v4.new_code_cell, (FIRST_CELL, LAST_CELL))
    watched = NotebookNode({**notebook, "cells": [first, *notebook.cells, last]})
    execute(watched, name=name, folder=ROOT / "notebooks")
    return tuple(json.loads(last.outputs[0].text))


def watch() -> None:
    """In the lesson's kernel: let pick_device find the device, and note who computes elsewhere."""
    switch_on()
    os.environ[DEVICE_VARIABLE] = NAME
    register_module_forward_pre_hook(_note)


def report() -> str:
    """In the lesson's kernel: what has been noted, for run_on_pretend_device."""
    return json.dumps([sorted(strangers), PretendTensor.computations])


def _note(module: nn.Module, given: tuple) -> None:
    """Note a module with weights elsewhere, by the line of the lesson that has it called."""
    if all(weight.device == DEVICE for weight in module.parameters(recurse=False)):
        return
    frames = extract_stack()
    if any("checks" in Path(frame.filename).parts for frame in frames):  # they are on the CPU
        return
    lines = [frame.line for frame in frames if "ipykernel_" in frame.filename]
    strangers.add(f"{type(module).__name__} in {lines[-1] if lines else 'the package'!r}")
