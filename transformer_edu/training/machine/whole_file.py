"""How a checkpoint lies on the disk: whole or not at all, and not a single bit may change.

It is an ordinary safetensors file, which any program can read and which holds no code. Its header
carries a record in JSON, and in it a SHA-256 checksum of every other byte of the file.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

import safetensors.torch
from safetensors import SafetensorError
from torch import Tensor

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

KEY = "transformer_edu"  # of the record, among the header's metadata
BLANK = b"0" * 64  # stands for the checksum while it is computed
BEFORE_CHECKSUM = f'"{KEY}":"{{\\"sha256\\": \\"'.encode()  # JSON inside JSON
LENGTH_BYTES = 8  # a safetensors file begins with the length of its header


class CheckpointError(ValueError):
    """A file that is no checkpoint, a damaged one, or one of another run; its name is said."""


def write_checkpoint_file(
    path: str | os.PathLike, tensors: Mapping[str, Tensor], record: Mapping[str, object]
) -> None:
    """Write tensors and a record; until all is on the disk, the old file stays what it is.

    Args:
        path: The file to make or to replace.
        tensors: On any device; each is stored by its name.
        record: What JSON can hold.

    Raises:
        TypeError: If path is no path.
        OSError: If it cannot be written. The old file stays, and nothing else does.
    """
    require_path("path", path)
    text = json.dumps({"sha256": BLANK.decode(), **record})
    own = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    content = memoryview(safetensors.torch.save(own, metadata={KEY: text}))
    start = content.obj.index(BEFORE_CHECKSUM) + len(BEFORE_CHECKSUM)
    end = start + len(BLANK)
    checksum = hashlib.sha256(content).hexdigest().encode()
    replace_file(Path(path), (content[:start], checksum, content[end:]))


def read_checkpoint_file(path: str | os.PathLike) -> tuple[dict[str, Tensor], dict]:
    """Read what write_checkpoint_file wrote. No code is run, whatever the file holds.

    Returns:
        The tensors, on the CPU, and the record.

    Raises:
        TypeError: If path is no path.
        OSError: If the file cannot be read.
        CheckpointError: If it is no checkpoint, or any bit of it has changed.
    """
    require_path("path", path)
    content = memoryview(Path(path).read_bytes())
    if not content:
        raise CheckpointError(f"{path} must be a checkpoint, got an empty file")
    header_end = LENGTH_BYTES + int.from_bytes(content[:LENGTH_BYTES], "little")
    found = bytes(content[LENGTH_BYTES:header_end]).find(BEFORE_CHECKSUM)
    if found < 0:
        raise CheckpointError(f"{path} must be a checkpoint of this package, got another format")
    start = LENGTH_BYTES + found + len(BEFORE_CHECKSUM)
    end = start + len(BLANK)
    checksum = hashlib.sha256(content[:start])
    checksum.update(BLANK)
    checksum.update(content[end:])
    if content[start:end] != checksum.hexdigest().encode():
        raise CheckpointError(f"{path} must be whole, got a checksum that does not fit: damaged")
    try:
        header = json.loads(bytes(content[LENGTH_BYTES:header_end]))
        return safetensors.torch.load(content.obj), json.loads(header["__metadata__"][KEY])
    except (ValueError, KeyError, TypeError, RecursionError, SafetensorError) as error:
        raise CheckpointError(f"{path} must be a checkpoint, got a broken header") from error


def replace_file(path: Path, parts: Iterable[bytes | memoryview]) -> None:
    """Write a file whole or not at all, also when the power fails or the disk is full.

    The parts go to a temporary file beside it, the disk is told to keep them, and only then
    does that file take the old one's place, in a single operation of the file system.

    Args:
        path: The file to make or to replace.
        parts: Its content.

    Raises:
        OSError: If it cannot be written; the message names path, which stays as it was.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        _remove_leftovers(path)
        with partial.open("wb") as file:
            _claim(file.fileno())
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
        _keep_folder(path.parent)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error
    finally:
        with suppress(OSError):
            partial.unlink()


def require_writable(name: str, path: str | os.PathLike) -> None:
    """Refuse, before hours of training, a path that nothing can be saved to.

    Raises:
        TypeError: If path is no path.
        OSError: If it is a folder, or its own folder is missing or cannot be written.
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
    """Refuse, with a TypeError or ValueError, what is no path or no file can be called."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"{name} must be a path, got {path!r}")
    if "\0" in os.fsdecode(path):
        raise ValueError(f"{name} must hold no NUL character, got {os.fsdecode(path)!r}")


def _remove_leftovers(path: Path) -> None:
    """Remove what killed processes left of their saves: nobody claims it any more."""
    with suppress(OSError):
        for sibling in path.parent.iterdir():
            if sibling.name.startswith(f".{path.name}.") and sibling.suffix == ".partial":
                with sibling.open("rb") as file:
                    if _claim(file.fileno()):
                        sibling.unlink()


def _claim(file: int) -> bool:
    """Lock an open file until it is closed, or until this process ends, however it ends."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # somebody else has it, or the file system knows no locks
        return False
    return True


def _keep_folder(folder: Path) -> None:
    """Tell the disk to keep the folder too, where the system can; the file is in place already."""
    if os.name != "posix":
        return
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
