"""The key/value cache: what the decoder has computed once and need not compute again.

Earlier tokens cannot attend to a new one, so their keys and values stay the same; so do those of
the source. Queries are used once and are not kept. Met in notebooks/12_generation.ipynb.
"""

from typing import NamedTuple

import torch
from torch import Tensor


class KeyValueCache:
    """The keys and values of one attention, each of shape (batch, heads, position, d_head)."""

    def __init__(self) -> None:
        self.keys: Tensor | None = None
        self.values: Tensor | None = None

    @property
    def length(self) -> int:
        """How many positions are kept."""
        return 0 if self.keys is None else self.keys.size(2)

    def add(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Append keys and values of new positions, if any, and return those of all positions."""
        if self.length == 0:
            self.keys, self.values = keys, values
        elif keys.size(2) > 0:
            self.keys = torch.cat([self.keys, keys], dim=2)
            self.values = torch.cat([self.values, values], dim=2)
        return self.keys, self.values

    def cut(self, length: int) -> None:
        """Keep only the first positions."""
        if self.length > length:
            self.keys, self.values = self.keys[:, :, :length], self.values[:, :, :length]

    def keep(self, rows: Tensor) -> None:
        """Keep these rows of the batch, shape (new batch,); a row may be taken twice."""
        if self.length > 0:
            self.keys = self.keys.index_select(0, rows)
            self.values = self.values.index_select(0, rows)


class LayerCache(NamedTuple):
    """The two caches of one decoder layer."""

    self_attention: KeyValueCache
    cross_attention: KeyValueCache


class DecoderCache:
    """What a whole decoder keeps between steps; ``Transformer.decode`` fills and reads it.

    Make a new one for every model and every batch of sources: a cache cannot tell them from
    others of the same sizes.

    Args:
        num_layers: Layers of the decoder.
    """

    def __init__(self, *, num_layers: int) -> None:
        self.layers = [LayerCache(KeyValueCache(), KeyValueCache()) for _ in range(num_layers)]
        self.token_ids: Tensor | None = None  # (batch, position), what has been decoded

    @property
    def length(self) -> int:
        """How many target positions are kept."""
        return 0 if self.token_ids is None else self.token_ids.size(1)

    def whole_target(self, new_ids: Tensor, memory: Tensor, num_heads: int) -> Tensor:
        """The target with its new tokens, which are not kept yet, shape (batch, target position).

        Args:
            new_ids: The tokens that follow, shape (batch, new position).
            memory: The encoder's output, shape (batch, source position, d_model).
            num_heads: The decoder's.

        Raises:
            ValueError: If the sizes of the batch, source or model are not the cache's.
        """
        for layer in self.layers:  # a call that was interrupted has filled only some of them
            layer.self_attention.cut(self.length)
            if self.token_ids is None:
                layer.cross_attention.cut(0)
        if self.token_ids is None:
            return new_ids
        kept = tuple(self.layers[0].cross_attention.keys.shape)
        given = (len(new_ids), num_heads, memory.size(1), memory.size(2) // num_heads)
        if kept != given:
            sizes = f"batch, heads, source length and d_head {kept}"
            raise ValueError(f"target_ids and memory must have the cache's {sizes}, got {given}")
        return torch.cat([self.token_ids, new_ids], dim=1)

    def keep(self, rows: Tensor, *, same_sources: bool = False) -> None:
        """Keep these rows of the batch, in this order; a row may be taken twice.

        Args:
            rows: Row numbers, shape (new batch,).
            same_sources: Whether every row keeps its source, as when the beams of one source
                change places: then the source's keys and values are not copied.

        Raises:
            IndexError: If a row is outside of the batch.
        """
        if self.token_ids is None:
            return
        self.token_ids = self.token_ids.index_select(0, rows)
        for layer in self.layers:
            layer.self_attention.keep(rows)
            if not same_sources:
                layer.cross_attention.keep(rows)
