"""The same Transformer by other hands, to be measured against: torch.nn's and Hugging Face's.

Both take and return what ours does, and drop what they drop by themselves.
"""

from torch import Tensor, nn

from transformer_edu.model.embeddings import PositionalEncoding, TokenEmbedding
from transformer_edu.model.masks import causal_mask
from transformer_edu.model.transformer import TransformerConfig
from transformer_edu.model.vocabulary import PADDING_ID


class PytorchTransformer(nn.Module):
    """torch.nn's Transformer between the embeddings, positions and output of ours.

    Args:
        config: The model's sizes; one table serves source, target and output, as in ours.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        width = config.d_model
        self.embedding = TokenEmbedding(vocabulary_size=config.vocabulary_size, d_model=width)
        self.positions = PositionalEncoding(d_model=width, max_length=config.max_length)
        self.dropout = nn.Dropout(config.dropout)
        self.transformer = nn.Transformer(
            width,
            config.num_heads,
            config.num_layers,
            config.num_layers,
            config.d_ff,
            config.dropout,
            batch_first=True,
        )
        self.output_projection = nn.Linear(width, config.vocabulary_size)
        self.output_projection.weight = self.embedding.table.weight

    def forward(self, source_ids: Tensor, target_ids: Tensor) -> Tensor:
        """Score every next token; takes and returns what Transformer does."""
        source, target = (
            self.dropout(self.positions(self.embedding(ids))) for ids in (source_ids, target_ids)
        )
        source_padding = source_ids == PADDING_ID
        decoded = self.transformer(
            source,
            target,
            tgt_mask=~causal_mask(target_ids.size(1)),
            src_key_padding_mask=source_padding,
            tgt_key_padding_mask=target_ids == PADDING_ID,
            memory_key_padding_mask=source_padding,
        )
        return self.output_projection(decoded)


def build_marian(config: TransformerConfig) -> nn.Module:
    """Hugging Face's MarianMTModel of the same sizes, called as ours is; nothing is downloaded."""
    from transformers import MarianConfig, MarianMTModel

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

    sizes = {
        f"{stack}_{name}": value
        for stack in ("encoder", "decoder")
        for name, value in (
            ("layers", config.num_layers),
            ("attention_heads", config.num_heads),
            ("ffn_dim", config.d_ff),
        )
    }
    return Marian(
        MarianConfig(
            vocab_size=config.vocabulary_size,
            d_model=config.d_model,
            dropout=config.dropout,
            activation_function="relu",
            scale_embedding=True,
            pad_token_id=PADDING_ID,
            **sizes,
        )
    )
