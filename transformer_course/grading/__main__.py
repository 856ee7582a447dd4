"""Grade students' notebooks: ``python -m transformer_course.grading *.ipynb``.

Every notebook runs from top to bottom, in a process of its own. What the checks of its exercises
say goes into grades.csv and grades.html.

The limits are for accidents, they are not a sandbox, and a student who wants to can make a check
say "correct". So run strangers' notebooks only where nothing can be lost, such as in a container,
and read the answers that count.
"""

if __name__ == "__main__":  # before the imports that take seconds
    from transformer_edu.training.machine.failures import run_command

    run_command("transformer_course.grading.__main__")

import argparse
import hashlib
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from glob import glob
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import BinaryIO

from transformer_course.grading.limited_run import Limits
from transformer_course.grading.outcomes import (
    CORRECT,
    NOT_GRADED,
    Row,
    as_csv,
    as_page,
    course_exercises,
    grade_notebook,
    outcomes_in,
)
from transformer_course.kept_files import (
    SavedMeanwhileError,
    back_up,
    content_of,
    name_from,
    replace_unchanged,
)
from transformer_edu.model.refusals import require_whole
from transformer_edu.training.machine.atomic_files import lock, require_writable
from transformer_edu.training.machine.failures import one_line_errors

ABOUT = "Run students' notebooks and write down how each exercise came out. This is no sandbox."
MORE = (
    "Two commands of their own, which run no student's code: inventory --help, examination --help"
)
COURSE = Path(__file__).resolve().parents[2] / "notebooks"


@one_line_errors
def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line, grade one notebook after another, and write the table and the page.

    Both files are written again after every notebook, so Ctrl-C keeps what is graded. A former
    table with an outcome that the new one has not is kept as a copy.

    Returns:
        The exit status: 0, 1 after an error, which is told in one line, 130 after Ctrl-C. A
        notebook that cannot be graded is an error too; the others are still graded.
    """
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if arguments[:1] in (["inventory"], ["examination"]):
        from transformer_course.examination.commands import examination_command, inventory_command

        command = inventory_command if arguments[0] == "inventory" else examination_command
        return command(arguments[1:])
    chosen = _parser().parse_args(arguments)
    chosen.page = chosen.page or Path(chosen.csv.parent, f"{chosen.csv.stem}.html")
    for name in ("cell_seconds", "seconds", "memory", "jobs"):
        require_whole(name, getattr(chosen, name))
    files = _files(chosen.files)
    _refuse_files_of_others(chosen, files)
    grade = partial(
        grade_notebook,
        exercises=course_exercises(chosen.course),
        limits=Limits(chosen.cell_seconds, chosen.seconds, chosen.memory),
        lesson=chosen.lesson,
    )
    # What a notebook does to its own run is told in the table, and not as a task's traceback.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    graded, status = [], 0
    with (
        _memory("csv", chosen) as table,
        _memory("page", chosen) as page,
        _former_outcomes(chosen.csv),
        ThreadPool(min(chosen.jobs, len(files))) as pool,  # Ctrl-C ends its threads
    ):
        for rows in pool.imap(grade, files):
            graded += rows
            _write(chosen.csv, table, as_csv(graded).encode("utf-8-sig", "backslashreplace"))
            _write(chosen.page, page, as_page(graded).encode("utf-8", "backslashreplace"))
            status |= _report(rows)
    print(f"{chosen.csv} and {chosen.page} hold all outcomes and hints")
    return status


def _files(names: Sequence[str]) -> list[str]:
    """The files that names or patterns mean, each once; Windows leaves patterns to the program."""
    files: dict[str, str] = {}
    for name in names:
        for file in [name] if Path(name).exists() else sorted(glob(name)) or [name]:
            files.setdefault(os.path.abspath(file), file)
    return list(files.values())


def _refuse_files_of_others(chosen: argparse.Namespace, notebooks: Sequence[str]) -> None:
    """Refuse to write over what this command has not written, before anything runs.

    Raises:
        OSError: If a file cannot be written, or holds something else.
        ValueError: If a file is a notebook, or both are the same.
    """
    for name in ("csv", "page"):
        path = getattr(chosen, name)
        require_writable(name, path)
        if path.suffix == ".ipynb" or any(_is_same(path, Path(file)) for file in notebooks):
            raise ValueError(f"{name} must not be a notebook, got {path}")
        if content_of(path) is not None and not chosen.overwrite and not _is_own(path):
            raise FileExistsError(
                f"{name} must be a new file, or one that this command has written and nobody has "
                f"changed, got {path}: choose another name, or replace it with --overwrite"
            )
    if _is_same(chosen.csv, chosen.page):
        raise ValueError(f"csv and page must be two files, got {chosen.csv} and {chosen.page}")


def _is_same(path: Path, other: Path) -> bool:
    """Whether two paths mean one file, which need not exist; letters may differ in their case."""
    if path.exists() and other.exists():
        return path.samefile(other)
    return os.path.realpath(path).casefold() == os.path.realpath(other).casefold()


@contextmanager
def _memory(name: str, chosen: argparse.Namespace) -> Iterator[BinaryIO]:
    """The digests of what this command writes into a file, which nobody else can write meanwhile.

    Raises:
        BlockingIOError: If another process grades into that file. A disk without locks stops
            nobody.
    """
    path = getattr(chosen, name)
    with _memory_file(path).open("a+b") as memory:
        memory.seek(0)
        try:
            lock(memory.fileno())
        except (BlockingIOError, PermissionError):
            wanted = f"{name} must be a file into which no other process grades"
            raise BlockingIOError(f"{wanted}, got {path}: wait, or choose another name") from None
        except OSError:
            pass
        if chosen.overwrite and (present := content_of(path)) is not None:
            if not _is_own(path):
                print(f"{path} is kept as {back_up(path)}", flush=True)
            _remember(memory, present)
        yield memory


@contextmanager
def _former_outcomes(path: Path) -> Iterator[None]:
    """Copy a table first; the copy stays if the block has left out one of its outcomes."""
    former = outcomes_in(content_of(path) or b"")
    names = set(os.listdir(path.parent))
    kept = back_up(path) if former else ""
    try:
        yield
    finally:  # also after Ctrl-C
        if lost := len(former - outcomes_in(content_of(path) or b"")):
            held = "one outcome" if lost == 1 else f"{lost} outcomes"
            print(f"{path} held {held} that it holds no more, and is kept as {kept}", flush=True)
        elif kept and kept not in names:
            (path.parent / kept).unlink()


def _write(path: Path, memory: BinaryIO, content: bytes) -> None:
    """Replace a file of this command's; what somebody has changed while it runs is kept."""
    before = content_of(path)
    memory.seek(0)
    keep = before is not None and _digest(before) not in memory.read().split()
    _remember(memory, content)  # first: a command that is killed has still written its file
    try:
        if copy := replace_unchanged(path, before, content, keep=keep):
            kept = name_from(path.parent, copy)
            print(f"{path} was changed while it was written, and is kept as {kept}", flush=True)
    except SavedMeanwhileError:  # what was saved is kept now
        _write(path, memory, content)


def _remember(memory: BinaryIO, content: bytes) -> None:
    memory.write(b"\n" + _digest(content))  # after the half of a line, if one was killed
    memory.flush()


def _memory_file(path: Path) -> Path:
    path = Path(os.path.realpath(path))
    return path.with_name(f".{path.name}.written")


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def _is_own(path: Path) -> bool:
    """Whether this command has written what a file holds."""
    return _digest(path.read_bytes()) in (content_of(_memory_file(path)) or b"").split()


def _report(rows: list[Row]) -> int:
    """Say how one notebook went. Returns 1 if it could not be graded, otherwise 0."""
    file, outcomes = rows[0].file, [row.outcome for row in rows if row.exercise]
    if rows[0].outcome == NOT_GRADED:
        print(f"error: {file}: {rows[0].hint}", file=sys.stderr, flush=True)
        return 1
    print(f"{file}: {outcomes.count(CORRECT)} of {len(outcomes)} correct", flush=True)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m transformer_course.grading", description=ABOUT, epilog=MORE
    )
    parser.add_argument("files", nargs="+", help="students' copies of lessons, with their answers")
    parser.add_argument("--lesson", type=int, help="accept only this lesson, such as 2")
    parser.add_argument(
        "--course",
        type=Path,
        default=COURSE,
        help="folder of the lessons; the one beside the package",
    )
    parser.add_argument("--csv", type=Path, default=Path("grades.csv"), help="(grades.csv)")
    parser.add_argument("--page", type=Path, help="the table's name, with .html")
    parser.add_argument(
        "--overwrite",
        action="store_true",
        help="replace these two files also if this command has not written them",
    )
    usual = Limits()
    for name, value, meaning in (
        ("cell-seconds", usual.cell_seconds, "a cell that takes longer is stopped"),
        ("seconds", usual.seconds, "for a whole notebook"),
        ("memory", usual.memory, "gigabytes, where the system can limit it"),
        ("jobs", 1, "notebooks at the same time"),
    ):
        parser.add_argument(f"--{name}", type=int, default=value, help=f"{meaning} ({value})")
    return parser
