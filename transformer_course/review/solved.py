"""Which exercises the reader's notebooks have solved, as they were saved. Nothing is run."""

import html
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import nbformat
from IPython.display import display
from nbformat import NotebookNode

from transformer_course.grading.outcomes import CORRECT, HEADING, HINT, NOT_RUN, WAITING
from transformer_edu.training.machine.atomic_files import require_path

MARKS = {CORRECT: "✓", HINT: "…", WAITING: "○", NOT_RUN: "–"}
LEGEND = "✓ solved, … the check gave a hint, ○ waiting for an answer, – not run"
COPY = re.compile(r"-Copy\d*$")  # what JupyterLab calls a notebook's duplicate
CELL = 'style="text-align: left; padding: 0.2em 0.6em; white-space: nowrap"'


class Solved(NamedTuple):
    """An exercise, and what its check said when the notebook was saved last."""

    lesson: str
    number: str
    outcome: str


def solved_exercises(folder: Path) -> list[Solved]:
    """Every exercise of the notebooks in a folder, in their order.

    Args:
        folder: The reader's copies; damaged notebooks and JupyterLab's duplicates are left out.
    """
    found = []
    for path in sorted(folder.glob("[0-9][0-9]_*.ipynb")):
        if COPY.search(path.stem):
            continue
        with suppress(Exception):  # whatever a damaged file holds
            found += _exercises(path.stem, nbformat.read(path, as_version=4))
    return found


def _exercises(lesson: str, notebook: NotebookNode) -> Iterator[Solved]:
    numbers: list[str] = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            numbers += HEADING.findall(cell.source)
        elif numbers and "exercise" in cell.metadata.get("tags", []):
            yield Solved(lesson, numbers[-1], _outcome(cell, numbers[-1]))


def _outcome(cell: NotebookNode, number: str) -> str:
    said = "".join(out.get("text", "") for out in cell.outputs if out.output_type == "stream")
    if f"Exercise {number} is correct." in said:
        return CORRECT
    if any(out.output_type == "error" for out in cell.outputs):
        return HINT
    return WAITING if f"Exercise {number} is waiting" in said else NOT_RUN


def show_solved(folder: str | Path = ".") -> None:
    """Show a table of the exercises, a row for each lesson.

    Args:
        folder: The reader's notebooks; those next to this one.

    Raises:
        TypeError, NotADirectoryError: If folder is not a folder.
    """
    require_path("folder", folder)
    if not Path(folder).is_dir():
        raise NotADirectoryError(f"folder must be a folder with your notebooks, got {folder}")
    rows: dict[str, list[Solved]] = {}
    for each in solved_exercises(Path(folder)):
        rows.setdefault(each.lesson, []).append(each)
    every = [each for row in rows.values() for each in row]
    done = {each.number for each in every if each.outcome == CORRECT}  # in any copy of a lesson
    asked = {each.number for each in every}
    said = f"{len(done)} of {len(asked)} exercises are solved, as the notebooks were saved last."
    lines = ""
    for lesson, row in rows.items():
        cells = "".join(
            f'<td {CELL} title="{each.outcome}">{MARKS[each.outcome]} {each.number}</td>'
            for each in row
        )
        name = html.escape(f"{lesson[:2]} · {lesson[3:].replace('_', ' ').capitalize()}")
        head = CELL.replace("; white-space: nowrap", "")
        lines += f'<tr><th scope="row" {head}>{name}</th>{cells}</tr>'
    page = f"<p>{said}</p><table>{lines}</table><p>{LEGEND}</p>"
    display({"text/html": page, "text/plain": said}, metadata={}, raw=True)
