"""Replace a reader's file and lose nothing: not what it held, and not what is saved meanwhile."""

import ctypes
import errno
import hashlib
import os
import re
import shutil
import sys
import time
from contextlib import suppress
from itertools import count
from pathlib import Path

from transformer_edu.training.machine.atomic_files import replace_file

# What the system's own renameat2 and renamex_np can do: take a name only if it is free, or let two
# files change names at once.
HERE, FREE, EXCHANGE = -100, 4 if sys.platform == "darwin" else 1, 2
UNKNOWN = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)  # a disk may not know them
# The file with which one changes places: its name has the digests of what it may hold and lose.
SPARE = re.compile(
    r"(?s)\.(?P<name>.+)\.(?P<useless>[0-9a-f]{8}(-[0-9a-f]{8})+)\.spare(?P<half>\.\d+\.partial)?"
)
ABANDONED = 60  # seconds after which a spare file is one of a process that was killed


class SavedMeanwhileError(OSError):
    """A file was saved at the very moment at which it was to be replaced; so it stays."""

    def __init__(self, path: Path) -> None:
        super().__init__(errno.EBUSY, "it was saved at this very moment", str(path))

    def __str__(self) -> str:
        return f"{self.filename} stays as it is, because {self.strerror}: try again"


def content_of(path: Path) -> bytes | None:
    """What a file holds; None if there is no file.

    Raises:
        OSError: If it cannot be read, or is something else.
    """
    if not os.path.lexists(path):
        return None
    if not path.is_file():
        other = "a device or a pipe" if path.exists() else "a link that leads nowhere"
        what = "a folder" if path.is_dir() else other
        raise OSError(errno.EINVAL, f"it is {what} and not a file", str(path))
    return path.read_bytes()


def replace_unchanged(
    path: Path, before: bytes | None, content: bytes | None, *, keep: bool = False
) -> Path | None:
    """Write or remove a file, unless somebody has saved it since it was read.

    The old and the new file change names at once, where the system can do that. So whatever an
    editor saves, before or after, in the file or in its place, is in one of the two.

    Args:
        path: The file; a link stays a link.
        before: What was read; None if there was no file.
        content: What to write, whole or not at all; None to remove the file, or the link.
        keep: Whether to keep a copy of the file as it was.

    Returns:
        The copy, which has a free name that ends in .bak; None if there is none.

    Raises:
        SavedMeanwhileError: If it holds something else; it stays as it is.
        OSError: If it cannot be written; it stays as it is.
    """
    if content is None:
        copy = _copy(path, before) if keep else None
        _remove(path, before)
        return copy
    path = Path(os.path.realpath(path))
    spare = _spare(path, content, before)
    if before is None:
        content_of(path)  # a folder or a pipe is named as what it is
    else:
        _settle_abandoned(path.parent)
    try:
        replace_file(spare, [content])
        if before is None:
            _move(spare, path)
            return None
        try:
            shutil.copymode(path, spare)
        except FileNotFoundError:
            raise
        except OSError:  # a disk may have no modes
            pass
        if content_of(path) != before:
            raise SavedMeanwhileError(path)
        copy = _copy(path, before) if keep else None
        if not exchange(spare, path):  # this system cannot: the file is at least never missing
            os.replace(spare, path)
        elif not _holds(spare, before):  # whoever opens it for writing empties it first
            if _holds(path, content):
                exchange(spare, path)
            raise SavedMeanwhileError(path)
        return copy
    except SavedMeanwhileError:
        if not _holds(path, content):  # as another process of ours wrote it
            raise
        return None
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        _settle(spare)


def name_from(folder: Path, copy: Path) -> str:
    """The name of a copy for whoever looks into a folder: the whole path if it is elsewhere."""
    return copy.name if copy.parent == folder.resolve() else str(copy)


def back_up(path: Path) -> str:
    """Copy a file to a name that is free, and return that name; a copy that is there will do."""
    return _copy(path, path.read_bytes()).name


def exchange(one: Path, other: Path) -> bool:
    """Let two files or folders change names at once; return whether the system can."""
    return _rename(one, other, EXCHANGE)


def _remove(path: Path, before: bytes) -> None:
    spare = _spare(path, before)
    if content_of(path) != before:
        raise SavedMeanwhileError(path)
    os.rename(path, spare)
    try:
        if not spare.is_symlink() and not _holds(spare, before):
            _move(spare, path)
            raise SavedMeanwhileError(path)
    finally:
        _settle(spare)


def _copy(path: Path, content: bytes) -> Path:
    """A copy of a file, under the first name for copies that is free or holds the same."""
    names = (path.with_suffix(f".{number}.bak" if number else ".bak") for number in count())
    others = (name for name in names if name != path)  # a file may have such a name itself
    copy = next(name for name in others if not os.path.lexists(name) or _holds(name, content))
    with suppress(SavedMeanwhileError):
        replace_unchanged(copy, None, content)
        with suppress(OSError):  # the file itself may be gone
            shutil.copymode(path, copy)
        return copy
    return _copy(path, content)


def _holds(path: Path, content: bytes) -> bool:
    try:
        return not path.is_symlink() and content_of(path) == content
    except OSError:
        return False


def _move(file: Path, name: Path) -> None:
    """Give a file another name, which must be free (SavedMeanwhileError)."""
    try:
        if _rename(file, name, FREE):
            return
        try:
            os.link(file, name)  # which replaces nothing
        except FileExistsError:
            raise
        except OSError:  # a disk may have no second names for a file
            name.touch(exist_ok=False)
            if not _holds(name, b""):
                raise FileExistsError from None
            os.replace(file, name)
        else:
            file.unlink()
    except FileExistsError:
        raise SavedMeanwhileError(name) from None


def _rename(one: Path, other: Path, how: int) -> bool:
    """Rename a file with FREE or EXCHANGE; return whether the system can."""
    names = os.fsencode(one), os.fsencode(other)
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            failed = libc.renamex_np(*names, how)
        else:
            failed = libc.renameat2(HERE, names[0], HERE, names[1], how)
    except (TypeError, AttributeError):  # on Windows, or in an old library
        return False
    if failed and (code := ctypes.get_errno()) not in UNKNOWN:
        raise OSError(code, os.strerror(code), str(other))
    return not failed


def _spare(path: Path, *useless: bytes | None) -> Path:
    """A new name beside a file, with the digests of what need not be kept under it."""
    digests = [_digest(each) for each in useless if each is not None]
    return path.with_name(f".{path.name}.{'-'.join([*digests, os.urandom(4).hex()])}.spare")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:8]


def _settle(spare: Path) -> None:
    """Remove a spare file. What an editor has saved in it becomes a copy of the file."""
    found = SPARE.fullmatch(spare.name)
    path = spare.with_name(found["name"])
    with suppress(OSError):  # it is gone, or the disk is full
        content = spare.read_bytes()
        if not found["half"] and _digest(content) not in found["useless"]:
            _copy(path, content)
        spare.unlink()


def _settle_abandoned(folder: Path) -> None:
    """Settle the spare files of processes that were killed."""
    for left in folder.glob(".*.spare*"):
        with suppress(OSError):
            if SPARE.fullmatch(left.name) and time.time() - left.lstat().st_ctime > ABANDONED:
                _settle(left)
