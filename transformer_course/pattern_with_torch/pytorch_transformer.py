"""nn.Transformer with what it lacks, as a model that this package can train.

Used in notebooks/13_pattern_with_torch.ipynb, and as the peer in benchmarks and tests.
"""

from torch import Tensor, nn

from transformer_edu.model.embeddings import PositionalEncoding, TokenEmbedding
from transformer_edu.model.feed_forward import ACTIVATIONS
from transformer_edu.model.masks import causal_mask, padding_mask
from transformer_edu.model.transformer import TransformerConfig


class PytorchTransformer(nn.Module):
    """nn.Transformer between our embeddings, positions and output projection.

    It has the methods of our Transformer, so ``fit`` and ``greedy_search`` accept it too.
    nn.Transformer always has biases and a final normalization of each stack, whatever config
    says, and it drops attention weights and elements inside the feed-forward network too.

    Args:
        config: The model's sizes. Source, target and output share one table.

    Raises:
        ValueError: If config asks for what nn.Transformer does not have, or padding as the start.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        if config.target_vocabulary_size is not None or not config.tie_embeddings:
            raise ValueError("config must have one vocabulary and tie_embeddings, got others")
        encoder_sizes = {"num_heads": config.num_heads, "d_ff": config.d_ff}
        if config.decoder_sizes != encoder_sizes or not config.scale_embeddings:
            raise ValueError("config must have equal stacks and scale_embeddings, got others")
        if config.start_id == config.padding_id:
            raise ValueError(f"start_id must differ from padding_id, got {config.start_id} twice")
        self.config = config
        width = config.d_model
        self.embedding = TokenEmbedding(vocabulary_size=config.vocabulary_size, d_model=width)
        self.positions = PositionalEncoding(
            d_model=width, max_length=config.max_length, order=config.position_order
        )
        self.dropout = nn.Dropout(config.dropout)
        self.transformer = nn.Transformer(
            d_model=width,
            nhead=config.num_heads,
            num_encoder_layers=config.num_layers,
            num_decoder_layers=config.decoder_depth,
            dim_feedforward=config.d_ff,
            dropout=config.dropout,
            activation=ACTIVATIONS[config.activation],
            norm_first=config.norm_first,
            batch_first=True,
        )
        # Nested tensors would cut padded positions out of the memory in evaluation mode.
        self.transformer.encoder.use_nested_tensor = False
        self.output_projection = nn.Linear(width, config.vocabulary_size)
        self.output_projection.weight = self.embedding.table.weight

    def forward(self, source_ids: Tensor, target_ids: Tensor) -> Tensor:
        """Logits of the next tokens, as from Transformer: (batch, target position, vocabulary)."""
        source_mask = self.source_mask(source_ids)
        memory = self.encode(source_ids, source_mask=source_mask)
        return self.project(self.decode(target_ids, memory, source_mask=source_mask))

    def source_mask(self, source_ids: Tensor) -> Tensor:
        """The source's padding mask: True may be attended to, shape (batch, 1, 1, key)."""
        return padding_mask(source_ids, padding_id=self.config.padding_id)

    def encode(self, source_ids: Tensor, *, source_mask: Tensor | None = None) -> Tensor:
        """Turn the source into memory, shape (batch, source position, d_model)."""
        source_mask = self.source_mask(source_ids) if source_mask is None else source_mask
        return self.transformer.encoder(
            self._embed(source_ids), src_key_padding_mask=_hidden_keys(source_mask)
        )

    def decode(self, target_ids: Tensor, memory: Tensor, *, source_mask: Tensor | None) -> Tensor:
        """Turn the target so far into vectors, shape (batch, target position, d_model)."""
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
        """Add words and positions, with dropout."""
        return self.dropout(self.positions(self.embedding(token_ids)))


def _hidden_keys(mask: Tensor) -> Tensor:
    """Our padding mask in torch.nn's form: shape (batch, key), and True hides."""
    return ~mask[:, 0, 0]
