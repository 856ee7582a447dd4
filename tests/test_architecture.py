"""The package keeps its shape: who imports whom, how long things are, what they never do."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tools.notebooks import ROOT
from tools.source_rules import (
    FORBIDDEN_NAMES,
    assertions,
    imported_modules,
    more_than_a_docstring,
    oversize,
    unsafe_code,
    without_docstring,
)

PACKAGE = ROOT / "transformer_edu"
MODULES = sorted(PACKAGE.rglob("*.py"))
# Each part may import itself and the parts before it. Files beside the parts may import them all.
PARTS = ["model", "variants", "generation", "training", "pretrained", "teaching"]
FOR_ALL = "transformer_edu.model.refusals"  # imported by every part, and imports none
WITHOUT_PICTURES = PARTS[:5]

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
plotting = {"matplotlib", "ipywidgets", "IPython", "plotly"} & set(sys.modules)
assert not plotting, f"importing loads {plotting}"
"""


def module_name(path: Path) -> str:
    """The dotted name under which a file is imported."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def part_of(name: str) -> str | None:
    """The part of the package that a module belongs to, None for what stands beside the parts.

    A part's command, its ``__main__``, is no piece of it: nobody imports it, and it may call on
    whatever it needs.
    """
    inside = name.split(".")[1:]
    if not inside or inside[0] not in PARTS or inside[-1] == "__main__":
        return None
    return inside[0]


def rooms_of(part: str) -> dict[str, set[str]]:
    """For each room of a part, the other rooms of the part that its modules import.

    A room is a folder of the part, or a module that stands in the part itself.
    """
    prefix = ["transformer_edu", part]
    rooms: dict[str, set[str]] = {}
    for path in (PACKAGE / part).rglob("*.py"):
        names = module_name(path).split(".")
        if names[-1] in (part, "__main__"):
            continue
        imported = [each.split(".") for each in imported_modules(tree_of(path))]
        inside = {each[2] for each in imported if each[:2] == prefix and len(each) > 2}
        rooms.setdefault(names[2], set()).update(inside - {names[2]})
    return rooms


def circles(rooms: dict[str, set[str]]) -> set[str]:
    """The rooms from which imports lead back to themselves; those that only lead there too."""
    left = dict(rooms)
    while leaves := [room for room, others in left.items() if not others & set(left)]:
        for room in leaves:
            del left[room]
    return set(left)


def wrong_imports(name: str, tree: ast.AST) -> list[str]:
    """The imports of a module that lead back up, or, in the model, out to other libraries."""
    part = part_of(name)
    if part is None and name != FOR_ALL:
        return []
    allowed_parts = [] if part is None else PARTS[: PARTS.index(part) + 1]
    wrong = []
    for imported in imported_modules(tree):
        top = imported.split(".")[0]
        if top == "transformer_edu":
            if imported != FOR_ALL and part_of(imported) not in allowed_parts:
                wrong.append(imported)
        elif top in ("", "experiments", "tests", "tools") or (
            part == "model" and top != "torch" and top not in sys.stdlib_module_names
        ):
            wrong.append(imported)
    return wrong


every_module = pytest.mark.parametrize("path", MODULES, ids=module_name)


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@every_module
def test_imports_run_from_teaching_to_model_and_never_back(path):
    assert not wrong_imports(module_name(path), tree_of(path))


@pytest.mark.parametrize(
    ("name", "source", "wrong"),
    [
        ("model.attention", "from transformer_edu.training.loop import train", True),
        ("model.attention", "import numpy", True),
        ("model.attention", "from .masks import causal_mask", True),
        ("model.attention", "import math, torch.nn.functional", False),
        ("model.encoder", "from transformer_edu.model.attention import attend", False),
        ("generation.beam", "import transformer_course.drawing.attention_grid", True),
        ("generation.beam", "from experiments import bars", True),
        ("training.loop", "from transformer_edu.generation.greedy import greedy", False),
        ("training.loop", "from tests import sample_lesson", True),
        ("teaching.plots", "import matplotlib, transformer_edu.training.loop", False),
        ("generation.__main__", "import transformer_edu.pretrained.loading", False),
        ("generation.greedy", "import transformer_edu.generation.__main__", True),
        ("model.attention", "from transformer_edu.model.refusals import require_whole", False),
        ("refusals", "import transformer_edu.model.masks", True),
        ("training.loop", "import transformer_edu.pretrained.loading", True),
        ("teaching.plots", "import transformer_edu.training.__main__", True),
    ],
)
def test_a_wrong_import_is_noticed(name, source, wrong):
    assert bool(wrong_imports(f"transformer_edu.{name}", ast.parse(source))) == wrong


def test_the_parts_are_the_ones_on_the_map():
    folders = {path.relative_to(PACKAGE).parts[0] for path in MODULES if path.parent != PACKAGE}
    assert folders <= set(PARTS)


@pytest.mark.parametrize("part", PARTS)
def test_no_imports_lead_in_circles_between_the_rooms_of_a_part(part):
    assert not circles(rooms_of(part))


def test_a_circle_is_noticed():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}) == {"a", "b", "c"}


def test_every_folder_of_modules_says_what_it_is_for():
    for folder in {path.parent for path in MODULES}:
        assert (folder / "__init__.py").exists(), f"{folder.name} has no __init__.py"


MAPS = [PACKAGE, *(path for path in PACKAGE.rglob("*") if (path / "__init__.py").exists())]
MAPS += [ROOT / "tools", ROOT / "experiments", ROOT / "experiments" / "benchmark"]


@pytest.mark.parametrize("folder", MAPS, ids=lambda folder: folder.name)
def test_the_map_of_a_folder_names_what_is_there_and_nothing_else(folder):
    text = ast.get_docstring(tree_of(folder / "__init__.py"))
    there = {path.stem for path in folder.iterdir() if not path.name.startswith(("_", "."))}
    modules = {path.stem for path in folder.glob("*.py") if not path.stem.startswith("_")}
    named = set(re.findall(r"\w+", text))
    families = tuple(re.findall(r"(\w+_)\*", text)) or ("*",)  # sentences_*
    assert {name for name in modules - named if not name.startswith(families)} == set()
    columns = re.findall(r"^([a-z_0-9,→/ ]+?) {2,}\S", text, flags=re.MULTILINE)
    assert set(re.findall(r"\w+", " ".join(columns))) <= there


@every_module
def test_a_module_is_readable_documented_and_safe(path):
    tree = tree_of(path)
    assert not list(oversize(path.read_text(encoding="utf-8")))
    assert not list(without_docstring(tree))
    assert not [*unsafe_code(tree), *assertions(tree)]


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("__init__.py")), ids=module_name)
def test_an_init_file_is_a_docstring(path):
    assert not list(more_than_a_docstring(tree_of(path)))


@pytest.mark.parametrize("folder", ["transformer_edu", "tools", "tests"])
def test_no_file_is_named_after_nothing(folder):
    names = {path.stem.removeprefix("test_") for path in (ROOT / folder).rglob("*")}
    assert not names & FORBIDDEN_NAMES


@every_module
def test_every_module_has_its_test(path):
    if path.name in ("__init__.py", "__main__.py"):
        pytest.skip("holds no code of its own")
    folders, name = path.relative_to(PACKAGE).parent, path.stem
    own = ROOT / "tests" / folders / f"test_{name}.py"
    of_its_folder = ROOT / "tests" / folders.parent / f"test_{folders.name}.py"
    assert own.exists() or of_its_folder.exists(), f"{own.relative_to(ROOT)} is missing"


def test_importing_the_package_leaves_no_trace_and_loads_no_plotting_library():
    names = [
        module_name(path)
        for path in MODULES
        if part_of(module_name(path)) in [None, *WITHOUT_PICTURES] and path.stem != "__main__"
    ]
    command = [sys.executable, "-B", "-c", IMPORTED_IN_SILENCE, *names]
    result = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
