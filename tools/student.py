"""The student edition: ``python -m tools.student`` writes the lessons without solutions.

Every lesson is copied into ``student/`` without its outputs, its solutions and its claims, the
folded cells that guard a lesson's numbers. The exercises wait for their answers, and where a class
is missing the package's stands in. The package itself is open: whoever opens its files finds
solutions there.
"""

if __name__ == "__main__":  # before the imports that take seconds
    from transformer_edu.training.machine.failures import run_command

    run_command("tools.student")

import ast
import copy
import hashlib
import json
import re
from collections.abc import Collection, Iterator
from pathlib import Path

import nbformat
from IPython.core.inputtransformer2 import TransformerManager
from nbformat import NotebookNode

from tools.editions import EditionError, edition_command
from tools.lesson import has_tag
from tools.notebooks import ROOT, lesson_paths, read
from tools.syntax import bound_names, read_names
from transformer_course.kept_files import content_of, name_from, replace_unchanged

SOLUTION = re.compile(r"<details[^>]*>\s*<summary>(?:<\w+>)*\s*Solution\b", re.IGNORECASE)
FOLD = re.compile(r"<(/?)details[^>]*>\n*", re.IGNORECASE)
IPYTHON = TransformerManager()
WRITTEN = "student_edition"  # in a notebook's metadata: a digest of all else when it was written
POINTER = "; the solution is folded below"  # lesson 00 tells it to readers of the full edition


def student_edition(notebook: NotebookNode) -> NotebookNode:
    """A copy without outputs, solutions and claims; a claim stays if a later cell needs its names.

    Args:
        notebook: A lesson, or the glossary.
    """
    edition = copy.deepcopy(notebook)
    edition.metadata.pop("source_hash", None)
    needed = _needed_claims(edition.cells)
    kept = []
    for index, cell in enumerate(edition.cells):
        if cell.cell_type == "markdown":
            cell.source = _without_solutions(cell.source).replace(POINTER, "").strip()
        else:
            cell.outputs, cell.execution_count = [], None
        if cell.source and (index in needed or not has_tag(cell, "claim")):
            kept.append(cell)
    edition.cells = kept
    edition.metadata[WRITTEN] = _digest(edition)
    return edition


def _without_solutions(text: str) -> str:
    """A text without its folded solutions, also those that hold folds of their own."""
    while solution := SOLUTION.search(text):
        depth, end = 0, len(text)
        for fold in FOLD.finditer(text, solution.start()):
            depth += -1 if fold[1] else 1
            if depth == 0:
                end = fold.end()
                break
        text = text[: solution.start()] + text[end:]
    return text


def _needed_claims(cells: list[NotebookNode]) -> set[int]:
    """The claims that bind a name which a kept cell below them reads."""
    needed: set[int] = set()
    names: set[str] = set()  # read below, and not bound there before
    for index, cell in reversed(list(enumerate(cells))):
        if cell.cell_type != "code":
            continue
        tree = ast.parse(IPYTHON.transform_cell(cell.source))  # which knows %magic and !commands
        if has_tag(cell, "claim"):
            if not names & set(bound_names(tree)):
                continue
            needed.add(index)
        for step in reversed(list(_steps(tree))):
            names = names - set(bound_names(step)) | read_names(step)
    return needed


def _steps(node: ast.AST) -> Iterator[ast.AST]:
    """Statements in the order in which they run, those inside ``with`` and ``for`` one by one."""
    match node:
        case ast.Module(body=body):
            pass
        case ast.With(items=items, body=body):
            yield from items
        case ast.For(target=target, iter=values, body=body):
            yield from (values, target)
        case _:
            body = []
            yield node
    for statement in body:
        yield from _steps(statement)


def write(paths: Collection[Path], folder: Path) -> list[Path]:
    """Write the student edition of some notebooks.

    Notebooks of lessons that have another name today are removed.

    Args:
        paths: The notebooks.
        folder: Where to; made if it does not exist.

    Returns:
        The files that were written.

    Raises:
        EditionError: If the folder holds anything but notebooks, such as somebody's classes, if a
            notebook that somebody has changed or run would be replaced or removed, or if a path
            names no notebook.
        OSError: If a file cannot be written, or is saved at this very moment.
    """
    folder.mkdir(parents=True, exist_ok=True)
    ours = (".ipynb", ".partial", ".spare")  # the last two if a writing was killed
    if others := sorted(path.name for path in folder.iterdir() if path.suffix not in ours):
        raise EditionError(
            f"{name_from(Path(), folder)}/ must hold nothing but notebooks, because what was made "
            f"by running them can hold answers, got {', '.join(others)}"
        )
    editions = {}
    for path in paths:
        try:
            # Half a character in a cell, which no file holds, is written in JSON's way, as \ud800.
            text = nbformat.writes(student_edition(read(path)))
            editions[folder / path.name] = f"{text}\n".encode(errors="backslashreplace")
        except Exception as error:  # it is damaged, or its cells are not Python alone
            got = f"the file {path} ({type(error).__name__})"
            raise EditionError(f"a lesson must be a notebook of Python cells, got {got}") from None
    today = {path.name for path in lesson_paths()}
    old = [path for path in folder.glob("[0-9][0-9]_*.ipynb") if path.name not in today]
    there = {path: content_of(path) for path in sorted({*editions, *old})}
    differing = [path for path in there if there[path] not in (None, editions.get(path))]
    if changed := [path.name for path in differing if not _is_as_written(there[path])]:
        raise EditionError(
            f"{name_from(Path(), folder)}/ must hold no notebook that somebody has changed or run, "
            f"because it would be lost, got {', '.join(changed)}: move it elsewhere, or write "
            "elsewhere with --to"
        )
    for path in old:
        replace_unchanged(path, there[path], None)
    for path, edition in editions.items():
        replace_unchanged(path, there[path], edition)
    return list(editions)


def _digest(notebook: NotebookNode) -> str:
    """Of all of a notebook but the digest that it holds."""
    metadata = {name: each for name, each in notebook.metadata.items() if name != WRITTEN}
    text = json.dumps(notebook | {"metadata": metadata}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _is_as_written(content: bytes) -> bool:
    """Whether a file holds what was written into it."""
    try:
        notebook = nbformat.reads(content.decode(), as_version=4)
        return notebook.metadata[WRITTEN] == _digest(notebook)
    except Exception:  # it is not a notebook, so it was not written here
        return False


def _write(lessons: Collection[Path], folder: Path) -> str:
    written = write(lessons or sorted((ROOT / "notebooks").glob("*.ipynb")), folder)
    return f"{len(written)} notebooks without outputs and solutions in {name_from(Path(), folder)}/"


def main(arguments: list[str] | None = None) -> int:
    """The command: write the student edition of the named lessons, or of all and the glossary."""
    about = "Write the lessons without outputs and solutions."
    return edition_command(_write, arguments, about=about, to=ROOT / "student")
