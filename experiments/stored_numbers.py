"""The options of a command that stores what a lesson draws: ``--file`` and ``--steps``.

Used by circuits, features and swaps.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from pathlib import Path

from transformer_edu.model.refusals import require_whole
from transformer_edu.training.machine.atomic_files import require_writable

FOREIGN = (ValueError, TypeError, LookupError, AttributeError, RecursionError)  # when it is read


def read_options(
    parser: ArgumentParser, arguments: Sequence[str] | None, *, file: Path, steps: int
) -> Namespace:
    """Give a command its ``--file`` and ``--steps``, and read its words.

    Args:
        parser: With the command's own options.
        arguments: The command line's words; those given to the program when None.
        file: What the lesson draws. It is replaced only if every other option is as by default.
        steps: Of each training.

    Raises:
        OSError: If the file that is named cannot be written to.
        ValueError: If there are fewer than 0 steps, or other options would replace the lesson's
            numbers.
    """
    parser.add_argument("--file", type=Path, default=file, help="where the numbers go")
    parser.add_argument("--steps", type=int, default=steps, help="of each training")
    chosen = parser.parse_args(arguments)
    require_whole("steps", chosen.steps, minimum=0)
    require_writable("file", chosen.file)
    others = [name for name, value in vars(chosen).items() if value != parser.get_default(name)]
    named = " and ".join(name for name in others if name != "file")
    if named and chosen.file.resolve() == file.resolve():
        wanted = f"file must be another than the lesson's with other {named}"
        raise ValueError(f"{wanted}, got {chosen.file}")
    return chosen


def read_own(file: Path, read: Callable[[Path], list]) -> list:
    """What a command has stored in a file; nothing if there is none.

    Args:
        file: What it is to replace.
        read: How the lesson reads it.

    Raises:
        OSError: If it cannot be read.
        ValueError: If it holds anything else, or nothing.
    """
    if not file.exists():
        return []
    try:
        if stored := read(file):
            return stored
    except FOREIGN:
        pass
    raise ValueError(f"file must be a new one, or hold numbers of this command, got {file}")
