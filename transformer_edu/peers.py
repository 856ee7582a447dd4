"""The same Transformer by other hands, to be measured against: torch.nn's and Hugging Face's.

Both take and return what ours does, and drop what they drop by themselves.
"""

from typing import TYPE_CHECKING

from torch import Tensor, nn

from transformer_edu.model.embeddings import PositionalEncoding, TokenEmbedding
from transformer_edu.model.masks import causal_mask, padding_mask
from transformer_edu.model.transformer import TransformerConfig
from transformer_edu.model.vocabulary import PADDING_ID

if TYPE_CHECKING:
    from transformers import MarianConfig


class PytorchTransformer(nn.Module):
    """torch.nn's Transformer between the embeddings, positions and output of ours.

    It is called, encodes and decodes as Transformer does, so that ``fit`` and ``greedy_search``
    take it too. nn.Transformer has biases everywhere and ends each stack in a normalisation,
    whatever config says about them.

    Args:
        config: The model's sizes; one table serves source, target and output.

    Raises:
        ValueError: If config asks for separate vocabularies or tables.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        if config.target_vocabulary_size is not None or not config.tie_embeddings:
            raise ValueError("config must have one vocabulary and tie_embeddings, got others")
        self.config = config
        width = config.d_model
        self.embedding = TokenEmbedding(vocabulary_size=config.vocabulary_size, d_model=width)
        self.positions = PositionalEncoding(d_model=width, max_length=config.max_length)
        self.dropout = nn.Dropout(config.dropout)
        self.transformer = nn.Transformer(
            d_model=width,
            nhead=config.num_heads,
            num_encoder_layers=config.num_layers,
            num_decoder_layers=config.num_layers,
            dim_feedforward=config.d_ff,
            dropout=config.dropout,
            norm_first=config.norm_first,
            batch_first=True,
        )
        # Nested tensors would cut padded positions out of the memory in evaluation mode.
        self.transformer.encoder.use_nested_tensor = False
        self.output_projection = nn.Linear(width, config.vocabulary_size)
        self.output_projection.weight = self.embedding.table.weight

    def forward(self, source_ids: Tensor, target_ids: Tensor) -> Tensor:
        """Score every next token; takes and returns what Transformer does."""
        source_mask = self.source_mask(source_ids)
        memory = self.encode(source_ids, source_mask=source_mask)
        return self.project(self.decode(target_ids, memory, source_mask=source_mask))

    def source_mask(self, source_ids: Tensor) -> Tensor:
        """The source's padding mask, as ours: True may be looked at, (batch, 1, 1, key)."""
        return padding_mask(source_ids, padding_id=self.config.padding_id)

    def encode(self, source_ids: Tensor, *, source_mask: Tensor | None = None) -> Tensor:
        """Read the source into a memory, shape (batch, source position, d_model)."""
        source_mask = self.source_mask(source_ids) if source_mask is None else source_mask
        return self.transformer.encoder(
            self._embed(source_ids), src_key_padding_mask=_hidden_keys(source_mask)
        )

    def decode(self, target_ids: Tensor, memory: Tensor, *, source_mask: Tensor | None) -> Tensor:
        """Read the target so far and the memory, shape (batch, target position, d_model)."""
        target_mask = padding_mask(target_ids, padding_id=self.config.padding_id)
        return self.transformer.decoder(
            self._embed(target_ids),
            memory,
            tgt_mask=~causal_mask(target_ids.size(1), device=target_ids.device),
            tgt_key_padding_mask=_hidden_keys(target_mask),
            memory_key_padding_mask=None if source_mask is None else _hidden_keys(source_mask),
        )

    def project(self, decoded: Tensor) -> Tensor:
        """Turn decoded vectors into logits, shape (batch, target position, vocabulary)."""
        return self.output_projection(decoded)

    def _embed(self, token_ids: Tensor) -> Tensor:
        """Word plus position, some numbers dropped while training."""
        return self.dropout(self.positions(self.embedding(token_ids)))


def _hidden_keys(mask: Tensor) -> Tensor:
    """A padding mask of ours as torch.nn reads it: (batch, key), and True hides."""
    return ~mask[:, 0, 0]


def build_marian(config: TransformerConfig) -> nn.Module:
    """Hugging Face's MarianMTModel of the same sizes, called as ours is; nothing is downloaded."""
    from transformers import MarianMTModel

    class Marian(MarianMTModel):
        """Token ids in, logits out."""

        def forward(self, source_ids: Tensor, target_ids: Tensor) -> Tensor:
            """Hide the padding of both, as Transformer does."""
            outputs = super().forward(
                input_ids=source_ids,
                attention_mask=source_ids != PADDING_ID,
                decoder_input_ids=target_ids,
                decoder_attention_mask=target_ids != PADDING_ID,
            )
            return outputs.logits

    return Marian(marian_config(config))


def marian_config(config: TransformerConfig) -> "MarianConfig":
    """The sizes of ours in Hugging Face's words."""
    from transformers import MarianConfig

    sizes = {
        f"{stack}_{name}": value
        for stack in ("encoder", "decoder")
        for name, value in (
            ("layers", config.num_layers),
            ("attention_heads", config.num_heads),
            ("ffn_dim", config.d_ff),
        )
    }
    return MarianConfig(
        vocab_size=config.vocabulary_size,
        d_model=config.d_model,
        dropout=config.dropout,
        activation_function="relu",
        scale_embedding=True,
        pad_token_id=PADDING_ID,
        **sizes,
    )
