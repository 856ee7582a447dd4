"""Greedy search: at every step the likeliest token, never taken back (paper §6.1).

Met in notebooks/00_start_here.ipynb and 08_decoder.ipynb.
"""

import torch
from torch import Tensor, nn

from transformer_edu.generation.evaluation_mode import evaluation_mode
from transformer_edu.model.refusals import require_token_ids, require_whole
from transformer_edu.model.vocabulary import END_ID, PADDING_ID, START_ID

EXTRA_LENGTH = 50  # the paper writes at most 50 tokens more than the source has (§6.1)


def greedy_search(
    model: nn.Module,
    source_ids: Tensor,
    *,
    max_length: int | None = None,
    start_id: int = START_ID,
    end_id: int = END_ID,
) -> list[list[int]]:
    """Write one target for each source, every token the argmax of the model's logits.

    No token is forbidden: what the model prefers is what is written. A row is done at its
    end token or at its maximum length, and does not depend on when the others are done.

    Args:
        model: Has ``source_mask``, ``encode``, ``decode`` and ``project``, as Transformer has.
            It runs in evaluation mode and without gradients; its modes are restored.
        source_ids: Sources of any lengths, padded at the end, shape (batch, source position).
        max_length: The most tokens to write in a row, the end token included; None allows
            EXTRA_LENGTH more than the row's source has, and never more than the model can.
        start_id: The decoder's first input.
        end_id: The token that ends a row.

    Returns:
        For each source the ids written, without start, end and padding.

    Raises:
        TypeError: If model lacks a method, or an argument is of another type.
        ValueError: If a source holds nothing but padding, max_length is below 1 or beyond the
            model's, start and end are the same, or the model answers NaN.
    """
    _require_model(model)
    require_token_ids("source_ids", source_ids)
    padding_id = getattr(getattr(model, "config", None), "padding_id", PADDING_ID)
    _require_tokens(start_id, end_id, padding_id)
    with evaluation_mode(model):
        source_mask = model.source_mask(source_ids)  # (batch, 1, 1, source position)
        limits = _limits(model, source_mask, max_length)  # (batch,)
        memory = model.encode(source_ids, source_mask=source_mask)
        written = source_ids.new_full((len(source_ids), 1), start_id)  # (batch, target position)
        done = torch.zeros_like(limits, dtype=torch.bool)  # (batch,)
        for step in range(1, int(limits.max()) + 1):
            decoded = model.decode(written, memory, source_mask=source_mask)
            next_ids = _likeliest(model.project(decoded[:, -1:]), step)  # (batch,)
            next_ids = next_ids.masked_fill(done, end_id).to(written.dtype)
            written = torch.cat([written, next_ids.unsqueeze(1)], dim=1)
            done = done | (next_ids == end_id) | (limits <= step)
            if done.all():
                break
    return [_strip(row, end_id, (start_id, padding_id)) for row in written.tolist()]


def _likeliest(logits: Tensor, step: int) -> Tensor:
    """The argmax of the last position's logits, (batch, 1, vocabulary) to (batch,)."""
    if logits.isnan().any():
        raise ValueError(f"logits must be numbers, got NaN at step {step}")
    return logits.argmax(dim=-1).squeeze(1)


def _strip(row: list[int], end_id: int, dropped: tuple[int, int]) -> list[int]:
    """What was written before the end token, without start and padding."""
    written = row[: row.index(end_id)] if end_id in row else row
    return [token for token in written if token not in dropped]


def _limits(model: nn.Module, source_mask: Tensor, max_length: int | None) -> Tensor:
    """The most tokens that each row may have, shape (batch,)."""
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


def _require_model(model: nn.Module) -> None:
    """Refuse a model that cannot read and write in two steps."""
    for method in ("source_mask", "encode", "decode", "project"):
        if not callable(getattr(model, method, None)):
            raise TypeError(f"model must have the method {method}, got {type(model).__name__}")


def _require_tokens(start_id: int, end_id: int, padding_id: int) -> None:
    """Refuse start and end tokens that are not two different ids beside padding's."""
    require_whole("start_id", start_id, minimum=0)
    require_whole("end_id", end_id, minimum=0)
    if len({start_id, end_id, padding_id}) < 3:
        raise ValueError(
            "start_id, end_id and padding must be three different ids, "
            f"got {start_id}, {end_id} and {padding_id}"
        )
