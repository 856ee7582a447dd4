"""The commands ``inventory`` and ``examination`` of ``python -m transformer_course.grading``."""

import argparse
import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path

from transformer_course.examination import gain, inventory, marks
from transformer_course.examination.answers import files_of, read_sheets
from transformer_course.examination.examinations import (
    EXAMINATIONS,
    TITLES,
    read_secret,
    sheet_name,
    tasks_and_keys,
    variant,
)
from transformer_course.examination.sheets import as_article, as_notebook, as_page, tasks_of
from transformer_course.kept_files import content_of, name_from, replace_unchanged
from transformer_edu.data.parallel_text import read_lines

ABOUT = """\
{minutes} minutes, {points} points, a calculator. Points stand in brackets. Write numbers with a \
decimal point and two decimals or more, whole numbers and words as they are. Vectors and shapes \
are lists: [1, 0.5]. A list counts if all of it is right. Words and rows count from 1."""
NOT_READ = (
    "Not read: {names}. (A student hands in the .json file that the last cell of the notebook "
    "writes; a table of many students is named itself, not its folder.)"
)
IN_NOTEBOOK = " Replace the three dots. You may compute in more cells; only the values count."


def inventory_command(arguments: Sequence[str]) -> int:
    """Write the sheets or the keys of the inventory, or compare what a class has answered."""
    parser = argparse.ArgumentParser(
        prog="python -m transformer_course.grading inventory",
        description="The concept inventory: sheets for students, keys, or two tables compared.",
    )
    what = "sheets, key, example (invented answers), or tables: before after [four weeks later]"
    parser.add_argument("what", nargs="+", help=what)
    chosen = _with_folder(parser, arguments)
    match chosen.what:
        case ["sheets"]:
            files = {name: it for f in inventory.FORMS for name, it in inventory.sheets(f).items()}
        case ["key"]:
            files = {
                f"inventory-{form}-key.csv": inventory.key_table(form) for form in inventory.FORMS
            }
        case ["example"]:
            known = {"before-A": 0.2, "after-B": 0.6, "later-C": 0.55}
            files = {
                f"invented-{name}.csv": gain.invented_class(name[-1], share)
                for name, share in known.items()
            }
        case [before, after, *later] if len(later) < 2:
            paths = [Path(path) for path in (before, after, *later)]
            if len({path.resolve() for path in paths}) < len(paths):
                raise ValueError(f"inventory takes different files, got {' '.join(chosen.what)}")
            _name_others(paths)
            read = [gain.read_collection(path) for path in paths]
            files = gain.report(*read[:2], read[2] if later else None)
        case _:
            raise ValueError(f"inventory takes {what}, got {' '.join(chosen.what)}")
    return _write(files, chosen)


def examination_command(arguments: Sequence[str]) -> int:
    """Write the sheets or the keys of an examination, or mark what was handed in."""
    parser = argparse.ArgumentParser(
        prog="python -m transformer_course.grading examination",
        description="A variant of an examination for every student, its key, and the marks.",
    )
    parser.add_argument("what", choices=["sheets", "key", "mark"])
    parser.add_argument("name", choices=list(EXAMINATIONS), help="which examination")
    parser.add_argument("answers", nargs="*", type=_path, help="to mark: files and folders")
    parser.add_argument("--students", type=_path, required=True, help="a text file, a name a line")
    parser.add_argument("--secret", type=_path, required=True, help="a file; sheets makes it")
    chosen = _with_folder(parser, arguments)
    # Two files may write ä in two ways: as one sign, or as a and its dots.
    lines = [unicodedata.normalize("NFC", line) for line in read_lines(chosen.students)]
    students = [line for line in lines if line]
    if not students:
        raise ValueError(f"students must hold a name a line, got none in {chosen.students}")
    if wrong := [student for student in students if re.search(r"[\0-\x1f]", student)]:
        raise ValueError(f"students must hold a name a line, got {wrong[0]!r} as one")
    if len({_file_name(student).casefold() for student in students}) < len(students):
        raise ValueError(f"students must have different names, got {', '.join(students)}")
    secret = read_secret(chosen.secret, new=chosen.what == "sheets")
    if chosen.what == "sheets":
        files = _sheets(chosen.name, students, secret)
    elif chosen.what == "key":
        files = {f"key-{chosen.name}.csv": _key(chosen.name, students, secret)}
    else:
        sheets = read_sheets(chosen.answers)
        _name_others(chosen.answers)
        if not sheets:
            got = f"none in {', '.join(map(str, chosen.answers))}" if chosen.answers else "no file"
            raise ValueError(f"mark takes files or folders with answers, got {got}")
        for said in sorted({f"{sheet.file}: {sheet.note}" for sheet in sheets if sheet.note}):
            print(said)
        marked = marks.mark(chosen.name, sheets, students, secret)
        files = marks.report(chosen.name, marked, students)
    return _write(files, chosen)


def _name_others(paths: Sequence[Path]) -> None:
    """Say which files in folders are passed over."""
    if others := files_of(paths)[1]:
        print(NOT_READ.format(names=", ".join(map(str, others))))


def _sheets(name: str, students: Sequence[str], secret: bytes) -> dict[str, str]:
    """A notebook for each student, all sheets on paper, and a table for answers from paper."""
    files, articles, sheet = {}, [], sheet_name(name, secret)
    for student in students:
        questions = variant(name, student, secret)
        tasks, title = tasks_of(questions), TITLES[name]
        about = ABOUT.format(
            minutes=sum(question.minutes for question in questions),
            points=sum(question.points for question in questions),
        )
        file = f"{name}-{_file_name(student)}.ipynb"
        files[file] = as_notebook(title, about + IN_NOTEBOOK, sheet, student, tasks)
        articles.append(as_article(title, about, student, tasks))
    numbers = [number for number, *_ in tasks_and_keys(questions)]
    typed = [[sheet, student, *[""] * len(numbers)] for student in students]
    files[f"{name}-paper.html"] = as_page(TITLES[name], "\n".join(articles))
    files[f"{name}-answers.csv"] = inventory.as_csv([["sheet", "student", *numbers], *typed])
    return files


def _key(name: str, students: Sequence[str], secret: bytes) -> str:
    """The right answers of every student, a line for each."""
    solved = [tasks_and_keys(variant(name, student, secret)) for student in students]
    rows = [
        [student, *(_rounded(key) for *_, key in parts)]
        for student, parts in zip(students, solved, strict=True)
    ]
    return inventory.as_csv([["student", *(number for number, *_ in solved[0])], *rows])


def _rounded(key: object) -> str:
    """A key as an instructor reads it."""
    if isinstance(key, list | tuple):
        return "[" + ", ".join(map(_rounded, key)) + "]"
    return f"{key:.3f}" if isinstance(key, float) else str(key)


def _file_name(student: str) -> str:
    """A student's name without what a file's name cannot have."""
    return "".join(c if c.isalnum() or c in "-_." else "-" for c in student).strip(".")


def _path(text: str) -> Path:
    """A path; Path would take an empty text for the present folder."""
    if not text:
        raise argparse.ArgumentTypeError("it must be a path, got an empty text")
    return Path(text)


def _with_folder(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> argparse.Namespace:
    parser.add_argument("--to", type=_path, default=Path(), help="the folder to write (this one)")
    parser.add_argument(
        "--overwrite",
        action="store_true",
        help="replace files that are there, and keep a .bak of each",
    )
    return parser.parse_args(arguments)


def _write(files: dict[str, str], chosen: argparse.Namespace) -> int:
    """Write files, and refuse to replace others (FileExistsError)."""
    encodings = {".csv": "utf-8-sig"}  # without it, a spreadsheet takes ä for two signs
    paths = {
        chosen.to / name: text.encode(encodings.get(name[-4:], "utf-8"), "backslashreplace")
        for name, text in files.items()
    }
    before = {path: content_of(path) for path in paths}
    for path, content in paths.items():
        if before[path] not in (None, content) and not chosen.overwrite:
            raise FileExistsError(f"{path} exists: choose another folder, or add --overwrite")
    chosen.to.mkdir(parents=True, exist_ok=True)
    for path, content in paths.items():
        keep = before[path] not in (None, content)  # perhaps somebody has written into it
        copy = replace_unchanged(path, before[path], content, keep=keep)
        print(f"{path} (as it was: {name_from(chosen.to, copy)})" if copy else path)
    return 0
