"""What each lesson's room lists: the names that the lesson's cells import from it.

The list of lesson 02 is ``transformer_course/attention/__init__.py``. A name that is new in a cell
is found in the room's own modules, or else in the rooms that several lessons share.
"""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tools.colab import write_if_changed
from tools.notebooks import ROOT, lesson_paths, read, refusal

COURSE = ROOT / "transformer_course"


class RoomError(Exception):
    """A list that cannot be written; the message names the lesson and the name it imports."""


def room_of(lesson: Path) -> Path:
    """The folder of a lesson's room."""
    return COURSE / lesson.stem[3:]


def imported_names(source: str) -> set[str]:
    """The names under which a source imports from elsewhere."""
    imports = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)]
    return {alias.asname or alias.name for node in imports for alias in node.names}


def wanted_names(lesson: Path) -> set[str]:
    """What the cells and the solutions of a lesson import from its room."""
    text = "\n".join(cell.source for cell in read(lesson).cells)
    room = re.escape(f"transformer_course.{room_of(lesson).name}")
    lines = re.findall(rf"(?m)^from {room} import (?:\([^)]*\)|.*)$", text)
    return {name for line in lines for name in imported_names(line)}


def defined_names(module: Path) -> Iterator[str]:
    """What a module defines or sets at its top."""
    for node in ast.parse(module.read_text(encoding="utf-8")).body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Assign(targets=targets):
                stored = [each for target in targets for each in ast.walk(target)]
                yield from (each.id for each in stored if isinstance(each, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name


def module_with(name: str, room: Path) -> str | None:
    """The module that defines a name: one of the room, or else of what several lessons share."""
    others = {room_of(lesson) for lesson in lesson_paths()}
    shared = [path for path in COURSE.rglob("*.py") if not others & set(path.parents)]
    for modules in (sorted(room.glob("*.py")), sorted(shared)):
        for path in modules:
            if path.stem != "__init__" and name in defined_names(path):
                return ".".join(path.relative_to(ROOT).with_suffix("").parts)
    return None


def room_list(lesson: Path) -> str:
    """The source of a room's ``__init__.py``, not yet in ruff's format.

    Raises:
        RoomError: If the lesson imports a name that no module of the course defines.
    """
    room, wanted = room_of(lesson), wanted_names(lesson)
    source = (room / "__init__.py").read_text(encoding="utf-8")
    tree, lines = ast.parse(source), []
    for node in tree.body:
        for alias in node.names if isinstance(node, ast.ImportFrom) else []:
            if (alias.asname or alias.name) in wanted:
                wanted.remove(alias.asname or alias.name)
                lines.append(f"from {node.module} import {ast.unparse(alias)}")
    for name in sorted(wanted):
        module = module_with(name, room)
        if module is None:
            words = f"no module of transformer_course defines {name}, which a cell imports"
            raise RoomError(refusal(lesson.name, words))
        lines.append(f"from {module} import {name}")
    return f'"""{ast.get_docstring(tree)}"""\n\n' + "\n".join(lines) + "\n"


def is_stale(lesson: Path) -> bool:
    """Whether the room lists other names than its lesson imports."""
    listed = (room_of(lesson) / "__init__.py").read_text(encoding="utf-8")
    return imported_names(listed) != wanted_names(lesson)


def write(lessons: Sequence[Path]) -> None:
    """Write the lists that are stale.

    Raises:
        RoomError: If a lesson imports a name that no module of the course defines.
    """
    for lesson in filter(is_stale, lessons):
        path = room_of(lesson) / "__init__.py"
        write_if_changed(path, room_list(lesson))
        for command in (["check", "-q", "--fix"], ["format", "-q"]):
            subprocess.run([sys.executable, "-m", "ruff", *command, path], check=True, cwd=ROOT)
