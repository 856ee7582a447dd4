"""What the editions of the lessons share: slides, student edition, handouts and site.

Every command takes lessons, by number or as files, and a folder. An edition that cannot be written
ends in one sentence on the standard error, and in the status 1.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from tools.notebooks import lesson_paths


class EditionError(Exception):
    """An edition that cannot be written; the message is one sentence."""


def edition_command(
    write: Callable[[list[Path], Path], str],
    arguments: Sequence[str] | None,
    *,
    about: str,
    to: Path,
) -> int:
    """Read a command line and write an edition.

    Args:
        write: Takes the lessons that are named, none for all, and the folder; returns what to say.
        arguments: Of the command line; None for those of this process.
        about: What the command does.
        to: The folder that is written if none is named.

    Returns:
        The exit status: 0, or 1 after an error, which is told in one line.
    """
    parser = argparse.ArgumentParser(description=about)
    lessons = "numbers, such as 02, or notebooks; all lessons when none"
    parser.add_argument("lessons", nargs="*", help=lessons)
    parser.add_argument("--to", default=to, help="the folder to write")
    options = parser.parse_args(arguments)
    try:
        if options.to == "":  # which Path would take for the current folder
            raise EditionError("to must be a folder, got an empty text")
        folder = Path(options.to)
        is_taken = os.path.lexists(folder) and not folder.is_dir()
        if is_taken or "\0" in str(folder):
            raise EditionError(f"to must be a folder or a new name, got {str(folder)!r}")
        print(write([named_lesson(name) for name in options.lessons], folder))
    except (EditionError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def named_lesson(name: str) -> Path:
    """The notebook that a number or the path of a file means.

    Args:
        name: Such as "2", "02" or "notebooks/02_attention.ipynb".

    Raises:
        EditionError: If there is no such lesson and no such notebook.
    """
    numbered = {path.name[:2]: path for path in lesson_paths()}
    if name and name.zfill(2) in numbered:
        return numbered[name.zfill(2)]
    if (path := Path(name)).suffix == ".ipynb" and path.is_file():
        return path
    numbers = f"{min(numbered)} to {max(numbered)}"
    raise EditionError(f"a lesson must be a number from {numbers} or a notebook, got {name}")


def remove_old_lessons(folder: Path, ending: str) -> None:
    """Remove what an earlier edition wrote for lessons that have another name today.

    Args:
        folder: Of the edition.
        ending: Of its files, such as ".html".
    """
    names = {path.stem for path in lesson_paths()}
    for path in folder.glob(f"[0-9][0-9]_*{ending}"):
        if path.stem not in names:
            path.unlink()
