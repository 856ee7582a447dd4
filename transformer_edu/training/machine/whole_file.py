"""How a file is replaced whole or not at all, and how a checkpoint detects a changed bit.

A checkpoint is an ordinary safetensors file, which any program can read and which holds no code.
Its header has a record in JSON, with a SHA-256 checksum of all tensors and of the record.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

import safetensors.torch
import torch
from safetensors import SafetensorError
from torch import Tensor

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

RECORD_KEY = "transformer_edu"  # of the record in the header's metadata
LENGTH_BYTES = 8  # a safetensors file begins with the length of its header
BLANK_CHECKSUM = b"0" * 64  # earlier versions hashed the whole file with this in its place


class CheckpointError(ValueError):
    """A file is not a checkpoint, is damaged, or belongs to a different run."""


def write_checkpoint_file(
    path: str | os.PathLike, tensors: Mapping[str, Tensor], record: Mapping[str, object]
) -> None:
    """Write tensors and a record; the old file stays until everything is on the disk.

    Args:
        path: The file to make or to replace.
        tensors: On any device; each is stored by its name.
        record: Values that JSON can hold.

    Raises:
        OSError: If the file cannot be written. The old file stays.
    """
    require_path("path", path)
    own = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    text = _record_text(content_checksum(own, record), record)
    replace_file(Path(path), [safetensors.torch.save(own, metadata={RECORD_KEY: text})])


def content_checksum(tensors: Mapping[str, Tensor], record: Mapping[str, object]) -> str:
    """The SHA-256 checksum of a record and of each tensor's name, type, shape and bytes.

    Args:
        tensors: On the CPU, in any order.
        record: Values that JSON can hold.
    """
    found = hashlib.sha256(json.dumps(record).encode())
    for name, tensor in sorted(tensors.items()):
        found.update(json.dumps([name, str(tensor.dtype), list(tensor.shape)]).encode())
        found.update(tensor.reshape(-1).view(torch.uint8).numpy())
    return found.hexdigest()


def read_checkpoint_file(path: str | os.PathLike) -> tuple[dict[str, Tensor], dict]:
    """Read a file of write_checkpoint_file. No code is run, whatever the file holds.

    Returns:
        The tensors, on the CPU, and the record.

    Raises:
        OSError: If the file cannot be read.
        CheckpointError: If the file is not a checkpoint, or any bit of it has changed.
    """
    require_path("path", path)
    content = Path(path).read_bytes()
    header_end = LENGTH_BYTES + int.from_bytes(content[:LENGTH_BYTES], "little")
    try:
        tensors = safetensors.torch.load(content)
        text = json.loads(content[LENGTH_BYTES:header_end])["__metadata__"][RECORD_KEY]
        record = json.loads(text)
        checksum = record.pop("sha256")
        is_whole = _record_text(content_checksum(tensors, record), record) == text
        if not is_whole:  # written by an earlier version: the checksum of all other bytes
            before = content.replace(checksum.encode(), BLANK_CHECKSUM, 1)
            is_whole = hashlib.sha256(before).hexdigest() == checksum
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, SafetensorError):
        is_whole = False
    if not is_whole:
        raise CheckpointError(
            f"{path} must be a whole checkpoint of this package, "
            "got a file that is damaged or of another format"
        )
    return tensors, record


def replace_file(path: Path, parts: Iterable[bytes | memoryview]) -> None:
    """Write a file whole or not at all, also when the power fails or the disk is full.

    The parts go to a temporary file in the same folder and are flushed to the disk. Then that
    file takes the old file's place in a single operation of the file system.

    Args:
        path: The file to make or to replace.
        parts: Its content.

    Raises:
        OSError: If the file cannot be written; the message names path, and the old file stays.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        _remove_leftovers(path)
        with partial.open("wb") as file:
            _lock(file.fileno())
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
        _flush_folder(path.parent)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error
    finally:
        with suppress(OSError):
            partial.unlink()


def require_writable(name: str, path: str | os.PathLike) -> None:
    """Refuse, before hours of training, a path that no file can be saved to.

    Raises:
        OSError: If path is a folder, or its folder is missing or cannot be written to.
    """
    require_path(name, path)
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{name} must be a file, got the folder {path}")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{name} must lie in a folder that exists, got {path}")
    probe = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def require_path(name: str, path: str | os.PathLike) -> None:
    """Refuse a value that is not a path, and a path that no file can have."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"{name} must be a path, got {path!r}")
    if "\0" in os.fsdecode(path):
        raise ValueError(f"{name} must hold no NUL character, got {os.fsdecode(path)!r}")


def _record_text(checksum: str, record: Mapping[str, object]) -> str:
    """The record in JSON, its checksum first."""
    return json.dumps({"sha256": checksum, **record})


def _remove_leftovers(path: Path) -> None:
    """Remove the temporary files of killed processes: no process holds their locks."""
    with suppress(OSError):
        for sibling in path.parent.iterdir():
            if sibling.name.startswith(f".{path.name}.") and sibling.suffix == ".partial":
                with sibling.open("rb") as file:
                    if _lock(file.fileno()):
                        sibling.unlink()


def _lock(file: int) -> bool:
    """Lock an open file until it is closed, or until this process ends, however it ends."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # a different process holds the lock, or the file system has no locks
        return False
    return True


def _flush_folder(folder: Path) -> None:
    """Flush the folder's entry to the disk too, where the system can; the file is in place."""
    if os.name != "posix":
        return
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
