"""Answers that were handed in, read as data: JSON from notebooks, CSV typed from paper.

Nothing of a file is run. A file that cannot be read gives a sheet with a problem, so that one file
does not stop the others.
"""

import ast
import csv
import io
import json
import os
import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

from transformer_course.examination.examinations import EXAMINATIONS, tasks_and_keys, variant
from transformer_course.examination.inventory import concepts_of
from transformer_course.examination.question import COMMA
from transformer_edu.data.parallel_text import read_lines

LARGEST = 200_000  # bytes of a student's file
LONGEST = 2000  # characters of an answer that is read as Python
TYPED = str.maketrans("−–—‘’“”„{}", '---\'\'"""[]')  # noqa: RUF001


@dataclass(frozen=True)
class Sheet:
    """One student's answers.

    Attributes:
        file: Where they come from.
        name: Of the examination, or the form of the inventory.
        student: As the student or the list names them, letters with marks as one sign (NFC).
        answers: By the number of the part.
        problem: Why there are none; empty if all is well.
        note: What an instructor should look at.
    """

    file: str
    name: str = ""
    student: str = ""
    answers: dict[str, object] = field(default_factory=dict)
    problem: str = ""
    note: str = ""


def read_sheets(paths: Sequence[Path]) -> list[Sheet]:
    """All sheets of files and folders, each file once.

    Args:
        paths: Files ending in .json (one student) or .csv (a line for each student, typed by an
            instructor), or folders with files of students, which end in .json, each perhaps in a
            folder of its own.

    Raises:
        OSError: If there is no such file.
        ValueError: If a table has no columns sheet and student, others than its sheet has parts, or
            a list that is not in quotes.
    """
    read = (
        _from_table(path) if path.suffix.lower() == ".csv" else [_from_json(path)]
        for path in files_of(paths)[0]
    )
    return [sheet for sheets in read for sheet in sheets]


def files_of(paths: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """The files that read_sheets reads, and those in folders that it passes over; each once."""
    inside = [each for path in paths if path.is_dir() for each in _files_in(path)]
    named = [path for path in paths if not path.is_dir()]
    named += [each for each in inside if each.suffix.lower() == ".json"]
    read, found = ({os.path.realpath(each): each for each in these} for these in (named, inside))
    return list(read.values()), [each for place, each in found.items() if place not in read]


def numbers_of(name: str) -> list[str]:
    """The numbers of all parts of a sheet, as an examination or a form; none of anything else."""
    examination = name.partition("-")[0]
    if examination in EXAMINATIONS:
        return [number for number, *_ in tasks_and_keys(variant(examination, "", b""))]
    return [str(number) for number in range(1, len(concepts_of(name)) + 1)]


def _files_in(folder: Path) -> list[Path]:
    """The files in a folder and in those inside it, without hidden ones."""
    found = (each for each in sorted(folder.rglob("*")) if each.is_file())
    inside = ((each, each.relative_to(folder).parts) for each in found)
    return [each for each, parts in inside if not any(part[0] == "." for part in parts)]


def _from_table(path: Path) -> Iterator[Sheet]:
    """A sheet for each line with an answer. What was typed into a wrong place is refused."""
    text = "\n".join(read_lines(path)).replace("\r", "\n")
    rows = csv.reader(io.StringIO(text), strict=True)
    try:
        read = [(rows.line_num, len(row), _cells(row)) for row in rows if any(row)]
    except csv.Error as error:
        raise ValueError(f"{path} must be a table, got one with an error: {error}") from None
    (*_, head), *table = read or [(0, 0, [])]
    if not {"sheet", "student"} <= set(head):
        wanted = "the columns sheet and student, with commas between cells"
        raise ValueError(f"a table must have {wanted}, got {path}")
    for number, length, row in table:
        cells = dict(zip_longest(head, row, fillvalue=""))
        name, student = (cells.pop(column, "") for column in ("sheet", "student"))
        if len(row) > len(head) or any(map(_is_cut, cells.values())):
            got = f"other ones in row {number}"
            raise ValueError(
                f"{path} must have a cell for each column, a list in quotes, got {got}"
            )
        known = numbers_of(name)
        wrong = [c for c in head if head.count(c) > 1 or c not in ("sheet", "student", *known)]
        if known and wrong:
            wanted = f"no other columns than sheet, student, {', '.join(known)}"
            raise ValueError(f"{path} must have {wanted}, got {', '.join(wrong)}")
        if any(cells.values()):
            student = re.sub(r"^'(?=[=+@-])", "", student)  # as as_csv wrote it
            values = {part: _value(cell) for part, cell in cells.items()}
            absent = ", ".join(part for part in known if part not in cells)
            note = absent and f"The table has no column {absent}: nobody has an answer there."
            if length < len(head):  # a file may have been cut
                cut = (
                    f"Row {number} ends after {length} of {len(head)} cells: no answer in the rest."
                )
                note = f"{note} {cut}".strip()
            yield Sheet(str(path), name, unicodedata.normalize("NFC", student), values, note=note)


def _cells(row: Sequence[str]) -> list[str]:
    """The cells of a row, without the empty ones that a spreadsheet puts at its end."""
    cells = [cell.strip() for cell in row]
    while cells and not cells[-1]:
        cells.pop()
    return cells


def _is_cut(cell: str) -> bool:
    """Whether a cell holds a part of a list."""
    return any(cell.count(start) != cell.count(end) for start, end in ("[]", "()", "{}"))


def _from_json(path: Path) -> Sheet:
    """The sheet of a file that a notebook has written, or that somebody has made up."""
    if path.stat().st_size > LARGEST:
        return Sheet(str(path), problem=f"The file is larger than {LARGEST} bytes.")
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
        name, student, answers = (content[key] for key in ("sheet", "student", "answers"))
        if not isinstance(answers, dict) or not isinstance(name, str):
            raise TypeError
        cells = {part: _value(it) if isinstance(it, str) else it for part, it in answers.items()}
    except OSError as error:
        return Sheet(str(path), problem=f"The file cannot be read ({error.strerror}).")
    except (ValueError, TypeError, KeyError, RecursionError):
        return Sheet(str(path), problem="The file does not hold a sheet, a student and answers.")
    student = unicodedata.normalize("NFC", str(student or "").strip())
    return Sheet(str(path), name, student, cells)


def _value(text: str) -> object:
    """What a text says, in Python or JSON: a number, a list, a text in quotes, or the text itself.

    Nothing of it is run: literal_eval reads values only. A text such as "3,5" stays one, since it
    can be a number or a list.
    """
    text = text.translate(TYPED).strip(" ≈=~")
    if COMMA.fullmatch(text):
        return text
    for read in (ast.literal_eval, json.loads) if len(text) <= LONGEST else ():
        with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
            value = read(text)
            return text if value is None else value  # "None" is a word here
    return [item.strip() for item in text.split(",")] if "," in text else text
