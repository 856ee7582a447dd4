"""Transformers with one fault each, as found in published code.

All of them train without an error, most with a low loss. They are for lessons only:
notebooks/06_feed_forward_add_and_norm.ipynb and 10_training.ipynb.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_edu.model.add_and_norm import AddAndNorm
from transformer_edu.model.attention import MultiHeadAttention, merge_heads, split_heads
from transformer_edu.model.embeddings import PositionalEncoding
from transformer_edu.model.masks import padding_mask
from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.model.vocabulary import END_ID


class WithoutCausalMask(Transformer):
    """The target mask hides only padding: every position can attend to the token it predicts."""

    def decode(
        self,
        target_ids: Tensor,
        memory: Tensor,
        *,
        source_mask: Tensor | None,
        target_mask: Tensor | None = None,
    ) -> Tensor:
        """Transformer.decode, whatever target_mask is."""
        visible = padding_mask(target_ids, padding_id=self.config.padding_id)
        return super().decode(target_ids, memory, source_mask=source_mask, target_mask=visible)


class TargetNotShifted(Transformer):
    """The decoder's input is the labels themselves, end token included, not shifted by one.

    In published code the fault is in the batch. Here it is in ``forward``, which training calls
    and generation does not, so the same loop trains every fault.
    """

    def forward(self, source_ids: Tensor, target_ids: Tensor, **masks: Tensor | None) -> Tensor:
        """Transformer.forward with the labels in place of target_ids."""
        padding_id = self.config.padding_id
        labels = F.pad(target_ids[:, 1:], (0, 1), value=padding_id)
        is_last = (target_ids != padding_id) & (labels == padding_id)
        return super().forward(source_ids, labels.masked_fill(is_last, END_ID), **masks)


class SoftmaxOverQueries(Transformer):
    """The softmax runs along the wrong axis: the weights of a key sum to one over the queries."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config)
        _change_class(self, MultiHeadAttention, _QuerySoftmaxAttention)


class WithoutPositions(Transformer):
    """No positional encoding: the encoder treats its source as a bag of words."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config)
        _change_class(self, PositionalEncoding, _NoPositions)


class PositionsAlongBatch(Transformer):
    """The positions count along the batch: all words of a row get the same encoding."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config)
        _change_class(self, PositionalEncoding, _BatchPositions)


class WithoutResidual(Transformer):
    """No residual connections: a sub-layer's input is not added to its output."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config)
        _change_class(self, AddAndNorm, _NormOnly)


class StandardNormalEmbeddings(Transformer):
    """Embeddings start as N(0, 1), torch's default; times √d_model they dwarf the positions."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config)
        for embedding in dict.fromkeys((self.source_embedding, self.target_embedding)):
            nn.init.normal_(embedding.table.weight)


FAULTS: dict[str, type[Transformer]] = {
    "no causal mask": WithoutCausalMask,
    "target not shifted": TargetNotShifted,
    "softmax over queries": SoftmaxOverQueries,
    "no positions": WithoutPositions,
    "positions along the batch": PositionsAlongBatch,
    "no residual": WithoutResidual,
}


class _QuerySoftmaxAttention(MultiHeadAttention):
    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, *, mask: Tensor | None = None
    ) -> Tensor:
        weights = self.attention_weights(query, key, mask=mask)
        values = split_heads(self.value_projection(value), self.num_heads)
        return self.output_projection(merge_heads(weights @ values))

    def attention_weights(
        self, query: Tensor, key: Tensor, *, mask: Tensor | None = None
    ) -> Tensor:
        queries = split_heads(self.query_projection(query), self.num_heads)
        keys = split_heads(self.key_projection(key), self.num_heads)
        scores = queries @ keys.transpose(-2, -1) / queries.size(-1) ** 0.5
        if mask is None:
            return scores.softmax(dim=-2)
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        return scores.softmax(dim=-2).masked_fill(~mask, 0.0)


class _NoPositions(PositionalEncoding):
    def forward(self, x: Tensor, *, offset: int = 0) -> Tensor:
        return x


class _BatchPositions(PositionalEncoding):
    def forward(self, x: Tensor, *, offset: int = 0) -> Tensor:
        return x + self.table[: len(x)].unsqueeze(1)


class _NormOnly(AddAndNorm):
    def forward(self, x: Tensor, sublayer: nn.Module) -> Tensor:
        return self.norm(self.dropout(sublayer(x)))


def _change_class(model: nn.Module, kind: type[nn.Module], faulty: type[nn.Module]) -> None:
    """Turn every module of a kind into its faulty variant, weights and sizes kept."""
    for module in model.modules():
        if type(module) is kind:
            module.__class__ = faulty
