"""How the model refuses bad input: one sentence with the name, the condition and the value.

Layers check only type, shape and device, so that nothing waits for a GPU. The one check that
reads values, whether token ids are in range, is made for tensors on the CPU.
"""

from collections.abc import Sequence

import torch
from torch import Tensor


def require_whole(name: str, value: int, *, minimum: int = 1) -> None:
    """Refuse what is not a whole number of at least minimum.

    Raises:
        TypeError: If value is not a whole number.
        ValueError: If value is below minimum.
    """
    if isinstance(value, bool) or not isinstance(value, int | torch.SymInt):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    if value < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {value}")


def require_probability(name: str, value: float) -> None:
    """Refuse what is not a number from 0 to 1.

    Raises:
        TypeError: If value is not a number.
        ValueError: If value lies outside [0, 1] or is not a number (NaN).
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} must be a number from 0 to 1, got {value!r}")
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must be from 0 to 1, got {value}")


def require_flag(name: str, value: bool) -> None:
    """Refuse what is neither True nor False, with a TypeError."""
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, got {value!r}")


def require_heads(num_heads: int, d_model: int) -> None:
    """Refuse a number of heads that does not divide the width.

    Raises:
        TypeError: If either is not a whole number.
        ValueError: If either is below one, or num_heads does not divide d_model.
    """
    require_whole("num_heads", num_heads)
    require_whole("d_model", d_model)
    if d_model % num_heads != 0:
        raise ValueError(f"num_heads must divide d_model, got {num_heads} and {d_model}")


def require_even(name: str, value: int) -> None:
    """Refuse what is not an even whole number of at least 2.

    Raises:
        TypeError: If value is not a whole number.
        ValueError: If value is below 1, or odd.
    """
    require_whole(name, value)
    if value % 2 != 0:
        raise ValueError(f"{name} must be even for sinusoidal positions, got {value}")


def require_device(name: str, tensor: Tensor, device: torch.device) -> None:
    """Refuse, with a ValueError, a tensor that lies on another device."""
    if tensor.device != device:
        raise ValueError(f"{name} must be on {device} like what it meets, got {tensor.device}")


def require_vectors(name: str, vectors: Tensor, d_model: int, weight: Tensor | None = None) -> None:
    """Refuse what is not a non-empty floating-point (batch, position, d_model).

    Args:
        name: What the caller calls them, for the sentence.
        vectors: Shape (batch, position, d_model).
        d_model: The width they must have.
        weight: What they will be multiplied with; they must be of its type (unless autocast
            sees to that) and on its device.

    Raises:
        TypeError: If vectors is not a tensor of floating-point numbers of the weight's type.
        ValueError: If its shape or device is another one, or an axis is empty.
    """
    if not isinstance(vectors, Tensor):
        raise TypeError(f"{name} must be a tensor, got {type(vectors).__name__}")
    if not vectors.is_floating_point():
        raise TypeError(f"{name} must hold floating-point numbers, got {vectors.dtype}")
    shape = vectors.shape
    if len(shape) != 3 or shape[2] != d_model or 0 in shape:
        raise ValueError(
            f"{name} must have shape (batch, position, {d_model}) with no empty axis, "
            f"got {tuple(shape)}"
        )
    if weight is None:
        return
    require_device(name, vectors, weight.device)
    if vectors.dtype != weight.dtype and not _is_cast(vectors, weight):
        raise TypeError(
            f"{name} must be of the layer's type, got {vectors.dtype} and {weight.dtype}"
        )


def _is_cast(vectors: Tensor, weight: Tensor) -> bool:
    """Whether autocast brings both to one type; it leaves float64 as it is."""
    device = weight.device.type
    if not torch.amp.is_autocast_available(device) or not torch.is_autocast_enabled(device):
        return False
    return torch.float64 not in (vectors.dtype, weight.dtype)


def require_same_batch(first_name: str, first: Tensor, second_name: str, second: Tensor) -> None:
    """Refuse two tensors whose first axis, the batch, differs, with a ValueError."""
    if first.size(0) != second.size(0):
        raise ValueError(
            f"{first_name} and {second_name} must have the same batch size, "
            f"got {first.size(0)} and {second.size(0)}"
        )


def require_mask(
    mask: Tensor | None, shape: Sequence[int], device: torch.device, *, name: str = "mask"
) -> None:
    """Refuse a mask that is not boolean or does not broadcast to shape; None is welcome.

    Raises:
        TypeError: If mask is not a boolean tensor.
        ValueError: If it does not broadcast to shape, or lies on another device.
    """
    if mask is None:
        return
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        got = mask.dtype if isinstance(mask, Tensor) else type(mask).__name__
        raise TypeError(
            f"{name} must be a boolean tensor, True where a query may attend, got {got}"
        )
    fits = mask.dim() <= len(shape) and all(
        size in (1, wanted)
        for size, wanted in zip(reversed(mask.shape), reversed(shape), strict=False)
    )
    if not fits:
        raise ValueError(f"{name} must broadcast to {tuple(shape)}, got {tuple(mask.shape)}")
    require_device(name, mask, device)


def require_callable(name: str, function: object) -> None:
    """Refuse, with a TypeError, what cannot be called; None is welcome."""
    if function is not None and not callable(function):
        raise TypeError(f"{name} must be a function or None, got {type(function).__name__}")


def require_rows(name: str, rows: Tensor, batch: int) -> None:
    """Refuse what are not the numbers of some rows of a batch.

    Raises:
        TypeError: If rows is not a one-dimensional tensor of int64.
        ValueError: If (read on the CPU only) one is no row of the batch.
    """
    if not isinstance(rows, Tensor) or rows.dtype != torch.int64 or rows.dim() != 1:
        raise TypeError(f"{name} must be a tensor of row numbers, shape (batch,), got {rows!r}")
    if rows.device.type == "cpu" and not ((rows >= 0) & (rows < batch)).all():
        raise ValueError(f"{name} must be from 0 to {batch - 1}, got {rows.tolist()}")


def require_token_ids(
    name: str,
    token_ids: Tensor,
    vocabulary_size: int | None = None,
    max_length: int | None = None,
) -> None:
    """Refuse what is not a non-empty (batch, position) of token ids below vocabulary_size.

    Args:
        name: What the caller calls them, for the sentence.
        token_ids: Shape (batch, position).
        vocabulary_size: Number of known tokens; None leaves the range unchecked.
        max_length: Number of positions that there is room for; None leaves it unchecked.

    Raises:
        TypeError: If token_ids is not a tensor of whole numbers.
        ValueError: If its shape is another one, an axis is empty, a sequence is too long, or
            (read on the CPU only) an id lies outside [0, vocabulary_size).
    """
    if not isinstance(token_ids, Tensor):
        raise TypeError(f"{name} must be a tensor of token ids, got {type(token_ids).__name__}")
    if token_ids.dtype not in (torch.int64, torch.int32):
        raise TypeError(f"{name} must be of type torch.int64 or torch.int32, got {token_ids.dtype}")
    if token_ids.dim() != 2 or token_ids.numel() == 0:
        raise ValueError(
            f"{name} must have shape (batch, position) with no empty axis, "
            f"got {tuple(token_ids.shape)}"
        )
    if max_length is not None and token_ids.size(1) > max_length:
        raise ValueError(
            f"{name} must have at most {max_length} positions (max_length), got {token_ids.size(1)}"
        )
    readable = token_ids.device.type == "cpu" and not torch.compiler.is_compiling()
    if vocabulary_size is None or not readable:
        return
    smallest, largest = (int(extreme) for extreme in token_ids.aminmax())
    if smallest < 0 or largest >= vocabulary_size:
        wrong = smallest if smallest < 0 else largest
        raise ValueError(f"{name} must be from 0 to {vocabulary_size - 1}, got {wrong}")


def require_pair(
    first_name: str, first: Tensor, second_name: str, second: Tensor, *, axis: int
) -> None:
    """Refuse two tensors that do not go together: along axis (-1 width, -2 length) or at all.

    Raises:
        TypeError: If one is no tensor of floating-point numbers, or of another type than the other.
        ValueError: If an axis is empty, their axes differ, or their devices.
    """
    for name, tensor in ((first_name, first), (second_name, second)):
        if not isinstance(tensor, Tensor) or not tensor.is_floating_point():
            got = tensor.dtype if isinstance(tensor, Tensor) else type(tensor).__name__
            raise TypeError(f"{name} must be a tensor of floating-point numbers, got {got}")
        if tensor.dim() < 2 or tensor.numel() == 0:
            raise ValueError(
                f"{name} must have shape (..., position, width) with no empty axis, "
                f"got {tuple(tensor.shape)}"
            )
    if first.dtype != second.dtype:
        raise TypeError(
            f"{first_name} and {second_name} must have the same type, "
            f"got {first.dtype} and {second.dtype}"
        )
    require_device(second_name, second, first.device)
    for what, one, other in (
        ({-1: "width", -2: "length"}[axis], first.size(axis), second.size(axis)),
        ("leading axes", tuple(first.shape[:-2]), tuple(second.shape[:-2])),
    ):
        if one != other:
            raise ValueError(
                f"{first_name} and {second_name} must have the same {what}, got {one} and {other}"
            )
