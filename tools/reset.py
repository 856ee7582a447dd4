"""Set an exercise of a working copy back to its three dots: ``python -m tools.reset 2.1``.

The cell gets the lesson's own text again, and its output goes. Everything else in the copy stays as
it is. The copy as it was is kept next to it first, under a name that ends in ``.bak``. A class that
``my_transformer.py`` keeps stays there.
"""

if __name__ == "__main__":  # before the imports that take seconds
    from transformer_edu.training.machine.failures import run_command

    run_command("tools.reset")

import argparse
import json
import re
import warnings
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from tools.exercises import exercise_indices, number_of
from tools.notebooks import lesson_paths, read
from tools.working_copies import ROOT, is_trusted, sign
from transformer_course.kept_files import SavedMeanwhileError, name_from, replace_unchanged
from transformer_edu.training.machine.failures import FAILED, one_line_errors, report

DONE = (
    "Exercise {number} in {folder}/{name} waits again. The copy as it was is kept as {kept}. If "
    "the lesson is open in JupyterLab, choose File, Reload Notebook from Disk."
)
NOTHING = "Exercise {number} in {folder}/{name} has the lesson's own text already."


class ResetError(Exception):
    """An exercise that cannot be reset; the message says why. No file was changed."""


def reset(number: str, copies: Path, *, root: Path = ROOT) -> str:
    """Set one exercise of the reader's copies back.

    Args:
        number: Such as "2.1".
        copies: The folder of the reader's copies.
        root: The repository, whose lessons are the originals.

    Returns:
        What was done, in words.

    Raises:
        ResetError: If there is no such exercise, or its cell cannot be found in the copy.
        OSError: If a file cannot be read or written.
    """
    lesson, original = _original(number, root)
    copy, said = copies / lesson.name, {"number": number, "folder": copies.name}
    if copy.is_dir():
        raise ResetError(f"{copies.name}/{copy.name} must be a notebook, got a folder")
    if not copy.is_file():
        raise ResetError(f"there is no {copies.name}/{copy.name}: `make lab` makes it")
    before = copy.read_bytes()
    try:
        stored = json.loads(before)
        with warnings.catch_warnings(action="ignore"):  # two cells with one id, perhaps
            notebook = nbformat.reads(before.decode(), as_version=4)
        indices = [i for i in exercise_indices(notebook) if number_of(notebook, i) == number]
        cells = [stored["cells"][index] for index in indices]
        sources = ["".join(cell["source"]) for cell in cells]
    except Exception as error:  # whatever a damaged file holds
        raise ResetError(f"{copy.name} is damaged ({type(error).__name__})") from None
    if len(cells) != 1:
        wanted = f"hold exercise {number} once, under its own heading"
        raise ResetError(f"{copy.name} must {wanted}, got {len(cells)} times")
    if sources[0] == original and cells[0]["cell_type"] == "code":
        return NOTHING.format(name=copy.name, **said)
    cells[0] |= {"source": original.splitlines(keepends=True), "outputs": []}
    cells[0] |= {"cell_type": "code", "execution_count": None}  # one key makes it Markdown
    cells[0].pop("attachments", None)
    # Half an emoji cannot be written as text: JSON writes it with a backslash.
    after = f"{json.dumps(stored, indent=1, ensure_ascii=False)}\n"
    content = after.encode(errors="backslashreplace")
    trusted = is_trusted(before)
    try:
        kept = replace_unchanged(copy, before, content, keep=True)
    except SavedMeanwhileError:
        raise ResetError(f"{copy.name} was saved at this very moment: try again") from None
    if kept is None:  # the same command was quicker
        return NOTHING.format(name=copy.name, **said)
    if trusted:
        sign(content)
    return DONE.format(name=copy.name, kept=name_from(copies, kept), **said)


def _original(number: str, root: Path) -> tuple[Path, str]:
    """The lesson of an exercise, and the text of its cell."""
    if re.fullmatch(r"\d{1,2}\.\d{1,2}", number):
        wanted = int(number.split(".")[0])
        lessons = [lesson for lesson in lesson_paths(root) if int(lesson.name[:2]) == wanted]
        if not lessons:
            raise ResetError(f"notebooks/ has no lesson {wanted}, got exercise {number}")
        notebook: NotebookNode = read(lessons[0])
        for index in exercise_indices(notebook):
            if number_of(notebook, index) == number:
                return lessons[0], notebook.cells[index].source
        raise ResetError(f"{lessons[0].name} has no exercise {number}")
    wanted = "the number of one, as in `make reset EXERCISE=2.1`"
    raise ResetError(f"exercise must be {wanted}, got {number!r}")


@one_line_errors
def main(arguments: list[str] | None = None) -> int:
    """The command. Returns the exit status: 1 if nothing was reset."""
    about = "Set one exercise in work/ back to its three dots; the copy as it was is kept."
    parser = argparse.ArgumentParser(prog="python -m tools.reset", description=about)
    parser.add_argument("exercise", help="its number, such as 2.1")
    try:
        exercise = re.sub(r"^0(?=\d)", "", parser.parse_args(arguments).exercise.strip())
        print(reset(exercise, ROOT / "work"))
    except ResetError as error:
        report(f"error: {error}")
        return FAILED
    return 0
