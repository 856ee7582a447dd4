"""How beam search and sampling begin: what is asked is checked, then the sources are read."""

from typing import TypedDict

from torch import Tensor, nn

from transformer_edu.generation.continuation import Continuation
from transformer_edu.generation.requests import (
    length_limits,
    padding_id_of,
    require_model,
    require_tokens,
    strip,
    vocabulary_size_of,
)
from transformer_edu.model.refusals import require_flag, require_token_ids
from transformer_edu.model.vocabulary import END_ID, START_ID


class Request(TypedDict, total=False):
    """The keyword arguments that beam search and sampling take as greedy search does.

    Args:
        max_length: The most tokens to write in a row, the end token included; None allows
            EXTRA_LENGTH more than the row's source has, and never more than the model can.
        start_id: The decoder's first input, START_ID unless given.
        end_id: The token that ends a row, END_ID unless given.
        cached: Whether to keep keys and values from step to step, where the model can; True
            unless given.
    """

    max_length: int | None
    start_id: int
    end_id: int
    cached: bool


class Writing:
    """Targets that have been begun, each with the rules by which it ends.

    ``target`` writes them, ``limits`` holds the most tokens for each source, ``end_id`` ends one.

    Args:
        model: Has ``source_mask``, ``encode``, ``decode`` and ``project``, as Transformer has;
            in evaluation mode, gradients off.
        source_ids: Sources, padded at the end, shape (batch, source position).
        max_length, start_id, end_id, cached: As in Request.

    Raises:
        TypeError: If model lacks a method, or an argument is of another type.
        ValueError: If a source holds nothing but padding, max_length is below 1 or beyond the
            model's, or start, end and padding are not three different ids of its vocabulary.
    """

    def __init__(
        self,
        model: nn.Module,
        source_ids: Tensor,
        *,
        max_length: int | None = None,
        start_id: int = START_ID,
        end_id: int = END_ID,
        cached: bool = True,
    ) -> None:
        require_model(model)
        require_token_ids("source_ids", source_ids)
        require_flag("cached", cached)
        padding_id = padding_id_of(model)
        require_tokens(start_id, end_id, padding_id, vocabulary_size_of(model))
        limits = length_limits(model, model.source_mask(source_ids), max_length)
        self.limits: list[int] = limits.tolist()
        self.end_id = end_id
        self.target = Continuation(
            model,
            source_ids,
            start_id=start_id,
            longest=max(self.limits),
            cached=cached,
        )
        self._dropped = (start_id, padding_id)

    def read(self, row: list[int]) -> list[int]:
        """What a row of ``target.written`` says: its ids without start, end and padding."""
        return strip(row, self.end_id, self._dropped)
