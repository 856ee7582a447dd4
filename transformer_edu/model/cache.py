"""The key/value cache: what the decoder has computed once and need not compute again.

A new token changes neither the keys and values of the tokens before it, which cannot see it, nor
those of the source. Queries are not kept: each is asked once. Met in
notebooks/11_generation.ipynb.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from transformer_edu.model.refusals import (
    require_device,
    require_flag,
    require_pair,
    require_rows,
    require_token_ids,
    require_whole,
)


class KeyValueCache:
    """The keys and values of one attention, by head.

    What ``keys`` and ``values`` return is room that later steps write over: copy it to keep it.

    Args:
        max_length: Positions to make room for, all at once; None for an attention to the
            source, whose keys and values are complete after the first step.
    """

    def __init__(self, max_length: int | None = None) -> None:
        if max_length is not None:
            require_whole("max_length", max_length)
        self.max_length = max_length
        self.length = 0
        self._keys: Tensor | None = None  # (batch, heads, room, d_head)
        self._values: Tensor | None = None
        self._rows: Tensor | None = None  # which rows to go on with, if not all as they are
        self._spare: list[Tensor] = []  # room to move rows to

    @property
    def is_complete(self) -> bool:
        """Whether there is nothing to add: the source has been read."""
        return self.max_length is None and self.length > 0

    @property
    def keys(self) -> Tensor:
        """All keys so far, shape (batch, heads, key, d_head)."""
        self._move_rows()
        return self._keys[:, :, : self.length]

    @property
    def values(self) -> Tensor:
        """All values so far, shape (batch, heads, key, d_head)."""
        self._move_rows()
        return self._values[:, :, : self.length]

    def add(self, keys: Tensor, values: Tensor) -> None:
        """Append the keys and values of new positions.

        Args:
            keys: Shape (batch, heads, new position, d_head).
            values: Shape (batch, heads, new position, d_head).

        Raises:
            TypeError: If they are no tensors of one floating-point type.
            ValueError: If there is no room, or they are not like those before.
        """
        require_pair("keys", keys, "values", values, axis=-2)
        if keys.dim() != 4:
            raise ValueError(
                f"keys must have shape (batch, heads, position, d_head), got {tuple(keys.shape)}"
            )
        end = self.length + keys.size(2)
        if self.max_length is None:
            # Together in memory, as every step will read them.
            self._keys, self._values, self.length = keys.contiguous(), values.contiguous(), end
            return
        if end > self.max_length:
            raise ValueError(f"cache must have room for {end} positions, got {self.max_length}")
        if self._keys is None:
            self._keys, self._values = (self._room(x, len(x)) for x in (keys, values))
        self._move_rows()
        self.require_alike("keys", keys)
        if torch.is_grad_enabled():  # a backward pass needs what is there as it was
            self._keys, self._values = self._keys.clone(), self._values.clone()
        self._keys[:, :, self.length : end] = keys
        self._values[:, :, self.length : end] = values
        self.length = end

    def require_alike(self, name: str, vectors: Tensor) -> None:
        """Refuse, with a ValueError, what does not go with the cache: another model's, perhaps.

        Args:
            name: What the caller calls them, for the sentence.
            vectors: Shape (batch, heads, any position, d_head).
        """
        require_device(name, vectors, self._keys.device)
        kept, got = ((x.shape[0], x.shape[1], x.shape[3], x.dtype) for x in (self._keys, vectors))
        if kept != got:
            kept, got = ((*sizes, str(dtype)) for *sizes, dtype in (kept, got))
            raise ValueError(
                f"{name} must have the cache's batch, heads, d_head and type {kept}, got {got}"
            )

    def keep(self, rows: Tensor) -> None:
        """Go on with these rows of the batch, in this order; a row may be taken twice.

        Args:
            rows: Row numbers, shape (new batch,).
        """
        if self.length > 0:
            self._rows = rows if self._rows is None else self._rows.index_select(0, rows)

    def _room(self, like: Tensor, rows: int) -> Tensor:
        """Memory for all positions to come, in which what one step adds lies together."""
        _, heads, _, d_head = like.shape
        return like.new_empty(rows, self.max_length, heads, d_head).transpose(1, 2)

    def _move_rows(self) -> None:
        """Copy the rows that were asked for: only now, so that attention finds them at hand."""
        if self._keys is None:
            raise ValueError("cache must be filled before it is read, got an empty one")
        rows, self._rows = self._rows, None
        if rows is None:
            return
        # Gradients need a copy of its own; the source's rows move too seldom to keep room for it.
        if torch.is_grad_enabled() or self.max_length is None:
            self._keys = self._keys.index_select(0, rows)
            self._values = self._values.index_select(0, rows)
            return
        if not self._spare or len(rows) != len(self._spare[0]):
            self._spare = [self._room(kept, len(rows)) for kept in (self._keys, self._values)]
        moved, self._spare = self._spare, [self._keys, self._values]
        for kept, place in zip(self._spare, moved, strict=True):
            written = slice(self.length)
            torch.index_select(kept[:, :, written], 0, rows, out=place[:, :, written])
        self._keys, self._values = moved


class LayerCache(NamedTuple):
    """The two caches of one decoder layer."""

    self_attention: KeyValueCache
    cross_attention: KeyValueCache


class DecoderCache:
    """What a whole decoder keeps between steps; ``Transformer.decode`` fills and reads it.

    Make a new one for every model and every batch of sources: what it remembers is theirs, and
    others of the same sizes go unnoticed.

    Args:
        num_layers: Layers of the decoder.
        max_length: Target positions to make room for.

    Raises:
        TypeError, ValueError: If a size is not a whole number of at least 1.
    """

    def __init__(self, *, num_layers: int, max_length: int) -> None:
        require_whole("num_layers", num_layers)
        require_whole("max_length", max_length)
        self.max_length = max_length
        self.layers = [
            LayerCache(KeyValueCache(max_length), KeyValueCache()) for _ in range(num_layers)
        ]
        self.token_ids: Tensor | None = None  # (batch, position), what has been decoded

    @property
    def length(self) -> int:
        """How many target positions are kept."""
        return 0 if self.token_ids is None else self.token_ids.size(1)

    def with_new(self, target_ids: Tensor) -> Tensor:
        """The target so far and its new end; nothing is remembered yet.

        Args:
            target_ids: The tokens that follow, shape (batch, new position).

        Returns:
            Shape (batch, target position).

        Raises:
            TypeError: If target_ids are no token ids.
            ValueError: If the batch or device is another one than before, or there is no room.
        """
        require_token_ids("target_ids", target_ids)
        for layer in self.layers:  # a call that was interrupted has filled some of them only
            layer.self_attention.length = self.length
        if self.token_ids is None:
            whole = target_ids
        elif len(target_ids) != len(self.token_ids):
            raise ValueError(
                f"target_ids must have {len(self.token_ids)} rows like the cache, "
                f"got {len(target_ids)}"
            )
        else:
            require_device("target_ids", target_ids, self.token_ids.device)
            whole = torch.cat([self.token_ids, target_ids], dim=1)
        if whole.size(1) > self.max_length:
            raise ValueError(
                f"target_ids must fit the cache's {self.max_length} positions, got {whole.size(1)}"
            )
        return whole

    def keep(self, rows: Tensor, *, same_sources: bool = False) -> None:
        """Go on with these rows of the batch, in this order; a row may be taken twice.

        Args:
            rows: Row numbers, shape (new batch,).
            same_sources: Whether row i's source is what it was, as when the beams of one
                source change places: then the source's keys and values stay where they are.

        Raises:
            TypeError, ValueError: If rows are not row numbers, or same_sources is no switch.
        """
        require_flag("same_sources", same_sources)
        if self.token_ids is None:
            return
        size = len(self.token_ids)
        require_rows("rows", rows, size)
        require_device("rows", rows, self.token_ids.device)
        if same_sources and len(rows) != size:
            raise ValueError(f"rows must be {size} for the same sources, got {len(rows)}")
        self.token_ids = self.token_ids.index_select(0, rows)
        for layer in self.layers:
            layer.self_attention.keep(rows)
            if not same_sources:
                layer.cross_attention.keep(rows)


def require_cache(cache: object, kind: type) -> None:
    """Refuse, with a TypeError, what is neither a cache of that kind nor None."""
    if cache is not None and not isinstance(cache, kind):
        raise TypeError(f"cache must be a {kind.__name__} or None, got {type(cache).__name__}")
