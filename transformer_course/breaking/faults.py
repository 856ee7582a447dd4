"""Published bugs in a few lines each: broken models.

All of them run without an error, most with a low loss. They are for lessons only. Where a fault was
found in public code or described there, the address is given.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_edu.model.add_and_norm import AddAndNorm
from transformer_edu.model.attention import MultiHeadAttention, merge_heads, split_heads
from transformer_edu.model.embeddings import PositionalEncoding
from transformer_edu.model.masks import padding_mask
from transformer_edu.model.special_ids import END_ID
from transformer_edu.model.transformer import Transformer, TransformerConfig


class WithoutCausalMask(Transformer):
    """The target mask hides only padding: every position can attend to the token it predicts.

    github.com/huggingface/transformers/issues/48745, github.com/karpathy/minGPT/issues/75
    """

    def decode(self, target_ids: Tensor, memory: Tensor, **given: Tensor | None) -> Tensor:
        """Transformer.decode, whatever target_mask is."""
        given["target_mask"] = padding_mask(target_ids, padding_id=self.config.padding_id)
        return super().decode(target_ids, memory, **given)


class MaskOnlyInTraining(WithoutCausalMask):
    """In evaluation mode the causal mask is dropped: validation sees the future."""

    def decode(self, target_ids: Tensor, memory: Tensor, **given: Tensor | None) -> Tensor:
        """Transformer.decode in training mode only."""
        kind = Transformer if self.training else WithoutCausalMask
        return kind.decode(self, target_ids, memory, **given)


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


class SourcePaddingVisible(Transformer):
    """The source's padding is never hidden, neither in the encoder nor in cross-attention."""

    def source_mask(self, source_ids: Tensor) -> Tensor:
        """True for every token, padding included."""
        return torch.ones_like(source_ids, dtype=torch.bool)[:, None, None, :]


class PaddingOnQueries(Transformer):
    """The encoder's padding mask hides rows, the queries, instead of columns, the keys."""

    def encode(self, source_ids: Tensor, *, source_mask: Tensor | None = None) -> Tensor:
        """Transformer.encode with the mask transposed."""
        mask = self.source_mask(source_ids) if source_mask is None else source_mask
        return super().encode(source_ids, source_mask=mask.transpose(-1, -2))


class SoftmaxInModel(Transformer):
    """The model returns probabilities, and the loss takes their softmax once more.

    karpathy.github.io/2019/04/25/recipe
    """

    def project(self, decoded: Tensor) -> Tensor:
        """Transformer.project, then a softmax."""
        return super().project(decoded).softmax(dim=-1)


class LayersInList(Transformer):
    """The layers are in plain lists: no optimizer, device or file ever sees their weights."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config)
        for stack in (self.encoder, self.decoder):
            layers = list(stack.layers)
            del stack.layers
            stack.layers = layers


class CopiedTable(Transformer):
    """The output projection starts as a copy of the embedding, and then learns on its own.

    Loading a state_dict ties the two again, as in every Transformer.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config)
        self.output_projection.weight = nn.Parameter(self.target_embedding.table.weight.clone())


class StandardNormalEmbeddings(Transformer):
    """Embeddings start as N(0, 1), torch's default; times √d_model they dwarf the positions."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config)
        for embedding in dict.fromkeys((self.source_embedding, self.target_embedding)):
            nn.init.normal_(embedding.table.weight)


class _WrittenOut(MultiHeadAttention):
    axis = -1  # of the softmax

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, *, mask: Tensor | None = None
    ) -> Tensor:
        weights = self.attention_weights(query, key, mask=mask)
        values = split_heads(self.value_projection(value), self.num_heads)
        return self.output_projection(self.merge(weights @ values))

    def attention_weights(
        self, query: Tensor, key: Tensor, *, mask: Tensor | None = None
    ) -> Tensor:
        queries = split_heads(self.query_projection(query), self.num_heads)
        keys = split_heads(self.key_projection(key), self.num_heads)
        scores = queries @ keys.transpose(-2, -1) / queries.size(-1) ** 0.5
        if mask is None:
            return scores.softmax(dim=self.axis)
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        return scores.softmax(dim=self.axis).masked_fill(~mask, 0.0)

    def merge(self, heads: Tensor) -> Tensor:
        return merge_heads(heads)


class _SoftmaxOverQueries(_WrittenOut):
    axis = -2


class _MergedByView(_WrittenOut):
    def merge(self, heads: Tensor) -> Tensor:
        return heads.reshape(len(heads), heads.size(2), -1)


class _NoPositions(PositionalEncoding):
    def forward(self, x: Tensor, *, offset: int = 0) -> Tensor:
        return x


class _BatchPositions(PositionalEncoding):
    def forward(self, x: Tensor, *, offset: int = 0) -> Tensor:
        return x + self.table[: len(x)].unsqueeze(1)


class _NormOnly(AddAndNorm):
    def forward(self, x: Tensor, sublayer: nn.Module) -> Tensor:
        return self.norm(self.dropout(sublayer(x)))


class _PositionNorm(nn.LayerNorm):
    def forward(self, x: Tensor) -> Tensor:
        centered = x - x.mean(dim=-2, keepdim=True)
        deviation = (centered.square().mean(dim=-2, keepdim=True) + self.eps).sqrt()
        return centered / deviation * self.weight + self.bias


class _DropoutAlways(nn.Dropout):
    def forward(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.p)


class WithFaultyParts(Transformer):
    """A Transformer, one kind of whose parts is replaced, weights and sizes kept."""

    right: type[nn.Module]
    faulty: type[nn.Module]

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__(config)
        for module in self.modules():
            if type(module) is self.right:
                module.__class__ = self.faulty


class SoftmaxOverQueries(WithFaultyParts):
    """The softmax runs along the wrong axis: the weights of a key sum to one over the queries.

    github.com/labmlai/annotated_deep_learning_paper_implementations/issues/146
    """

    right, faulty = MultiHeadAttention, _SoftmaxOverQueries


class HeadsMergedByView(WithFaultyParts):
    """The heads are merged without the transpose, which mixes positions: the future leaks.

    github.com/jsbaan/transformer-from-scratch/pull/6
    """

    right, faulty = MultiHeadAttention, _MergedByView


class WithoutPositions(WithFaultyParts):
    """No positional encoding: the encoder treats its source as a bag of words."""

    right, faulty = PositionalEncoding, _NoPositions


class PositionsAlongBatch(WithFaultyParts):
    """The positions count along the batch: all words of a row get the same encoding.

    github.com/Lightning-AI/pytorch-lightning/pull/20203
    """

    right, faulty = PositionalEncoding, _BatchPositions


class WithoutResidual(WithFaultyParts):
    """No residual connections: a sub-layer's input is not added to its output."""

    right, faulty = AddAndNorm, _NormOnly


class NormOverPositions(WithFaultyParts):
    """Layer normalization takes its mean over the positions, so the future leaks through it.

    github.com/MorvanZhou/NLP-Tutorials/issues/10
    """

    right, faulty = nn.LayerNorm, _PositionNorm


class DropoutAlways(WithFaultyParts):
    """Dropout is called as a function, which does not know about evaluation mode.

    github.com/pytorch/pytorch/issues/124464
    """

    right, faulty = nn.Dropout, _DropoutAlways


FAULTS: dict[str, type[Transformer]] = {
    "no causal mask": WithoutCausalMask,
    "target not shifted": TargetNotShifted,
    "softmax over queries": SoftmaxOverQueries,
    "no positions": WithoutPositions,
    "positions along the batch": PositionsAlongBatch,
    "no residual": WithoutResidual,
    "causal mask only in training": MaskOnlyInTraining,
    "source padding visible": SourcePaddingVisible,
    "padding hidden as queries": PaddingOnQueries,
    "softmax in the model": SoftmaxInModel,
    "layers in a plain list": LayersInList,
    "tied table copied": CopiedTable,
    "embeddings start too large": StandardNormalEmbeddings,
    "heads merged by view": HeadsMergedByView,
    "norm over the positions": NormOverPositions,
    "dropout in evaluation": DropoutAlways,
}
