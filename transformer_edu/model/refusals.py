"""Bad input is refused in one sentence: the name, what it must be, and what it is.

Constructors and other doors refuse what they can know; a layer refuses only what PyTorch would
silently accept. The values of a tensor are read on the CPU only: a GPU would have to stop and wait.
"""

import os
import reprlib
from collections.abc import Callable, Collection, Iterable, Sequence
from numbers import Integral

import torch
from torch import Tensor


def require_whole(name: str, value: int, *, minimum: int = 1, maximum: int | None = None) -> None:
    """Refuse a value that is not a whole number from minimum to maximum."""
    if isinstance(value, bool) or not isinstance(value, int | torch.SymInt):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    if value < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {value}")
    if maximum is not None and value > maximum:
        raise ValueError(f"{name} must be at most {maximum:,}, got {value:,}")


def require_number(name: str, value: float, wanted: str, fits: Callable[[float], bool]) -> None:
    """Refuse a value that is not a number that fits; ``wanted`` says which ones do."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} must be a number, got {value!r}")
    if not fits(value):
        raise ValueError(f"{name} must be {wanted}, got {value}")


def require_probability(name: str, value: float, *, below_one: bool = False) -> None:
    """Refuse a value that is not a number from 0 to 1; 1 itself may be refused, too."""
    require_number(name, value, "from 0 to 1", lambda number: 0 <= number <= 1)
    if below_one:
        require_number(name, value, "below 1", lambda number: number < 1)


def require_flag(name: str, value: bool) -> None:
    """Refuse a value that is not True or False."""
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, got {value!r}")


def require_choice(name: str, value: object, choices: Collection[object]) -> None:
    """Refuse a value that is not one of the choices."""
    if value not in list(choices):  # a list compares, also what cannot be hashed
        raise ValueError(f"{name} must be one of {', '.join(map(str, choices))}, got {value!r}")


def require_callable(name: str, function: object) -> None:
    """Refuse a value that is neither a function nor None."""
    if function is not None and not callable(function):
        raise TypeError(f"{name} must be a function or None, got {type(function).__name__}")


def require_texts(name: str, texts: Iterable[str]) -> list[str]:
    """Refuse a value that is not several texts."""
    if isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
        raise TypeError(f"{name} must be several texts, got {reprlib.repr(texts)}")
    return [require_text(name, text) for text in texts]


def require_text(name: str, text: str) -> str:
    """Refuse a value that is not a text, or that holds a lone surrogate."""
    if not isinstance(text, str):
        raise TypeError(f"{name} must be text, got {reprlib.repr(text)}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{name} must hold no lone surrogate, got {text[error.start]!r}") from None
    return text


def require_divisor(name: str, value: int, whole_name: str, whole: int) -> None:
    """Refuse a whole number that does not divide another one, such as num_heads d_model."""
    require_whole(name, value)
    require_whole(whole_name, whole)
    if whole % value != 0:
        raise ValueError(f"{name} must divide {whole_name}, got {value} and {whole}")


# What a layer refuses: PyTorch would broadcast, round, cut off or add it.


def require_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> None:
    """Refuse vectors (..., position, width) and a mask that do not fit into one attention."""
    if not query.is_floating_point():  # the weights would be rounded to whole numbers
        raise TypeError(f"query must be of a floating-point type, got {query.dtype}")
    for name, vectors in (("key", key), ("value", value)):
        rule = f"query and {name} must have the same leading axes"
        axes = (*vectors.shape[:-2],) if vectors.dim() > 1 else "a vector"
        require_same(rule, (*query.shape[:-2],), axes)
    require_same("query and key must have the same width", query.size(-1), key.size(-1))
    if not key.size(-2) == value.size(-2) > 0:
        got = f"{key.size(-2)} and {value.size(-2)}"
        raise ValueError(f"key and value must have the same length, at least 1, got {got}")
    require_mask(mask, (*query.shape[:-1], key.size(-2)), query.device)


def require_same(rule: str, first: object, second: object) -> None:
    """Refuse two sizes that differ; rule says which must be the same."""
    if first != second:
        raise ValueError(f"{rule}, got {first} and {second}")


def require_same_shape(x: Tensor, output: Tensor) -> None:
    """Refuse a sub-layer's output that does not have the shape of its input."""
    if output.shape != x.shape:
        raise ValueError(f"sublayer must return {(*x.shape,)}, got {(*output.shape,)}")


def require_positions(x: Tensor, offset: int, max_length: int, d_model: int) -> None:
    """Refuse vectors (batch, position, width) that a table of positions does not fit."""
    if x.dim() != 3 or x.size(-1) != d_model or not x.is_floating_point():
        wanted, got = f"floats (batch, position, {d_model})", f"{x.dtype} {tuple(x.shape)}"
        raise ValueError(f"x must be {wanted}, got {got}")
    require_whole("offset", offset, minimum=0)
    if (got := offset + x.size(1)) > max_length:
        raise ValueError(f"sequence length must be at most {max_length}, got {got}")


def require_mask(
    mask: Tensor | None, shape: Sequence[int], device: torch.device, *, name: str = "mask"
) -> None:
    """Refuse a mask that is not boolean or does not broadcast to shape; None is no mask."""
    if mask is None:
        return
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        got = mask.dtype if isinstance(mask, Tensor) else type(mask).__name__
        raise TypeError(f"{name} must be boolean, True where a query may attend, got {got}")
    sizes = zip(reversed(mask.shape), reversed(shape), strict=False)
    if mask.dim() > len(shape) or any(size not in (1, wanted) for size, wanted in sizes):
        raise ValueError(f"{name} must broadcast to {tuple(shape)}, got {tuple(mask.shape)}")
    if mask.device != device:
        raise ValueError(f"{name} must be on {device}, got {mask.device}")


# What the whole model refuses.


def require_pairs(name: str, pairs: Sequence[Sequence[Sequence[int]]]) -> None:
    """Refuse what is not a list of at least one pair of a source's and a target's token ids."""
    if isinstance(pairs, str) or not hasattr(pairs, "__len__"):
        raise TypeError(f"{name} must be a list of pairs, got {reprlib.repr(pairs)}")
    if len(pairs) == 0:
        raise ValueError(f"{name} must hold at least one pair, got none")
    for number, pair in enumerate(pairs, start=1):
        sides = pair if isinstance(pair, list | tuple | Tensor) else ()
        if len(sides) != 2 or not all(map(are_ids, sides)):
            got = f"{reprlib.repr(pair)} as pair {number:,}"
            raise TypeError(f"{name} must hold pairs of two lists of token ids, got {got}")


def are_ids(side: object) -> bool:
    """Whether a value is a list of whole numbers; a tensor's type is checked when it is used."""
    if isinstance(side, str | bytes) or not hasattr(side, "__len__"):
        return False
    kinds = set(map(type, side)) - {Tensor}
    return all(issubclass(kind, Integral) and kind is not bool for kind in kinds)


def require_memory(size: int, *, copies: int = 1) -> None:
    """Refuse a model of more float32 numbers than the memory holds, before it is built."""
    if torch.get_default_device().type == "cpu" and hasattr(os, "sysconf"):  # not on Windows
        room = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // (4 * copies)
        if size > room:
            wanted = f"{room:,} numbers, for which there is memory"
            raise ValueError(f"model must have at most {wanted}, got {size:,}")


def require_same_batch(first_name: str, first: Tensor, second_name: str, second: Tensor) -> None:
    """Refuse two tensors with different batch sizes, the first axis of each."""
    names = f"{first_name} and {second_name}"
    require_same(f"{names} must have the same batch size", len(first), len(second))


def require_token_ids(
    name: str,
    token_ids: Tensor,
    vocabulary_size: int | None = None,
    max_length: int | None = None,
    *,
    device: torch.device | None = None,
) -> None:
    """Refuse token ids that are not whole numbers of shape (batch, position).

    The range, the length and the device are checked if they are given.
    """
    if not isinstance(token_ids, Tensor):
        raise TypeError(f"{name} must be a tensor of token ids, got {type(token_ids).__name__}")
    if token_ids.dim() != 2 or token_ids.numel() == 0:
        wanted, got = "(batch, position) with no empty axis", tuple(token_ids.shape)
        raise ValueError(f"{name} must have shape {wanted}, got {got}")
    if token_ids.dtype not in (torch.int64, torch.int32):
        raise TypeError(f"{name} must be of type torch.int64 or torch.int32, got {token_ids.dtype}")
    if max_length is not None and token_ids.size(1) > max_length:
        wanted, got = f"{max_length} positions (max_length)", token_ids.size(1)
        raise ValueError(f"{name} must have at most {wanted}, got {got}")
    if device is not None and token_ids.device != device:
        raise ValueError(f"{name} must be on {device}, got {token_ids.device}")
    readable = token_ids.device.type == "cpu" and not torch.compiler.is_compiling()
    if vocabulary_size is not None and readable:
        smallest, largest = (int(extreme) for extreme in token_ids.aminmax())
        if smallest < 0 or largest >= vocabulary_size:
            wrong = smallest if smallest < 0 else largest
            raise ValueError(f"{name} must be from 0 to {vocabulary_size - 1}, got {wrong}")
