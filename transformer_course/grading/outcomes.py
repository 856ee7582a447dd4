"""Which exercises a lesson has, how each came out in a student's notebook, and all in a table.

The outcomes correct, hint and waiting are those of the checks. The others say why there is none.
"""

import csv
import errno
import html
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from transformer_course.grading.limited_run import SAID, STOPPED, Limits, Run, run_limited

CORRECT, HINT, WAITING = "correct", "hint", "waiting"
ERROR, CHANGED, DELETED, NOT_RUN = "error", "check changed", "deleted", "not run"
REMARK, NOT_GRADED = "remark", "not graded"  # about the whole notebook
LARGEST_OUTPUT = 5_000_000  # characters of a cell; ten times what a whole lesson stores
LONGEST_HINT = 500
HEADING = re.compile(r"(?m)^### Exercise (\d+\.\d+)")
CALL_BEGINS = re.compile(r"(?m)^(check_\w+)\(")
CALL = re.compile(r"(?m)^(check_\w+)\(.*", re.DOTALL)


@dataclass(frozen=True)
class Exercise:
    """An exercise of the course.

    Attributes:
        number: Such as "2.1".
        check: The name of its check.
        call: How its cell ends, from the name of the check on.
    """

    number: str
    check: str
    call: str

    @property
    def lesson(self) -> int:
        """The number of its lesson."""
        return int(self.number.split(".")[0])


@dataclass(frozen=True)
class Row:
    """One line of the table. Without an exercise it is about the whole notebook."""

    file: str
    exercise: str
    outcome: str
    hint: str = ""


def course_exercises(folder: Path) -> list[Exercise]:
    """The exercises of all lessons in a folder, in order.

    Raises:
        FileNotFoundError: If the folder holds no lesson with an exercise.
        ValueError: If a lesson is damaged.
    """
    found = []
    for path in sorted(folder.glob("[0-9][0-9]_*.ipynb")):
        try:
            found += _exercises(nbformat.read(path, as_version=4))
        except Exception as error:  # whatever a damaged file holds
            wanted = "hold whole lessons with numbered exercises"
            raise ValueError(f"course must {wanted}, got {path}") from error
    if not found:
        raise FileNotFoundError(f"course must be the folder of the lessons, got {folder}")
    return found


def _exercises(lesson: NotebookNode) -> Iterator[Exercise]:
    """The exercises of a lesson; an error if one has no number or no check."""
    numbers = []
    for cell in lesson.cells:
        numbers += HEADING.findall(cell.source)
        if "exercise" in cell.metadata.get("tags", []):
            call = CALL.search(cell.source)
            yield Exercise(numbers[-1], call[1], call[0].rstrip())


def read_sources(path: Path) -> list[str]:
    """The code of every cell of a notebook as it is stored; empty for a cell of text.

    Half a character, such as half an emoji, becomes the sign for an unknown character.

    Raises:
        ValueError: If the file is no notebook; the message says why.
    """
    try:
        if path.exists() and not path.is_file():
            raise OSError(errno.EINVAL, "it is not a file")
        cells = json.loads(path.read_bytes())["cells"]
        return [_code(cell["source"]) if cell["cell_type"] == "code" else "" for cell in cells]
    except FileNotFoundError:
        raise ValueError("There is no such file.") from None
    except OSError as error:
        raise ValueError(f"The file could not be read: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise ValueError("This is not a notebook: the file is damaged, or not JSON.") from None
    except (KeyError, TypeError):
        raise ValueError("This is not a notebook of format 4: it has no cells.") from None


def _code(source: str | list[str]) -> str:
    """A cell's code as one text, without halves of characters."""
    return "".join(source).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def grade_notebook(
    file: str, exercises: Sequence[Exercise], limits: Limits, lesson: int | None = None
) -> list[Row]:
    """Run a notebook and say how each exercise of its lesson came out.

    Args:
        file: The path of the notebook, as the table will name it.
        exercises: Those of the whole course.
        limits: What the notebook may use.
        lesson: The lesson that is asked for; whichever it is when None.

    Returns:
        A row for each exercise and for each remark; a single row if there is nothing to grade, or
        if anything fails, so that one notebook does not stop the others.
    """
    try:
        return _rows(file, exercises, limits, lesson)
    except Exception as error:
        words = _short(f"It could not be graded: {type(error).__name__} {error}")
        return [Row(file, "", NOT_GRADED, words)]


def _rows(
    file: str, exercises: Sequence[Exercise], limits: Limits, lesson: int | None
) -> list[Row]:
    """The rows of a notebook, where nothing fails that may not fail."""
    try:
        sources = read_sources(Path(file))
    except ValueError as error:
        return [Row(file, "", NOT_GRADED, str(error))]
    code = "\n".join(sources)
    lessons = Counter(each.lesson for each in exercises if _names(each.check, code))
    if not lessons:
        return [Row(file, "", NOT_GRADED, "The notebook has no exercise of the course.")]
    own = lesson if lesson in lessons else lessons.most_common(1)[0][0]
    if lesson not in (None, own):
        return [Row(file, "", NOT_GRADED, f"This is lesson {own}, not lesson {lesson}.")]
    run = run_limited(sources, limits)
    if 0 in run.errors:
        return [Row(file, "", NOT_GRADED, f"The limits failed: {': '.join(run.errors[0])}")]
    rows = [
        Row(file, each.number, *_outcome(each, sources, run, limits))
        for each in exercises
        if each.lesson == own
    ]
    others = (f"It also has exercises of lesson {each}." for each in lessons if each != own)
    remarks = [*others, *_remarks(sources, run, limits)]
    return rows + [Row(file, "", REMARK, words) for words in remarks]


def _outcome(
    exercise: Exercise, sources: Sequence[str], run: Run, limits: Limits
) -> tuple[str, str]:
    """The outcome of an exercise, and what to say about it. The last cell that checks it counts."""
    if not any(_names(exercise.check, source) for source in sources):
        return DELETED, f"No cell calls {exercise.check}."
    numbered = enumerate(sources, start=1)
    call = f"\n{_trimmed(exercise.call)}\n"
    called = [number for number, source in numbered if call in f"\n{_trimmed(source)}\n"]
    if not called:
        return CHANGED, f"The cell must call its check like this: {exercise.call}"
    number = called[-1]
    if number not in run.finished:
        return NOT_RUN, run.reason
    printed = run.printed.get(number, "")
    every = SAID.findall(printed)
    said = [right or waiting for which, right, waiting in every if which == exercise.number]
    begun, ended = CALL_BEGINS.findall(sources[number - 1]), len(every)
    if number in run.errors and (not said or exercise.check in begun[ended : ended + 1]):
        before = f"\n{_trimmed(sources[number - 1])}\n".partition(call)[0]
        if len(CALL_BEGINS.findall(before)) > ended:  # of merged cells
            return NOT_RUN, "Its cell stopped at an exercise before."
        name, words = run.errors[number]
        if name == "AnswerError":
            return HINT, _short(words)
        return ERROR, _told(name, words, limits)
    if not said:
        return CHANGED, f"The cell ran, but {exercise.check} said nothing."
    return (CORRECT if said[-1] == "correct" else WAITING), ""


def _remarks(sources: Sequence[str], run: Run, limits: Limits) -> Iterator[str]:
    """What else happened in a run: errors outside the exercises, too much output, an early end."""
    for number, (name, words) in run.errors.items():
        if "check_" not in sources[number - 1]:
            yield f"Cell {number}: {_told(name, words, limits)}"
    for number, size in run.sizes.items():
        if size > LARGEST_OUTPUT:
            yield f"Cell {number} wrote {size / 1e6:.0f} MB; only the end was read."
    if run.reason:
        yield run.reason


def _told(name: str, words: str, limits: Limits) -> str:
    """The error of a cell, in words."""
    if name == STOPPED:
        return f"It was stopped after {limits.cell_seconds} seconds."
    if name == "MemoryError" or "allocate memory" in words:
        return f"It needs more than {limits.memory} GB of memory."
    return _short(f"{name}: {words}")


def _short(words: str) -> str:
    """Words on one line, cut where they are too long for a table."""
    line = " ".join(words.split())
    return line if len(line) <= LONGEST_HINT else f"{line[:LONGEST_HINT]} …"


def _trimmed(source: str) -> str:
    """Code without the spaces at the ends of its lines, to be compared and not to be run."""
    return "\n".join(map(str.rstrip, source.splitlines()))


def _names(check: str, source: str) -> bool:
    """Whether code names a check, as a whole word."""
    return re.search(rf"\b{check}\b", source) is not None


COLUMNS = ("file", "exercise", "outcome", "hint")
STYLE = """\
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }
div { overflow-x: auto; }
table { border-collapse: collapse; margin-bottom: 2rem; width: 100%; }
caption { font-weight: bold; text-align: left; }
th, td { border-bottom: 1px solid #8888; padding: 0.3em 0.6em; text-align: left; }
th, td { vertical-align: top; }
[scope="row"] { min-width: 8em; overflow-wrap: anywhere; }
.outcome { white-space: nowrap; }
.correct { color: #00735a; }
.hint { color: #a8560a; }
@media (prefers-color-scheme: dark) { .correct { color: #5ccfab; } .hint { color: #ffab5e; } }
"""
PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Grades</title>
<style>
{style}</style>
</head>
<body>
<h1>Grades</h1>
<div tabindex="0" role="region" aria-label="Outcomes"><table>
<caption>Notebooks, by exercise and outcome</caption>
{summary}</table></div>
<div tabindex="0" role="region" aria-label="Notebooks"><table>
<caption>Every notebook</caption>
{rows}</table></div>
</body>
</html>
"""


def as_csv(rows: Iterable[Row]) -> str:
    """A table with a line for each row. A spreadsheet takes no cell of it for a formula."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow(_cell(getattr(row, column)) for column in COLUMNS)
    return file.getvalue()


def _cell(text: str) -> str:
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text


def outcomes_in(table: bytes) -> set[tuple[str, str, str]]:
    """Each file, exercise and outcome in a table of `as_csv`; none if it is something else."""
    rows = csv.DictReader(io.StringIO(table.decode("utf-8-sig", "replace"), newline=""))
    try:
        return {(row["file"], row["exercise"], row["outcome"]) for row in rows if row["exercise"]}
    except (csv.Error, KeyError):
        return set()


def as_page(rows: Sequence[Row]) -> str:
    """A page in HTML: how often each outcome occurs in each exercise, then a line for each row."""
    counts = Counter((row.exercise, row.outcome) for row in rows if row.exercise)
    outcomes = dict.fromkeys([CORRECT, HINT, WAITING, *(outcome for _, outcome in counts)])
    numbers = sorted({number for number, _ in counts}, key=lambda n: [*map(int, n.split("."))])
    summary = _heads(["exercise", *outcomes])
    for number in numbers:
        summary += _line(number, *(str(counts[number, outcome]) for outcome in outcomes))
    lines = _heads(COLUMNS)
    for row in rows:
        lines += _line(row.file, row.exercise, row.outcome, row.hint, mark=row.outcome)
    return PAGE.format(style=STYLE, summary=summary, rows=lines)


def _heads(names: Iterable[str]) -> str:
    return "<tr>" + "".join(f'<th scope="col">{name}</th>' for name in names) + "</tr>\n"


def _line(head: str, *cells: str, mark: str = "") -> str:
    """A line of a table; mark is the cell that gets a color."""
    text = f'<tr><th scope="row">{html.escape(head)}</th>'
    for cell in cells:
        kind = f' class="outcome {mark}"' if cell == mark else ""
        text += f"<td{kind}>{html.escape(cell)}</td>"
    return text + "</tr>\n"
