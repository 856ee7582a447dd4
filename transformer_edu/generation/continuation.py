"""Writing on: what has been written so far, and the model's logits for what comes next.

Greedy search, beam search and sampling all stand on it; they differ only in what they choose.
Read in notebooks/11_generation.ipynb.
"""

from inspect import signature
from typing import TypedDict

import torch
from torch import Tensor, nn

from transformer_edu.generation.ranking import require_possible
from transformer_edu.model.cache import DecoderCache
from transformer_edu.model.vocabulary import END_ID, PADDING_ID, START_ID
from transformer_edu.refusals import (
    require_flag,
    require_rows,
    require_token_ids,
    require_whole,
)


class Continuation:
    """Targets that are being written, each for its own source.

    The source is read once. With a cache, every step computes the newest position only;
    without, the whole target again. The logits are the same. A decoder with parts of a learner's
    own that take no ``cache`` does without.

    Args:
        model: Has ``source_mask``, ``encode``, ``decode`` and ``project``, as Transformer has;
            in evaluation mode, gradients off.
        source_ids: Sources, padded at the end, shape (batch, source position).
        start_id: What every target starts with.
        longest: The most tokens that will be appended.
        cached: Whether to use a cache where the model can.
    """

    def __init__(
        self,
        model: nn.Module,
        source_ids: Tensor,
        *,
        start_id: int,
        longest: int,
        cached: bool = True,
    ) -> None:
        self.model = model
        self.source_mask = model.source_mask(source_ids)  # (batch, 1, 1, source position)
        self.memory = model.encode(source_ids, source_mask=self.source_mask)
        self.written = source_ids.new_full((len(source_ids), 1), start_id)  # (rows, position)
        self.cache = None
        if cached and can_cache(model):
            layers = len(model.decoder.layers)
            self.cache = DecoderCache(num_layers=layers, max_length=longest)

    def next_logits(self) -> Tensor:
        """Score every token as the next one of every row, shape (rows, vocabulary).

        Raises:
            ValueError: If the best logit of a row is NaN or infinite; the message names the step,
                the first being 1.
        """
        if self.cache is None:
            decoded = self.model.decode(self.written, self.memory, source_mask=self.source_mask)
        else:
            newest = self.written[:, self.cache.length :]  # (rows, 1)
            decoded = self.model.decode(
                newest, self.memory, source_mask=self.source_mask, cache=self.cache
            )
        logits = self.model.project(decoded[:, -1:]).squeeze(1)
        require_possible(logits.amax(dim=-1), step=self.written.size(1))
        return logits

    def append(self, next_ids: Tensor) -> None:
        """Write one more token in every row.

        Args:
            next_ids: Shape (rows,), int32 or int64.

        Raises:
            TypeError, ValueError: If they are not token ids, one for each row.
        """
        rows = len(self.written)
        if not isinstance(next_ids, Tensor) or next_ids.dtype not in (torch.int64, torch.int32):
            got = next_ids.dtype if isinstance(next_ids, Tensor) else type(next_ids).__name__
            raise TypeError(f"next_ids must be a tensor of token ids, got {got}")
        if next_ids.shape != (rows,):
            raise ValueError(
                f"next_ids must have shape ({rows},), one for each row, got {tuple(next_ids.shape)}"
            )
        newest = next_ids.to(self.written.dtype).unsqueeze(1)
        self.written = torch.cat([self.written, newest], dim=1)

    def reorder(self, rows: Tensor) -> None:
        """Let row i go on with what row rows[i] has written; both must have the same source.

        Args:
            rows: Row numbers, shape (rows,).

        Raises:
            TypeError, ValueError: If they are not as many row numbers as there are rows.
        """
        require_rows("rows", rows, len(self.written))
        if len(rows) != len(self.written):
            raise ValueError(f"rows must be {len(self.written)}, got {len(rows)}")
        self.written = self.written[rows]
        if self.cache is not None:
            self.cache.keep(rows, same_sources=True)

    def keep(self, rows: Tensor) -> None:
        """Go on with these rows only, each with its source; a row may be taken more than once.

        Args:
            rows: Row numbers, shape (new rows,).

        Raises:
            TypeError, ValueError: If they are not row numbers.
        """
        require_rows("rows", rows, len(self.written))
        self.written = self.written[rows]
        self.source_mask, self.memory = self.source_mask[rows], self.memory[rows]
        if self.cache is not None:
            self.cache.keep(rows)


def can_cache(model: nn.Module) -> bool:
    """Whether every part of the model's decoder can go on from a cache; a learner's own may not.

    Args:
        model: Any model with ``decode``.
    """
    decoder = getattr(model, "decoder", None)
    layers = list(getattr(decoder, "layers", []))
    attentions = [
        getattr(layer, name, None)
        for layer in layers
        for name in ("self_attention", "cross_attention")
    ]
    return (
        _takes(model.decode, "cache")
        and all(_takes(part, "cache") for part in (decoder, *layers, *attentions))
        and _takes(getattr(model, "positions", None), "offset")
    )


def _takes(call: object, name: str) -> bool:
    """Whether a function, or a module's forward, has a parameter of that name."""
    call = getattr(call, "forward", call)
    return callable(call) and name in signature(call).parameters


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
