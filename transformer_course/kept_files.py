"""Replace a reader's file and lose nothing: not what it held, and not what is saved meanwhile."""

import ctypes
import errno
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path

from transformer_edu.training.machine.atomic_files import replace_file

# The system's own way to let two files change names at once: renameat2 and renamex_np.
HERE, EXCHANGE = -100, 2
NO_EXCHANGE = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)  # a disk may not know it


class SavedMeanwhileError(OSError):
    """A file was saved at the very moment at which it was to be replaced; so it stays."""

    def __init__(self, path: Path) -> None:
        super().__init__(errno.EBUSY, "it was saved at this very moment", str(path))


def replace_unchanged(path: Path, before: bytes, content: bytes) -> Path:
    """Replace what a file holds, unless somebody has saved it since it was read.

    The old and the new file change names at once, where the system can do that. So whatever an
    editor saves, before or after, in the file or in its place, is in one of the two.

    Args:
        path: The file; a link stays a link.
        before: What was read.
        content: What to write.

    Returns:
        The file as it was: a copy with a free name that ends in .bak. Its caller keeps it or not.

    Raises:
        SavedMeanwhileError: If it holds something else; it stays as it is.
        OSError: If it cannot be replaced; it stays as it is.
    """
    path = Path(os.path.realpath(path))
    old = _free_copy(path, content)
    try:
        shutil.copymode(path, old)
        if not _exchange(old, path):  # this system cannot: the file is at least never missing
            replace_file(old, [path.read_bytes()])
            if old.read_bytes() == before:
                replace_file(path, [content])
                return old
    except OSError:
        old.unlink()
        raise
    if old.read_bytes() != before:  # whoever opens it for writing empties it first
        if path.read_bytes() == content:
            _exchange(old, path)
        if old.read_bytes() in (content, path.read_bytes()):
            old.unlink()
        raise SavedMeanwhileError(path)
    return old


def create_file(path: Path, content: bytes) -> None:
    """Write a file that is not there, whole or not at all, unless somebody saves one meanwhile.

    Args:
        path: The file; a link that leads to nothing stays a link.
        content: What to write.

    Raises:
        SavedMeanwhileError: If there is a file now; it stays as it is.
        OSError: If it cannot be written.
    """
    path = Path(os.path.realpath(path))
    new = path.with_name(f".{path.name}.{os.getpid()}")
    replace_file(new, [content])
    try:
        os.link(new, path)  # which replaces nothing
    except FileExistsError:
        raise SavedMeanwhileError(path) from None
    except OSError:  # a disk may have no second names for a file
        replace_file(path, [content])
    finally:
        new.unlink()


def name_from(folder: Path, copy: Path) -> str:
    """The name of a copy for whoever looks into a folder: the whole path if it is elsewhere."""
    return copy.name if copy.parent == folder.resolve() else str(copy)


def back_up(path: Path) -> str:
    """Copy a file to a name that is free, and return that name; a copy that is there will do."""
    content = path.read_bytes()
    for copy in _copies(path):
        if not os.path.lexists(copy):
            break
        if copy.is_file() and copy.read_bytes() == content:
            return copy.name
    return _free_copy(path, content).name


def _copies(path: Path) -> Iterator[Path]:
    """The names that a copy of a file may have."""
    return (path.with_suffix(f".{number}.bak" if number else ".bak") for number in count())


def _free_copy(path: Path, content: bytes) -> Path:
    """A new file under the first name for copies that nobody has."""
    for copy in _copies(path):
        with suppress(FileExistsError):
            copy.touch(exist_ok=False)  # nobody else takes this name now
            break
    try:
        replace_file(copy, [content])
    except BaseException as error:  # also Ctrl-C
        copy.unlink()
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
    return copy


def _exchange(one: Path, other: Path) -> bool:
    """Let two files change names at once; return whether the system can."""
    names = os.fsencode(one), os.fsencode(other)
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            failed = libc.renamex_np(*names, EXCHANGE)
        else:
            failed = libc.renameat2(HERE, names[0], HERE, names[1], EXCHANGE)
    except (TypeError, AttributeError):  # on Windows, or in an old library
        return False
    if failed and (code := ctypes.get_errno()) not in NO_EXCHANGE:
        raise OSError(code, os.strerror(code), str(other))
    return not failed
