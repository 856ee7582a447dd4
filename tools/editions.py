"""What the editions of the lessons share: slides, student edition, handouts and site.

Every command takes lessons, by number or as files, and a folder. An edition that cannot be written
ends in one sentence on the standard error, and in the status 1.
"""

import argparse
import hashlib
import os
import re
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from tools.notebooks import lesson_paths, read
from transformer_edu.training.machine.atomic_files import read_json, replace_file, write_json
from transformer_edu.training.machine.failures import INTERRUPTED, report

WRITTEN = ".written.json"  # what the editions have written into a folder: names and digests
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


def claim(folder: Path, names: Collection[str]) -> list[str]:
    """Make a folder ready for an edition, and remove what one wrote of lessons with other names.

    What the editions have written is remembered in the folder. If nothing is, as in a folder of an
    earlier version, files with the names of today's lessons are theirs.

    Args:
        folder: Made if it does not exist.
        names: Of the files that are about to be written.

    Returns:
        The names of all files that the editions will have written there.

    Raises:
        EditionError: If a file of such a name is there that no edition has written, or one that
            somebody has changed since.
    """
    folder.mkdir(parents=True, exist_ok=True)
    present, stems = {path.name for path in folder.iterdir()}, {p.stem for p in lesson_paths()}
    written = _written(folder)
    if written is None:
        written = {name: [] for name in present if Path(name).stem in stems}
        written |= {INDEX: []} if written else {}

    def is_others(name: str) -> bool:
        known = written.get(name)
        return known is None or (known != [] and _digest(folder / name) not in known)

    if others := sorted(filter(is_others, present.intersection(names))):
        wanted = f"{folder} must hold no file of others that would be lost"
        raise EditionError(f"{wanted}, got {', '.join(others)}: write elsewhere with --to")
    old = {name for name in written if re.match(r"\d\d_", name) and Path(name).stem not in stems}
    for name in old & present:
        if not is_others(name):
            (folder / name).unlink()
    claimed = {name: written.get(name, []) for name in sorted(written.keys() | set(names) - old)}
    write_json(folder / WRITTEN, claimed)
    return [name for name in claimed if name not in old]


def put(file: Path, content: bytes) -> None:
    """Write a file that is claimed. What it holds is remembered first, in case of a kill."""
    written = _written(file.parent) or {}
    written[file.name] = [_digest(file), hashlib.sha256(content).hexdigest()]
    write_json(file.with_name(WRITTEN), written)
    replace_file(file, [content])


def _written(folder: Path) -> dict[str, list[str]] | None:
    """By the names of files, digests of what they may hold: none known if an earlier version wrote
    them. None if the folder remembers nothing.
    """
    try:
        memory = read_json(folder / WRITTEN)
        known = memory if isinstance(memory, dict) else {name: [] for name in memory}
        return {name: list(known[name]) for name in known if Path(name).name == name}
    except (OSError, ValueError, TypeError):
        return None


def _digest(file: Path) -> str:
    """Of the content of a file; empty if there is none."""
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else ""
