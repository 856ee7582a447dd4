"""The library stays small, imports in silence, and its doors are what users and lessons import.

`make lint` keeps the rest: who may import whom and what source must be like (pyproject.toml), and
what a lesson's room lists (tools/rooms.py).
"""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import transformer_edu
from tools.notebooks import ROOT

LIBRARY, COURSE = ROOT / "transformer_edu", ROOT / "transformer_course"
MODULES = sorted(LIBRARY.rglob("*.py"))

IMPORTED_IN_SILENCE = """
import importlib, os, random, signal, sys, warnings
import numpy, torch

def state():
    return [
        torch.get_default_dtype(), torch.get_num_threads(), torch.is_grad_enabled(),
        torch.get_rng_state().tolist(), random.getstate(), repr(numpy.random.get_state()),
        list(warnings.filters), signal.getsignal(signal.SIGINT), dict(os.environ), os.getcwd(),
    ]

def watch(event, arguments):
    opens_for_writing = event == "open" and any(c in str(arguments[1]) for c in "wax+")
    if opens_for_writing or event in ("socket.connect", "subprocess.Popen", "os.system"):
        raise SystemExit(f"{event} {arguments}")

before = state()
sys.addaudithook(watch)
for name in sys.argv[1:]:
    importlib.import_module(name)
assert state() == before, "importing changes global state"
unwanted = {"matplotlib", "ipywidgets", "IPython", "transformer_course"}
plotting = unwanted & set(sys.modules)
assert not plotting, f"importing loads {plotting}"
"""


def module_name(path: Path) -> str:
    """The dotted name under which a file is imported."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_importing_the_library_leaves_no_trace_and_loads_neither_pictures_nor_the_course():
    names = [module_name(path) for path in MODULES if path.stem != "__main__"]
    command = [sys.executable, "-B", "-c", IMPORTED_IN_SILENCE, *names]
    result = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


@pytest.mark.parametrize("folder", [LIBRARY, COURSE, ROOT / "experiments", ROOT / "corpora"])
def test_an_interrupt_is_one_word_while_a_command_imports_too(folder):
    for path in sorted(folder.rglob("*.py")):
        if '__name__ == "__main__"' in (source := path.read_text(encoding="utf-8")):
            first = [each for each in ast.parse(source).body if isinstance(each, ast.If)][0]
            assert ast.unparse(first).count("run_command(") == 1, path
            before = source[: source.index("run_command(")]
            loaded = {line for line in before.splitlines() if re.match("import|from", line)}
            assert loaded <= {"from transformer_edu.training.machine.failures import run_command"}


def test_the_library_can_be_read_in_an_afternoon():
    paths = [path for path in MODULES if "checkup" not in path.parts]
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)
    advice = "at most 75 and 8,500: cut as much as you add"
    assert len(paths) <= 75 and lines <= 8_500, f"{len(paths)} modules, {lines} lines; {advice}"


def test_the_check_up_is_small():
    paths = [path for path in MODULES if "checkup" in path.parts]
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)
    advice = "at most 12 and 1,680: cut as much as you add"
    assert len(paths) <= 12 and lines <= 1_680, f"{len(paths)} modules, {lines} lines; {advice}"


def test_every_door_of_the_library_opens():
    assert len(dir(transformer_edu)) > 60
    for name in dir(transformer_edu):
        assert getattr(transformer_edu, name) is not None, name


def test_a_door_that_is_not_there_is_named():
    with pytest.raises(AttributeError, match="Transformr"):
        transformer_edu.Transformr  # noqa: B018


def test_every_folder_of_modules_says_what_it_is_for():
    for folder in {path.parent for path in [*MODULES, *COURSE.rglob("*.py")]}:
        assert ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))
