"""How the tools for looking inside a model refuse bad input, in one sentence each."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from transformer_edu.refusals import require_whole
from transformer_edu.training.data.toy_tasks import Pair

ABOVE_ONE = 1e-3  # what half precision adds up to beyond one


def require_pairs(pairs: Sequence[Pair]) -> None:
    """Refuse what are no pairs of source ids and target ids.

    Raises:
        TypeError: If pairs is no sequence of pairs of whole numbers.
        ValueError: If there are none, or an id is negative.
    """
    if not _is_list(pairs):
        raise TypeError(f"pairs must be a list of pairs, got {type(pairs).__name__}")
    if len(pairs) == 0:
        raise ValueError("pairs must hold at least one pair, got none")
    for pair in pairs:
        if not _is_pair(pair):
            raise TypeError(f"pairs must hold pairs of source ids and target ids, got {pair!r}")
        for token_id in (*pair[0], *pair[1]):
            require_whole("ids in pairs", token_id, minimum=0)


def require_pair(pair: Pair, tokens: Sequence[str]) -> None:
    """Refuse what is no source and target with a token for each id.

    Raises:
        TypeError: If pair is no pair of token ids, or tokens no list.
        ValueError: If the source is empty, or an id has no token.
    """
    if not _is_pair(pair):
        raise TypeError(f"pair must be source ids and target ids, got {pair!r}")
    if not _is_list(tokens):
        raise TypeError(f"tokens must be the token of every id, got {type(tokens).__name__}")
    if not pair[0]:
        raise ValueError("pair must have a source of at least one token, got an empty one")
    for token_id in (*pair[0], *pair[1]):
        require_whole("pair", token_id, minimum=0)
        if token_id >= len(tokens):
            raise ValueError(f"pair must hold ids below {len(tokens)}, got {token_id}")


def require_lengths(name: str, lengths: Sequence[int]) -> None:
    """Refuse what are no lengths of sentences.

    Raises:
        TypeError: If lengths is no sequence of whole numbers.
        ValueError: If one is below 1.
    """
    if not _is_list(lengths):
        raise TypeError(f"{name} must be a list of lengths, got {lengths!r}")
    for length in lengths:
        require_whole(name, length)


def require_ids(name: str, token_ids: Sequence[int]) -> None:
    """Refuse what are no token ids; there may be none of them.

    Raises:
        TypeError: If token_ids is no sequence of whole numbers.
        ValueError: If one is negative.
    """
    if not _is_list(token_ids):
        raise TypeError(f"{name} must be a list of token ids, got {token_ids!r}")
    for token_id in token_ids:
        require_whole(name, token_id, minimum=0)


def require_pieces(token_ids: Sequence[int], pieces: Sequence[bytes]) -> None:
    """Refuse token ids that have no piece of bytes.

    Raises:
        TypeError: If token_ids is no sequence of whole numbers, or pieces none of bytes.
        ValueError: If an id has no piece.
    """
    require_ids("token_ids", token_ids)
    if not _is_list(pieces):
        raise TypeError(f"pieces must be the bytes of every token, got {type(pieces).__name__}")
    for token_id in token_ids:
        if token_id >= len(pieces):
            raise ValueError(f"token_ids must be below {len(pieces)}, got {token_id}")
        if not isinstance(pieces[token_id], bytes):
            raise TypeError(f"pieces must be the bytes of every token, got {pieces[token_id]!r}")


def require_floats(name: str, tensor: Tensor) -> None:
    """Refuse, with a TypeError, what is no tensor of floating-point numbers."""
    if not isinstance(tensor, Tensor) or not tensor.is_floating_point():
        got = tensor.dtype if isinstance(tensor, Tensor) else type(tensor).__name__
        raise TypeError(f"{name} must be a tensor of floating-point numbers, got {got}")


def require_zero_to_one(name: str, numbers: Tensor | np.ndarray) -> None:
    """Refuse, with a ValueError, numbers outside [0, 1], NaN too; half precision may overshoot."""
    outside = numbers[~((numbers >= 0) & (numbers <= 1 + ABOVE_ONE))]
    if len(outside) > 0:
        raise ValueError(f"{name} must be from 0 to 1, got {outside[0].item()}")


def require_cells(weights: Tensor, cells: Tensor) -> None:
    """Refuse what is no attention, or does not say which of its cells count.

    Args:
        weights: Shape (..., batch, heads, query, key), from 0 to 1.
        cells: True for the cells that count, shape (batch, query, key).

    Raises:
        TypeError: If weights holds no floating-point numbers, or cells is not boolean.
        ValueError: If shapes do not fit, or a weight lies outside [0, 1].
    """
    if not isinstance(cells, Tensor) or cells.dtype != torch.bool:
        got = cells.dtype if isinstance(cells, Tensor) else type(cells).__name__
        raise TypeError(f"cells must be a boolean tensor, True where a cell counts, got {got}")
    require_floats("weights", weights)
    fits = weights.dim() >= 4 and weights.shape[-4:-3] + weights.shape[-2:] == cells.shape
    if not fits:
        raise ValueError(
            f"cells must have the (batch, query, key) of weights {tuple(weights.shape)}, "
            f"got {tuple(cells.shape)}"
        )
    require_zero_to_one("weights", weights)


def require_map(name: str, weights: np.ndarray, *, axes: Sequence[str]) -> None:
    """Refuse what is no array of attention weights with these axes.

    Raises:
        TypeError: If weights is no array of floating-point numbers.
        ValueError: If it has other axes, an empty one, or a weight outside [0, 1].
    """
    if not isinstance(weights, np.ndarray) or not np.issubdtype(weights.dtype, np.floating):
        got = weights.dtype if isinstance(weights, np.ndarray) else type(weights).__name__
        raise TypeError(f"{name} must be an array of floating-point numbers, got {got}")
    if weights.ndim != len(axes) or weights.size == 0:
        raise ValueError(
            f"{name} must have shape ({', '.join(axes)}) with no empty axis, got {weights.shape}"
        )
    require_zero_to_one(name, weights)


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _is_pair(value: object) -> bool:
    return _is_list(value) and len(value) == 2 and all(map(_is_list, value))
