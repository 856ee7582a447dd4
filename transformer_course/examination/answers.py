"""Answers that were handed in, read as data: JSON from notebooks, CSV typed from paper.

Nothing of a file is run. A file that cannot be read gives a sheet with a problem, so that one file
does not stop the others.
"""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

LARGEST = 200_000  # bytes of a student's file


@dataclass(frozen=True)
class Sheet:
    """One student's answers.

    Attributes:
        file: Where they come from.
        name: Of the examination, or the form of the inventory.
        student: As the student or the list names them.
        answers: By the number of the part.
        problem: Why there are none; empty if all is well.
    """

    file: str
    name: str = ""
    student: str = ""
    answers: dict[str, object] = field(default_factory=dict)
    problem: str = ""


def read_sheets(paths: Sequence[Path]) -> list[Sheet]:
    """All sheets of files and folders.

    Args:
        paths: Files ending in .json (one student) or .csv (a line for each student, typed by an
            instructor), or folders with files of students, which end in .json.

    Raises:
        OSError: If there is no such file.
        ValueError: If a table has no columns sheet and student.
    """
    return [sheet for path in paths for sheet in _sheets(path)]


def _sheets(path: Path) -> Iterator[Sheet]:
    if path.is_dir():
        for each in sorted(path.iterdir()):
            if each.suffix == ".json" and each.is_file():
                yield _from_json(each)
    elif path.suffix == ".csv":
        rows = csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig")))
        if not {"sheet", "student"} <= set(rows.fieldnames or ()):
            raise ValueError(f"a table must have the columns sheet and student, got {path}")
        for row in rows:
            name, student = (str(row.pop(column) or "").strip() for column in ("sheet", "student"))
            cells = {str(part): _value(cell) for part, cell in row.items() if isinstance(cell, str)}
            if any(cell != "" for cell in cells.values()):
                yield Sheet(str(path), name, student, cells)
    else:
        yield _from_json(path)


def _from_json(path: Path) -> Sheet:
    """The sheet of a file that a notebook has written, or that somebody has made up."""
    if path.stat().st_size > LARGEST:
        return Sheet(str(path), problem=f"The file is larger than {LARGEST} bytes.")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        name, student, answers = (content[key] for key in ("sheet", "student", "answers"))
        if not isinstance(answers, dict) or not isinstance(name, str):
            raise TypeError
        cells = {part: _value(it) if isinstance(it, str) else it for part, it in answers.items()}
    except (ValueError, TypeError, KeyError, RecursionError):
        return Sheet(str(path), problem="The file does not hold a sheet, a student and answers.")
    return Sheet(str(path), name, str(student).strip(), cells)


def _value(text: str) -> object:
    """What a text says: a number, a list of numbers or texts, or the text itself."""
    text = text.strip().replace("−", "-")  # noqa: RUF001
    for candidate in (text, f"[{text}]", text.replace("(", "[").replace(")", "]")):
        try:
            return json.loads(candidate)
        except (ValueError, RecursionError):
            continue
    return [item.strip() for item in text.split(",")] if "," in text else text
