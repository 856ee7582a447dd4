"""What can be asked of a model that writes, and how what it has written is read."""

import torch
from torch import Tensor, nn

from transformer_edu.model.refusals import require_whole
from transformer_edu.model.vocabulary import PADDING_ID

EXTRA_LENGTH = 50  # the paper writes at most 50 tokens more than the source has (§6.1)

LARGEST_WIDTH = 1000  # of a beam; the published translator takes a minute for a sentence with it


def require_width(name: str, width: int) -> None:
    """Refuse what is not a whole number from 1 to LARGEST_WIDTH.

    Raises:
        TypeError: If width is not a whole number.
        ValueError: If it is out of range.
    """
    require_whole(name, width)
    if width > LARGEST_WIDTH:
        raise ValueError(f"{name} must be at most {LARGEST_WIDTH:,}, got {width}")


def require_model(model: nn.Module) -> None:
    """Refuse, with a TypeError, a model that cannot read and write in two steps."""
    for method in ("source_mask", "encode", "decode", "project"):
        if not callable(getattr(model, method, None)):
            raise TypeError(f"model must have the method {method}, got {type(model).__name__}")


def require_tokens(
    start_id: int, end_id: int, padding_id: int, vocabulary_size: int | None = None
) -> None:
    """Refuse start and end tokens that are not two different ids beside padding's.

    Args:
        start_id, end_id, padding_id: The ids.
        vocabulary_size: How many tokens the model can write; None if that is not known.

    Raises:
        TypeError: If one of them is not a whole number.
        ValueError: If one is negative or not in the vocabulary, or two are the same.
    """
    for name, token_id in (("start_id", start_id), ("end_id", end_id)):
        require_whole(name, token_id, minimum=0)
        if vocabulary_size is not None and token_id >= vocabulary_size:
            raise ValueError(f"{name} must be from 0 to {vocabulary_size - 1}, got {token_id}")
    if len({start_id, end_id, padding_id}) < 3:
        raise ValueError(
            "start_id, end_id and padding must be three different ids, "
            f"got {start_id}, {end_id} and {padding_id}"
        )


def padding_id_of(model: nn.Module) -> int:
    """The id that fills short rows: what the model's config says, if it has one."""
    return getattr(getattr(model, "config", None), "padding_id", PADDING_ID)


def vocabulary_size_of(model: nn.Module) -> int | None:
    """How many tokens the model can write: what its config says, if it has one."""
    return getattr(getattr(model, "config", None), "output_size", None)


def length_limits(model: nn.Module, source_mask: Tensor, max_length: int | None) -> Tensor:
    """The most tokens that each row may have, the end token included.

    Args:
        model: Its config's max_length, if it has one, is never exceeded.
        source_mask: Where the sources hold real tokens, shape (batch, 1, 1, source position).
        max_length: The same limit for all; None allows EXTRA_LENGTH more than the source has.

    Returns:
        Whole numbers, shape (batch,).

    Raises:
        TypeError: If max_length is not a whole number.
        ValueError: If a source holds nothing but padding, or max_length is below 1 or beyond
            the model's.
    """
    lengths = source_mask.flatten(1).sum(dim=1)
    if not lengths.all():
        empty = int((lengths == 0).nonzero()[0])
        raise ValueError(f"source_ids must hold a real token in every row, got none in row {empty}")
    longest = getattr(getattr(model, "config", None), "max_length", None)
    if max_length is None:
        lengths = lengths + EXTRA_LENGTH
        return lengths if longest is None else lengths.clamp(max=longest)
    require_whole("max_length", max_length)
    if longest is not None and max_length > longest:
        raise ValueError(
            f"max_length must be at most {longest} (the model's max_length), got {max_length}"
        )
    return torch.full_like(lengths, max_length)


def strip(row: list[int], end_id: int, dropped: tuple[int, ...]) -> list[int]:
    """What was written before the end token, without the tokens to drop (start and padding)."""
    written = row[: row.index(end_id)] if end_id in row else row
    return [token for token in written if token not in dropped]
