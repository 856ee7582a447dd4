"""The decoder for searches: one position at a time, without the overhead of modules.

``Decoder`` with a cache computes the same numbers, and is the one to read. A search runs a decoder
a hundred times for a few vectors: calling modules, checking tensors and making masks then takes
longer than multiplying. This class does that work once, before the first step. test_stepwise.py
compares the two.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_edu.model.add_and_norm import AddAndNorm
from transformer_edu.model.attention import MultiHeadAttention
from transformer_edu.model.decoder import Decoder, DecoderLayer
from transformer_edu.model.embeddings import PositionalEncoding, TokenEmbedding
from transformer_edu.model.feed_forward import FeedForward
from transformer_edu.model.transformer import Transformer

INITIAL_CAPACITY = 16  # positions; doubled whenever they are used up
KNOWN_MODULES = {AddAndNorm, DecoderLayer, FeedForward, MultiHeadAttention}
KNOWN_MODULES |= {nn.Dropout, nn.LayerNorm, nn.Linear, nn.ModuleList}


class StepwiseDecoder:
    """What ``Transformer.decode`` returns, one position after the other, for some rows of targets.

    Args:
        model: One that ``can_step``; its weights must not change meanwhile.
        memory: What its encoder returned, shape (source, source position, d_model).
        source_mask: Its padding mask, shape (source, 1, 1, source position).
    """

    def __init__(self, model: Transformer, memory: Tensor, source_mask: Tensor) -> None:
        self.embedding, self.positions = model.target_embedding, model.positions.table
        self.padding_id = model.config.padding_id
        self.starts_with_padding = model.config.start_id == self.padding_id
        self.layers = [StepwiseLayer(layer, memory) for layer in model.decoder.layers]
        self.final_norm = model.decoder.final_norm
        self.sources = torch.arange(len(memory), device=memory.device)  # of each row
        self.source_mask = None if source_mask.all() else as_scores(source_mask, memory.dtype)
        self.visible = source_mask.new_empty(len(memory), 0)  # (row, position): no padding
        self.length = 0  # positions so far

    def __call__(self, token_ids: Tensor) -> Tensor:
        """Decode one more token of every row: from (row,) to (row, d_model)."""
        seen = token_ids != self.padding_id
        if self.length == 0 and self.starts_with_padding:
            seen = torch.ones_like(seen)
        self.visible = torch.cat([self.visible, seen.unsqueeze(1)], dim=1)
        mask = None
        if not self.visible.all():
            mask = as_scores(self.visible[:, None, None], self.positions.dtype)
        x = self.embedding(token_ids) + self.positions[self.length]
        for layer in self.layers:
            x = layer(x, self.length, mask, self.source_mask)
        self.length += 1
        return x if self.final_norm is None else self.final_norm(x)

    def keep(self, rows: Tensor, *, same_sources: bool = False) -> None:
        """Continue these rows, in this order; see DecoderCache.keep."""
        self.visible = self.visible[rows]
        for layer in self.layers:
            layer.keep(rows, self.length)
        if same_sources:
            return
        # The hypotheses of one source attend to the same keys, which need no copies.
        self.sources = self.sources[rows]
        places, counts = self.sources.unique_consecutive(return_counts=True)
        places = places if (counts == counts[0]).all() else self.sources
        for layer in self.layers:
            layer.keep_sources(places)
        if self.source_mask is not None:
            self.source_mask = self.source_mask[places]
        beams = len(rows) // len(places)
        self.sources = torch.arange(len(places), device=rows.device).repeat_interleave(beams)


class StepwiseAddAndNorm:
    """``AddAndNorm`` without the lookups of a module's attributes."""

    def __init__(self, wrapped: AddAndNorm) -> None:
        norm = wrapped.norm
        self.norm = (norm.normalized_shape, norm.weight, norm.bias, norm.eps)
        self.norm_first = wrapped.norm_first

    def __call__(self, x: Tensor, sublayer: Callable[..., Tensor], *given: object) -> Tensor:
        """From (row, d_model) to the same shape."""
        if self.norm_first:
            return x + sublayer(torch.layer_norm(x, *self.norm), *given)
        return torch.layer_norm(x + sublayer(x, *given), *self.norm)


class StepwiseLayer:
    """A ``DecoderLayer`` for one new position, with the keys and values of earlier positions.

    Args:
        layer: Its weights are used.
        memory: The encoder's output, shape (source, source position, d_model).
    """

    def __init__(self, layer: DecoderLayer, memory: Tensor) -> None:
        own, across, inner = layer.self_attention, layer.cross_attention, layer.feed_forward
        self.around_own = StepwiseAddAndNorm(layer.around_self_attention)
        self.around_across = StepwiseAddAndNorm(layer.around_cross_attention)
        self.around_inner = StepwiseAddAndNorm(layer.around_feed_forward)
        self.packed = pack(own.query_projection, own.key_projection, own.value_projection)
        self.own_output = weight_and_bias(own.output_projection)
        self.query = weight_and_bias(across.query_projection)
        self.across_output = weight_and_bias(across.output_projection)
        self.widen, self.narrow = weight_and_bias(inner.widen), weight_and_bias(inner.narrow)
        self.activation, self.num_heads = inner.activation, own.num_heads
        both = pack(across.key_projection, across.value_projection)
        # Keys and values, (2, source, heads, source position, d_head)
        of_sources = F.linear(memory, *both).unflatten(-1, (2, across.num_heads, -1))
        self.of_sources = of_sources.permute(2, 0, 3, 1, 4).contiguous()
        self._keep_in(memory.new_empty(INITIAL_CAPACITY, len(memory), 2 * memory.size(-1)))

    def __call__(
        self, x: Tensor, length: int, target_mask: Tensor | None, source_mask: Tensor | None
    ) -> Tensor:
        """From (row, d_model) to (row, d_model); masks hold what is added to the scores."""
        x = self.around_own(x, self._self_attention, length, target_mask)
        x = self.around_across(x, self._cross_attention, source_mask)
        return self.around_inner(x, self._feed_forward)

    def _self_attention(self, x: Tensor, length: int, mask: Tensor | None) -> Tensor:
        query, new = F.linear(x, *self.packed).tensor_split([x.size(1)], dim=1)
        if length == len(self.kept):
            self._keep_in(torch.cat([self.kept, torch.empty_like(self.kept)]))
        self.kept[length] = new
        keys, values = self.by_head.narrow(3, 0, length + 1).unbind()
        heads = F.scaled_dot_product_attention(
            query.view(len(x), self.num_heads, 1, -1), keys, values, attn_mask=mask
        )
        return F.linear(heads.reshape(x.shape), *self.own_output)

    def _cross_attention(self, x: Tensor, mask: Tensor | None) -> Tensor:
        keys, values = self.of_sources.unbind()
        query = F.linear(x, *self.query)
        queries = query.view(len(keys), -1, *keys.shape[1::2]).transpose(1, 2)
        heads = F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
        return F.linear(heads.transpose(1, 2).reshape(x.shape), *self.across_output)

    def _feed_forward(self, x: Tensor) -> Tensor:
        return F.linear(self.activation(F.linear(x, *self.widen)), *self.narrow)

    def _keep_in(self, room: Tensor) -> None:
        """Keep keys, then values, of all positions so far in (position, row, 2 · d_model)."""
        self.kept = room
        parted = room.unflatten(-1, (2, self.num_heads, -1))
        self.by_head = parted.permute(2, 1, 3, 0, 4)  # (2, row, heads, position, d_head)

    def keep(self, rows: Tensor, length: int) -> None:
        """Continue these rows of the targets, with their first positions."""
        room = self.kept.new_empty(len(self.kept), len(rows), self.kept.size(2))
        torch.index_select(self.kept[:length], 1, rows, out=room[:length])
        self._keep_in(room)

    def keep_sources(self, places: Tensor) -> None:
        """Continue these sources."""
        self.of_sources = self.of_sources.index_select(1, places)


def pack(*projections: nn.Linear) -> tuple[Tensor, Tensor | None]:
    """The weight and bias of one projection that does the work of several."""
    biases = [each.bias for each in projections if each.bias is not None]
    weight = torch.cat([each.weight for each in projections])
    return weight, torch.cat(biases) if biases else None


def weight_and_bias(projection: nn.Linear) -> tuple[Tensor, Tensor | None]:
    """The arguments of F.linear."""
    return projection.weight, projection.bias


def as_scores(mask: Tensor, dtype: torch.dtype) -> Tensor:
    """Zero where the mask is True and -inf where it is False, to be added to attention scores."""
    return torch.zeros_like(mask, dtype=dtype).masked_fill(~mask, -torch.inf)


def can_step(model: nn.Module) -> bool:
    """Whether ``StepwiseDecoder`` computes what ``decode`` does in evaluation mode.

    Each part must be the library's own, without hooks, which would record or change what it
    computes, and autocast must be off.
    """
    methods = ("decode", "_embed", "_target_mask")
    if not isinstance(model, Transformer) or any(
        getattr(type(model), name) is not getattr(Transformer, name) or name in vars(model)
        for name in methods
    ):
        return False
    kinds = {Decoder: [model.decoder], PositionalEncoding: [model.positions]}
    kinds[TokenEmbedding] = [model.target_embedding]
    kinds[nn.Embedding] = [model.target_embedding.table]
    kinds[nn.Dropout] = [model.embedding_dropout]
    parts = list(model.decoder.modules())[1:]
    whole = [model, *(part for own in kinds.values() for part in own), *parts]
    return (
        all(type(part) is kind for kind, own in kinds.items() for part in own)
        and all(type(part) in KNOWN_MODULES for part in parts)
        and not any(part._forward_hooks or part._forward_pre_hooks for part in whole)
        and not any("forward" in vars(part) for part in whole)
        and not torch.is_autocast_enabled(model.output_projection.weight.device.type)
    )
