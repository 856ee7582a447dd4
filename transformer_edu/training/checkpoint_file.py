"""The file format of checkpoints: tensors and a record, with a checksum that finds a changed bit.

It is an ordinary safetensors file, which any program can read and which holds no code. Its header
has a record in JSON, with a SHA-256 checksum of all tensors and of the record.
"""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

import safetensors.torch
import torch
from safetensors import SafetensorError
from torch import Tensor

from transformer_edu.training.machine.atomic_files import replace_file, require_path

RECORD_KEY = "transformer_edu"  # of the record in the header's metadata
LENGTH_BYTES = 8  # a safetensors file begins with the length of its header


class CheckpointError(ValueError):
    """A file is not a checkpoint, is damaged, or belongs to a different run."""


def write_checkpoint_file(
    path: str | os.PathLike, tensors: Mapping[str, Tensor], record: Mapping[str, object]
) -> None:
    """Write tensors by name, and a record of values that JSON can hold.

    Raises:
        OSError: If the file cannot be written; the old file stays.
    """
    require_path("path", path)
    own = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    # Sorted, so that equal content has equal bytes; files of earlier versions are not.
    text = _record_text(own, json.loads(json.dumps(record, sort_keys=True)))
    replace_file(Path(path), [safetensors.torch.save(own, metadata={RECORD_KEY: text})])


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
        del record["sha256"]
        is_whole = _record_text(tensors, record) == text
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, SafetensorError):
        is_whole = False
    if not is_whole:
        got = "a file that is damaged or of another format"
        raise CheckpointError(f"{path} must be a whole checkpoint of this package, got {got}")
    return tensors, record


def _record_text(tensors: Mapping[str, Tensor], record: Mapping[str, object]) -> str:
    """The record in JSON, beginning with the checksum.

    The checksum is of the record and of each tensor's name, type, shape and bytes.
    """
    found = hashlib.sha256(json.dumps(record).encode())
    for name, tensor in sorted(tensors.items()):
        found.update(json.dumps([name, str(tensor.dtype), list(tensor.shape)]).encode())
        found.update(tensor.reshape(-1).view(torch.uint8).numpy())
    return json.dumps({"sha256": found.hexdigest(), **record})
