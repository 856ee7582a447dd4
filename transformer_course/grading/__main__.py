"""Grade students' notebooks: ``python -m transformer_course.grading *.ipynb``.

Every notebook runs from top to bottom, in a process of its own. What the checks of its exercises
say goes into grades.csv and grades.html.

The limits are for accidents, they are not a sandbox, and a student who wants to can make a check
say "correct". So run strangers' notebooks only where nothing can be lost, such as in a container,
and read the answers that count.
"""

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from glob import glob
from multiprocessing.pool import ThreadPool
from pathlib import Path

from transformer_course.grading.limited_run import Limits
from transformer_course.grading.outcomes import (
    CORRECT,
    NOT_GRADED,
    Row,
    as_csv,
    as_page,
    course_exercises,
    grade_notebook,
)
from transformer_edu.model.refusals import require_whole
from transformer_edu.training.machine.atomic_files import replace_file, require_writable
from transformer_edu.training.machine.failures import one_line_errors

ABOUT = "Run students' notebooks and write down how each exercise came out. This is no sandbox."
COURSE = Path(__file__).resolve().parents[2] / "notebooks"


@one_line_errors
def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line, grade one notebook after another, and write the table and the page.

    Both files are written again after every notebook, so Ctrl-C keeps what is graded.

    Returns:
        The exit status: 0, 1 after an error, which is told in one line, 130 after Ctrl-C. A
        notebook that cannot be graded is an error too; the others are still graded.
    """
    chosen = _parser().parse_args(arguments)
    for name in ("cell_seconds", "seconds", "memory", "jobs"):
        require_whole(name, getattr(chosen, name))
    for name in ("csv", "page"):
        require_writable(name, getattr(chosen, name))
    grade = partial(
        grade_notebook,
        exercises=course_exercises(chosen.course),
        limits=Limits(chosen.cell_seconds, chosen.seconds, chosen.memory),
        lesson=chosen.lesson,
    )
    files = [file for name in chosen.files for file in _files(name)]
    graded, status = [], 0
    with ThreadPool(chosen.jobs) as pool:  # Ctrl-C ends its threads
        for rows in pool.imap(grade, files):
            graded += rows
            replace_file(chosen.csv, [as_csv(graded).encode("utf-8-sig", "backslashreplace")])
            replace_file(chosen.page, [as_page(graded).encode("utf-8", "backslashreplace")])
            status |= _report(rows)
    print(f"{chosen.csv} and {chosen.page} hold all outcomes and hints")
    return status


def _files(name: str) -> list[str]:
    """The files that a name or a pattern means; Windows leaves patterns to the program."""
    return [name] if Path(name).exists() else sorted(glob(name)) or [name]


def _report(rows: list[Row]) -> int:
    """Say how one notebook went. Returns 1 if it could not be graded, otherwise 0."""
    file, outcomes = rows[0].file, [row.outcome for row in rows if row.exercise]
    if rows[0].outcome == NOT_GRADED:
        print(f"error: {file}: {rows[0].hint}", file=sys.stderr, flush=True)
        return 1
    print(f"{file}: {outcomes.count(CORRECT)} of {len(outcomes)} correct", flush=True)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m transformer_course.grading", description=ABOUT)
    parser.add_argument("files", nargs="+", help="students' copies of lessons, with their answers")
    parser.add_argument("--lesson", type=int, help="accept only this lesson, such as 2")
    parser.add_argument(
        "--course",
        type=Path,
        default=COURSE,
        help="folder of the lessons; the one beside the package",
    )
    parser.add_argument("--csv", type=Path, default=Path("grades.csv"), help="(grades.csv)")
    parser.add_argument("--page", type=Path, default=Path("grades.html"), help="(grades.html)")
    usual = Limits()
    for name, value, meaning in (
        ("cell-seconds", usual.cell_seconds, "a cell that takes longer is stopped"),
        ("seconds", usual.seconds, "for a whole notebook"),
        ("memory", usual.memory, "gigabytes, where the system can limit it"),
        ("jobs", 1, "notebooks at the same time"),
    ):
        parser.add_argument(f"--{name}", type=int, default=value, help=f"{meaning} ({value})")
    return parser


if __name__ == "__main__":
    sys.exit(main())
