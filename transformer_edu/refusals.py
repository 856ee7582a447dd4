"""How bad input is refused: one sentence with the name, the condition and the value.

A wrong type is a TypeError, a wrong value a ValueError. Refused is what a constructor or a door
can know and what torch would silently accept; for the rest torch's own errors are good enough.
Values are read on the CPU only, so that nothing waits for a GPU.
"""

from collections.abc import Sequence

import torch
from torch import Tensor


def require_whole(name: str, value: int, *, minimum: int = 1, maximum: int | None = None) -> None:
    """Refuse what is not a whole number from minimum to maximum."""
    if isinstance(value, bool) or not isinstance(value, int | torch.SymInt):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    if value < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {value}")
    if maximum is not None and value > maximum:
        raise ValueError(f"{name} must be at most {maximum:,}, got {value:,}")


def require_probability(name: str, value: float) -> None:
    """Refuse what is not a number from 0 to 1, NaN too."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} must be a number from 0 to 1, got {value!r}")
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must be from 0 to 1, got {value}")


def require_flag(name: str, value: bool) -> None:
    """Refuse what is neither True nor False."""
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, got {value!r}")


def require_callable(name: str, function: object) -> None:
    """Refuse what is neither a function nor None."""
    if function is not None and not callable(function):
        raise TypeError(f"{name} must be a function or None, got {type(function).__name__}")


def require_heads(num_heads: int, d_model: int) -> None:
    """Refuse a number of heads that does not divide the width."""
    require_whole("num_heads", num_heads)
    require_whole("d_model", d_model)
    if d_model % num_heads != 0:
        raise ValueError(f"num_heads must divide d_model, got {num_heads} and {d_model}")


def require_even(name: str, value: int) -> None:
    """Refuse what is not an even whole number of at least 2."""
    require_whole(name, value)
    if value % 2 != 0:
        raise ValueError(f"{name} must be even for sinusoidal positions, got {value}")


def require_device(name: str, tensor: Tensor, device: torch.device) -> None:
    """Refuse a tensor that lies on another device."""
    if tensor.device != device:
        raise ValueError(f"{name} must be on {device} like what it meets, got {tensor.device}")


def require_same_shape(name: str, answer: Tensor, x: Tensor) -> None:
    """Refuse an answer that only broadcasting would bring to the shape of x."""
    got = tuple(answer.shape) if isinstance(answer, Tensor) else type(answer).__name__
    if got != x.shape:
        raise ValueError(f"{name} must return the shape of x, {tuple(x.shape)}, got {got}")


def require_same_batch(first_name: str, first: Tensor, second_name: str, second: Tensor) -> None:
    """Refuse two tensors whose first axis, the batch, differs."""
    if len(first) != len(second):
        names = f"{first_name} and {second_name}"
        raise ValueError(
            f"{names} must have the same batch size, got {len(first)} and {len(second)}"
        )


def require_vectors(name: str, vectors: Tensor, width: int | None = None) -> None:
    """Refuse what is not a non-empty floating-point (..., position, width); a batch if width."""
    if not isinstance(vectors, Tensor) or not vectors.is_floating_point():
        got = vectors.dtype if isinstance(vectors, Tensor) else type(vectors).__name__
        raise TypeError(f"{name} must be a tensor of floating-point numbers, got {got}")
    fits = vectors.dim() > 1 if width is None else vectors.dim() == 3 and vectors.size(2) == width
    if not fits or vectors.numel() == 0:
        shape = "(..., position, width)" if width is None else f"(batch, position, {width})"
        raise ValueError(
            f"{name} must have shape {shape} with no empty axis, got {tuple(vectors.shape)}"
        )


def require_type(name: str, vectors: Tensor, weight: Tensor) -> None:
    """Refuse vectors of another type than the weights', unless autocast sees to that."""
    device = weight.device.type
    cast = torch.amp.is_autocast_available(device) and torch.is_autocast_enabled(device)
    if vectors.dtype != weight.dtype and not cast:
        got = f"{vectors.dtype} and {weight.dtype}"
        raise TypeError(f"{name} must be of the model's type, got {got}")


def require_attention(
    query: Tensor, key: Tensor, value: Tensor | None = None, mask: Tensor | None = None
) -> None:
    """Refuse what attention would silently convert, broadcast or compute from nothing.

    The vectors are (..., position, width); the mask broadcasts to (..., query, key).
    """
    value = key if value is None else value
    for name, vectors in {"query": query, "key": key, "value": value}.items():
        require_vectors(name, vectors)
        for what, theirs, wanted in (
            ("type", vectors.dtype, query.dtype),
            ("device", vectors.device, query.device),
            ("leading axes", tuple(vectors.shape[:-2]), tuple(query.shape[:-2])),
        ):
            if theirs != wanted:
                raise ValueError(
                    f"query and {name} must have the same {what}, got {wanted} and {theirs}"
                )
    if key.size(-2) != value.size(-2):
        lengths = f"{key.size(-2)} and {value.size(-2)}"
        raise ValueError(f"key and value must have the same length, got {lengths}")
    if mask is not None:
        require_mask(mask, (*query.shape[:-1], key.size(-2)), query.device)


def require_mask(
    mask: Tensor, shape: Sequence[int], device: torch.device, *, name: str = "mask"
) -> None:
    """Refuse a mask that is not boolean, does not broadcast to shape, or is on another device."""
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        got = mask.dtype if isinstance(mask, Tensor) else type(mask).__name__
        raise TypeError(f"{name} must be boolean, True where a query may attend, got {got}")
    fits = mask.dim() <= len(shape)
    for size, wanted in zip(reversed(mask.shape), reversed(shape), strict=False):
        fits = fits and size in (1, wanted)
    if not fits:
        raise ValueError(f"{name} must broadcast to {tuple(shape)}, got {tuple(mask.shape)}")
    require_device(name, mask, device)


def require_rows(name: str, rows: Tensor, batch: int) -> None:
    """Refuse what are not the numbers of some rows of a batch."""
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

    Without a vocabulary_size the range is not checked, without a max_length the length is not.
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
