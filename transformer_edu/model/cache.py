"""The key/value cache: what the decoder has computed once and need not compute again.

A new token changes neither the keys and values of the tokens before it, which cannot see it, nor
those of the source. Queries are not kept: each is asked once. Met in
notebooks/11_generation.ipynb.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from transformer_edu.refusals import require_whole


class KeyValueCache:
    """The keys and values of one attention, by head.

    What ``keys`` and ``values`` return has the shape (batch, heads, position, d_head).
    """

    def __init__(self) -> None:
        self.length = 0  # positions that are kept
        self._keys: Tensor | None = None  # there may be room behind those positions
        self._values: Tensor | None = None

    @property
    def keys(self) -> Tensor:
        """All keys so far."""
        return self._keys[:, :, : self.length]

    @property
    def values(self) -> Tensor:
        """All values so far."""
        return self._values[:, :, : self.length]

    def add(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Append those of new positions.

        Args:
            keys: Shape (batch, heads, new position, d_head); there may be no new position.
            values: The same.

        Returns:
            The keys and values of all positions so far.
        """
        if self.length == 0:
            self._keys, self._values = keys.contiguous(), values.contiguous()
        elif keys.size(2) > 0:
            self._keys = appended(self.keys, self._keys, keys)
            self._values = appended(self.values, self._values, values)
        self.length += keys.size(2)
        return self.keys, self.values

    def keep(self, rows: Tensor) -> None:
        """Go on with these rows of the batch, shape (new batch,); a row may be taken twice."""
        if self.length > 0:
            self._keys = self._keys.index_select(0, rows)
            self._values = self._values.index_select(0, rows)


def appended(kept: Tensor, room: Tensor, new: Tensor) -> Tensor:
    """Room that begins with kept and goes on with new.

    Room to grow into saves copying everything at every step: without it, greedy search for 32
    sources took 9 % longer. Gradients need the tensors of earlier steps as they were.

    Args:
        kept: Shape (batch, heads, position, d_head).
        room: What kept is the beginning of.
        new: Shape (batch, heads, new position, d_head).
    """
    if torch.is_grad_enabled():
        return torch.cat([kept, new], dim=2)
    batch, heads, length, d_head = kept.shape
    end = length + new.size(2)
    if room.size(2) < end:
        room = kept.new_empty(batch, heads, 2 * end, d_head)
        room[:, :, :length] = kept
    room[:, :, length:end] = new
    return room


def with_earlier(
    cache: KeyValueCache | None, keys: Tensor, values: Tensor
) -> tuple[Tensor, Tensor]:
    """The keys and values to attend to: the cache's and these; these alone without a cache."""
    return (keys, values) if cache is None else cache.add(keys, values)


class LayerCache(NamedTuple):
    """The two caches of one decoder layer."""

    self_attention: KeyValueCache
    cross_attention: KeyValueCache


class DecoderCache:
    """What a whole decoder keeps between steps; ``Transformer.decode`` fills and reads it.

    Make a new one for every model and every batch of sources: it remembers their numbers, and
    does not notice others of the same sizes.

    Args:
        num_layers: Layers of the decoder.
        max_length: The most target positions.

    Raises:
        TypeError, ValueError: If a size is not a whole number of at least 1.
    """

    def __init__(self, *, num_layers: int, max_length: int) -> None:
        require_whole("num_layers", num_layers)
        require_whole("max_length", max_length)
        self.max_length = max_length
        self.layers = [LayerCache(KeyValueCache(), KeyValueCache()) for _ in range(num_layers)]
        self.token_ids: Tensor | None = None  # (batch, position), what has been decoded

    @property
    def length(self) -> int:
        """How many target positions are kept."""
        return 0 if self.token_ids is None else self.token_ids.size(1)

    def with_new(self, target_ids: Tensor, memory: Tensor, num_heads: int) -> Tensor:
        """The target so far and its new end; nothing is remembered yet.

        Args:
            target_ids: The tokens that follow, shape (batch, new position).
            memory: The encoder's output, shape (batch, source position, d_model).
            num_heads: The decoder's.

        Returns:
            Shape (batch, target position).

        Raises:
            ValueError: If the sizes of the batch, source or model are not the cache's, or there
                is no room.
        """
        length = self.length + target_ids.size(1)
        if length > self.max_length:
            raise ValueError(
                f"target_ids must fit the cache's {self.max_length} positions, got {length}"
            )
        for layer in self.layers:  # a call that was interrupted has filled some of them only
            layer.self_attention.length = self.length
        if self.token_ids is None:
            for layer in self.layers:
                layer.cross_attention.length = 0
            return target_ids
        kept = tuple(self.layers[0].cross_attention.keys.shape)
        given = (len(target_ids), num_heads, memory.size(1), memory.size(2) // num_heads)
        if kept != given:
            raise ValueError(
                "target_ids and memory must have the cache's batch, heads, source length and "
                f"d_head {kept}, got {given}"
            )
        return torch.cat([self.token_ids, target_ids], dim=1)

    def keep(self, rows: Tensor, *, same_sources: bool = False) -> None:
        """Go on with these rows of the batch, in this order; a row may be taken twice.

        Args:
            rows: Row numbers, shape (new batch,).
            same_sources: Whether row i's source is what it was, as when the beams of one
                source change places: then the source's keys and values stay where they are.

        Raises:
            IndexError, ValueError: If rows are outside of the batch, or too few for same_sources.
        """
        if self.token_ids is None:
            return
        size = len(self.token_ids)
        if same_sources and len(rows) != size:
            raise ValueError(f"rows must be {size} for the same sources, got {len(rows)}")
        self.token_ids = self.token_ids.index_select(0, rows)
        for layer in self.layers:
            layer.self_attention.keep(rows)
            if not same_sources:
                layer.cross_attention.keep(rows)
