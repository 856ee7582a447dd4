"""Write a file whole or not at all, lock it, and read and write JSON."""

import errno
import json
import os
from collections.abc import Iterable
from contextlib import suppress
from glob import escape
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None
    import msvcrt


def replace_file(path: Path, parts: Iterable[bytes | memoryview]) -> None:
    """Write a file whole or not at all, also when the power fails or the disk is full.

    The parts go to a temporary file in the same folder and are flushed to the disk. Then that file
    takes the old file's place, with its mode, in a single operation of the file system.

    Raises:
        OSError: If the file cannot be written; the message names path, and the old file stays.
    """
    partial = _partial(path)
    try:
        _remove_leftovers(path)
        with partial.open("wb") as file:
            with suppress(OSError):  # a file system may have no locks
                lock(file.fileno())
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        with suppress(OSError):  # the file may be new, or the disk have no modes
            partial.chmod(path.stat().st_mode & 0o777)
        os.replace(partial, path)
        _flush_folder(path.parent)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error
    finally:
        with suppress(OSError):
            partial.unlink()


def lock(file: int) -> None:
    """Lock an open file, given its descriptor, until it is closed or this process ends.

    Raises:
        OSError: If another process has locked it, or the file system has no locks.
    """
    if fcntl is None:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def write_json(path: Path, content: object) -> None:
    """Write a JSON file whole or not at all."""
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    # A file name that is not text holds lone surrogates: JSON writes them with a backslash.
    replace_file(path, [text.encode(errors="backslashreplace")])


def read_json(path: Path) -> object:
    """Read a JSON file.

    Raises:
        OSError: If it cannot be read.
        ValueError: If it is not JSON, or its brackets are nested too deeply.
    """
    try:
        return json.loads(path.read_bytes())
    except RecursionError as error:
        raise ValueError(f"{path} must be JSON with fewer nested brackets") from error


def require_writable(name: str, path: str | os.PathLike) -> None:
    """Refuse a path that cannot be written to, before hours of training.

    Raises:
        OSError: If path is a folder, or its folder is missing or cannot be written to.
    """
    require_path(name, path)
    if (path := Path(path)).is_dir():
        raise IsADirectoryError(f"{name} must be a file, got the folder {path}")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{name} must lie in a folder that exists, got {path}")
    try:
        _partial(path).touch()
        _partial(path).unlink()
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def require_path(name: str, path: str | os.PathLike) -> None:
    """Refuse an argument that is not a path, is empty, or holds a NUL character."""
    if not isinstance(path, str | os.PathLike) or not os.fspath(path):
        raise TypeError(f"{name} must be a path, got {path!r}")
    if "\0" in os.fsdecode(path):
        raise ValueError(f"{name} must hold no NUL character, got {os.fsdecode(path)!r}")


def _partial(path: Path) -> Path:
    """This process's temporary file beside path, which may be free or a file, but no device."""
    if path.exists() and not path.is_file():
        code = errno.EISDIR if path.is_dir() else errno.EINVAL
        raise OSError(code, "it is not a file", str(path))
    return path.with_name(f".{path.name}.{os.getpid()}.partial")


def _remove_leftovers(path: Path) -> None:
    """Remove the temporary files of killed processes: nobody holds a lock on them."""
    if fcntl is None:  # on Windows an open file cannot be removed
        return
    for leftover in path.parent.glob(f".{escape(path.name)}.*.partial"):
        with suppress(OSError), leftover.open("rb") as file:
            lock(file.fileno())
            leftover.unlink()


def _flush_folder(folder: Path) -> None:
    """Flush the folder's entry to the disk too, where the system can; the file is in place."""
    with suppress(OSError):  # Windows cannot open a folder
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
