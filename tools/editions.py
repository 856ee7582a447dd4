"""What the editions of the lessons share: slides, student edition, handouts and site.

Every command takes lessons, by number or as files, and a folder. An edition that cannot be written
ends in one sentence on the standard error, and in the status 1.
"""

import argparse
import hashlib
import os
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from tools.notebooks import lesson_paths, read
from transformer_course.kept_files import content_of, replace_unchanged
from transformer_edu.training.machine.failures import INTERRUPTED, report

INDEX = "index.html"


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
        The exit status: 0, 1 after an error, which is told in one line, or 130 after Ctrl-C.
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
        named = map(named_lesson, options.lessons)
        lessons = list({path.resolve(): path for path in named}.values())
        if len({path.stem for path in lessons}) < len(lessons):
            got = ", ".join(map(str, lessons))
            raise EditionError(f"lessons must have different names, got {got}")
        print(write(lessons, folder))
    except (EditionError, OSError) as error:
        report(str(error))
        return 1
    except KeyboardInterrupt:
        report("Interrupted.")
        return INTERRUPTED
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
        try:
            read(path)
        except Exception as error:  # whatever a damaged file holds
            got = f"the file {path} ({type(error).__name__})"
            raise EditionError(f"a lesson must be a notebook, got {got}") from None
        return path
    numbers = f"{min(numbered)} to {max(numbered)}"
    raise EditionError(f"a lesson must be a number from {numbers} or a notebook, got {name}")


def require_no_loss(folder: Path, names: Collection[str]) -> None:
    """Make a folder ready for an edition.

    Args:
        folder: Made if it does not exist.
        names: Of the files that are about to be written.

    Raises:
        EditionError: If a file of such a name is there that no edition has written, or one that
            somebody has changed since.
    """
    folder.mkdir(parents=True, exist_ok=True)
    present = (folder / name for name in sorted(names) if os.path.lexists(folder / name))
    if others := [path.name for path in present if not is_untouched(path)]:
        wanted = f"{folder} must hold no file of others that would be lost"
        raise EditionError(
            f"{wanted}, got {', '.join(others)}: move it elsewhere, or delete it if it is but an "
            "older edition, or write elsewhere with --to"
        )


def put(file: Path, content: bytes) -> None:
    """Write a file of an edition; its last line tells later what it held, as a digest."""
    before = content_of(file)
    require_no_loss(file.parent, [file.name])
    replace_unchanged(file, before, content + _last_line(file, content))


def is_untouched(file: Path) -> bool:
    """Whether a file is an edition's, as it was written."""
    content = file.read_bytes() if file.is_file() else b""
    size = len(_last_line(file, b""))
    return content[-size:] == _last_line(file, content[:-size])


def _last_line(file: Path, content: bytes) -> bytes:
    """A comment in the language of the file, with the digest of what stands before it."""
    comment = "% {}" if file.suffix == ".pdf" else "<!-- {} -->"
    digest = hashlib.sha256(content).hexdigest()
    return f"\n{comment.format(f'Written by transformer-edu, SHA-256 {digest}')}\n".encode()
