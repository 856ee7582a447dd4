"""The whole model: embeddings, encoder, decoder and output projection (paper §3, Figure 1).

Assembled in notebooks/09_transformer.ipynb.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from .cache import DecoderCache
from .decoder import Decoder, DecoderLayer
from .embeddings import LARGEST_LENGTH, POSITION_ORDERS, PositionalEncoding, TokenEmbedding
from .encoder import Encoder, EncoderLayer
from .feed_forward import ACTIVATIONS
from .masks import causal_mask, real_tokens
from .refusals import (
    require_choice,
    require_divisor,
    require_flag,
    require_mask,
    require_memory,
    require_probability,
    require_same_batch,
    require_token_ids,
    require_whole,
)
from .special_ids import END_ID, PADDING_ID, START_ID


@dataclass(frozen=True, kw_only=True)
class TransformerConfig:
    """Every size and switch of the model; the defaults are the paper's base model (table 3).

    Args:
        vocabulary_size: Tokens of the vocabulary that source and target share.
        target_vocabulary_size: Tokens of a separate target vocabulary; then vocabulary_size is
            that of the source. None for a joint one.
        d_model: Width of every position's vector.
        num_heads: Attention heads; must divide d_model.
        num_layers: Layers of the encoder, and of the decoder unless num_decoder_layers is given.
        num_decoder_layers: Layers of the decoder; None for as many as the encoder has.
        num_decoder_heads: Heads of the decoder's attentions; None for num_heads.
        d_ff: Width inside the feed-forward networks.
        decoder_d_ff: The same in the decoder; None for d_ff.
        dropout: Probability of dropping an element in training, in [0, 1] (§5.4).
        max_length: Positions in the table of positional encodings.
        padding_id: The token id that fills short sequences.
        start_id: The token id that every target starts with; it may be padding_id too.
        end_id: The token id that ends every target.
        activation: Inside the feed-forward networks, one of ACTIVATIONS; the paper's is "relu".
        position_order: Sines and cosines "interleaved", the paper's order, or in "halves".
        norm_first: Pre-norm instead of the paper's post-norm.
        final_norm: A normalization after each stack; None adds it to pre-norm, which needs it.
        bias: Whether the attention projections add a bias.
        tie_embeddings: One table for output, target and, if joint, source (§3.4).
        scale_embeddings: Multiply the vectors of tokens by √d_model (§3.4).

    Raises:
        TypeError, ValueError: If a size is not a whole number, or a value is out of its range.
    """

    vocabulary_size: int = 37_000
    target_vocabulary_size: int | None = None
    d_model: int = 512
    num_heads: int = 8
    num_layers: int = 6
    num_decoder_layers: int | None = None
    num_decoder_heads: int | None = None
    d_ff: int = 2048
    decoder_d_ff: int | None = None
    dropout: float = 0.1
    max_length: int = 5000
    padding_id: int = PADDING_ID
    start_id: int = START_ID
    end_id: int = END_ID
    activation: str = "relu"
    position_order: str = "interleaved"
    norm_first: bool = False
    final_norm: bool | None = None
    bias: bool = False
    tie_embeddings: bool = True
    scale_embeddings: bool = True

    def __post_init__(self) -> None:
        """Refuse sizes that no model can have."""
        for name in ("vocabulary_size", "num_layers", "d_ff"):
            require_whole(name, getattr(self, name))
        require_whole("max_length", self.max_length, maximum=LARGEST_LENGTH)
        require_whole("target_vocabulary_size", self.output_size)
        require_whole("num_decoder_layers", self.decoder_depth)
        require_whole("decoder_d_ff", self.decoder_sizes["d_ff"])
        require_divisor("num_heads", self.num_heads, "d_model", self.d_model)
        heads = self.decoder_sizes["num_heads"]
        require_divisor("num_decoder_heads", heads, "d_model", self.d_model)
        require_probability("dropout", self.dropout)
        largest_id = min(self.vocabulary_size, self.output_size) - 1
        require_whole("padding_id", self.padding_id, minimum=0, maximum=largest_id)
        require_whole("start_id", self.start_id, minimum=0)  # a search checks its maximum
        require_whole("end_id", self.end_id, minimum=0)
        require_choice("activation", self.activation, ACTIVATIONS)
        require_choice("position_order", self.position_order, POSITION_ORDERS)
        for name in ("norm_first", "bias", "tie_embeddings", "scale_embeddings"):
            require_flag(name, getattr(self, name))
        require_flag("final_norm", self.has_final_norm)

    @property
    def output_size(self) -> int:
        """Number of tokens that the decoder chooses from."""
        is_joint = self.target_vocabulary_size is None
        return self.vocabulary_size if is_joint else self.target_vocabulary_size

    @property
    def decoder_depth(self) -> int:
        """Number of layers of the decoder."""
        return self.num_layers if self.num_decoder_layers is None else self.num_decoder_layers

    @property
    def decoder_sizes(self) -> dict[str, int]:
        """num_heads and d_ff of the decoder's layers."""
        heads = self.num_heads if self.num_decoder_heads is None else self.num_decoder_heads
        d_ff = self.d_ff if self.decoder_d_ff is None else self.decoder_d_ff
        return {"num_heads": heads, "d_ff": d_ff}

    @property
    def has_final_norm(self) -> bool:
        """Whether each stack ends in a normalization."""
        return self.norm_first if self.final_norm is None else self.final_norm

    @property
    def size(self) -> int:
        """About how many numbers a model has, without building it: its weights and positions."""
        width = self.d_model
        attentions = self.num_layers + 2 * self.decoder_depth  # a layer of the decoder has two
        rows = self.vocabulary_size + self.output_size + self.max_length
        inside = self.d_ff * self.num_layers + self.decoder_sizes["d_ff"] * self.decoder_depth
        return width * (4 * width * attentions + 2 * inside + rows)

    @classmethod
    def tiny(cls, **changes: object) -> Self:
        """Four narrow layers, for small corpora on a laptop (Wu et al. 2021); changes override."""
        sizes = {"d_model": 128, "num_heads": 4, "num_layers": 4, "d_ff": 256, "dropout": 0.3}
        return cls(**(sizes | changes))

    @classmethod
    def base(cls, **changes: object) -> Self:
        """The paper's base model (table 3, first row); changes override."""
        return cls(**changes)

    @classmethod
    def big(cls, **changes: object) -> Self:
        """The paper's big model (table 3, last row); changes override."""
        return cls(**{"d_model": 1024, "num_heads": 16, "d_ff": 4096, "dropout": 0.3} | changes)


class Transformer(nn.Module):
    """The encoder–decoder Transformer of *Attention Is All You Need* (paper §3).

    ``model(source_ids, target_ids)`` returns logits: unnormalized scores, not probabilities.
    ``F.cross_entropy`` expects logits; ``logits.softmax(dim=-1)`` gives probabilities.

    Args:
        config: Sizes and switches; a model that the memory cannot hold is refused.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        if not isinstance(config, TransformerConfig):
            raise TypeError(f"config must be a TransformerConfig, got {type(config).__name__}")
        require_memory(config.size)
        self.config = config
        source_size, target_size, width = config.vocabulary_size, config.output_size, config.d_model
        vectors = {"d_model": width, "scaled": config.scale_embeddings}
        self.source_embedding = TokenEmbedding(vocabulary_size=source_size, **vectors)
        if config.tie_embeddings and config.target_vocabulary_size is None:
            self.target_embedding = self.source_embedding
        else:
            self.target_embedding = TokenEmbedding(vocabulary_size=target_size, **vectors)
        self.positions = PositionalEncoding(
            d_model=width, max_length=config.max_length, order=config.position_order
        )
        self.embedding_dropout = nn.Dropout(config.dropout)
        names = ("d_model", "num_heads", "d_ff", "dropout", "norm_first", "bias", "activation")
        sizes = {name: getattr(config, name) for name in names}
        norms = [nn.LayerNorm(width) if config.has_final_norm else None for _ in range(2)]
        encoder_layers = (EncoderLayer(**sizes) for _ in range(config.num_layers))
        own_sizes = sizes | config.decoder_sizes
        decoder_layers = (DecoderLayer(**own_sizes) for _ in range(config.decoder_depth))
        self.encoder = Encoder(encoder_layers, final_norm=norms[0])
        self.decoder = Decoder(decoder_layers, final_norm=norms[1])
        self.output_projection = nn.Linear(width, target_size)
        initialise(self)
        self._tie()
        self.register_load_state_dict_post_hook(Transformer._tie)  # assign=True would untie

    def _tie(self, _: object = None) -> None:
        """One table for output and target (paper §3.4)."""
        if self.config.tie_embeddings:
            self.output_projection.weight = self.target_embedding.table.weight

    def forward(
        self,
        source_ids: Tensor,
        target_ids: Tensor,
        *,
        source_mask: Tensor | None = None,
        target_mask: Tensor | None = None,
    ) -> Tensor:
        """Score every possible next token at every position of the target at once.

        Args:
            source_ids: Shape (batch, source position).
            target_ids: The decoder's input, start token first, shape (batch, target position).
            source_mask: True where the source may be attended to; None hides its padding.
            target_mask: The same for the target; None hides its padding and the future.

        Returns:
            Logits, shape (batch, target position, vocabulary): those at position t are for
            the token that follows target_ids[:, t].

        Raises:
            TypeError, ValueError: If ids are not whole numbers of the vocabulary, a sequence is
                too long, or a mask is not boolean and broadcastable.
        """
        memory = self.encode(source_ids, source_mask=source_mask)
        source_mask = self.source_mask(source_ids) if source_mask is None else source_mask
        decoded = self.decode(target_ids, memory, source_mask=source_mask, target_mask=target_mask)
        return self.project(decoded)

    def source_mask(self, source_ids: Tensor) -> Tensor:
        """The source's padding mask, shape (batch, 1, 1, source position)."""
        return real_tokens(source_ids, self.config.padding_id)

    def encode(self, source_ids: Tensor, *, source_mask: Tensor | None = None) -> Tensor:
        """Turn the source into memory: embed it, add positions, run the encoder.

        Args:
            source_ids: Shape (batch, source position).
            source_mask: True where the source may be attended to; None hides its padding.

        Returns:
            Memory, shape (batch, source position, d_model).

        Raises:
            TypeError, ValueError: As for a call of the model.
        """
        embedded = self._embed("source_ids", source_ids, self.source_embedding)
        source_mask = self.source_mask(source_ids) if source_mask is None else source_mask
        heads = self.config.num_heads
        self._require_mask("source_mask", source_mask, source_ids, source_ids, heads)
        return self.encoder(embedded, mask=source_mask)

    def decode(
        self,
        target_ids: Tensor,
        memory: Tensor,
        *,
        source_mask: Tensor | None,
        target_mask: Tensor | None = None,
        cache: DecoderCache | None = None,
    ) -> Tensor:
        """Turn the target so far into vectors: embed it, add positions, run the decoder.

        Args:
            target_ids: Start token first, shape (batch, target position).
            memory: What ``encode`` returned, shape (batch, source position, d_model).
            source_mask: What ``source_mask(source_ids)`` returned; None attends to padding too.
            target_mask: None hides padding and the future.
            cache: What earlier calls computed; target_ids are then only the tokens that follow.

        Returns:
            Shape (batch, target position, d_model), for ``project``.

        Raises:
            TypeError, ValueError: As for a call of the model, or if the memory or the cache does
                not fit.
        """
        offset, heads = 0 if cache is None else cache.length, self.config.decoder_sizes["num_heads"]
        embedded = self._embed("target_ids", target_ids, self.target_embedding, offset)
        whole_target = target_ids
        if cache is not None:
            whole_target = cache.whole_target(target_ids, memory, heads)
        if target_mask is None:
            target_mask = self._target_mask(whole_target, queries=target_ids.size(1))
        require_same_batch("target_ids", target_ids, "memory", memory)
        self._require_mask("target_mask", target_mask, target_ids, whole_target, heads)
        self._require_mask("source_mask", source_mask, target_ids, memory, heads)
        decoded = self.decoder(
            embedded, memory, target_mask=target_mask, source_mask=source_mask, cache=cache
        )
        if cache is not None:
            cache.token_ids = whole_target
        return decoded

    def project(self, decoded: Tensor) -> Tensor:
        """Turn decoded vectors into logits, shape (batch, target position, vocabulary)."""
        return self.output_projection(decoded)

    def _embed(
        self, name: str, token_ids: Tensor, embedding: TokenEmbedding, offset: int = 0
    ) -> Tensor:
        """Add tokens and positions, with dropout (paper §3.4, §3.5, §5.4)."""
        size, room = embedding.vocabulary_size, self.config.max_length - offset
        require_token_ids(name, token_ids, size, room, device=embedding.table.weight.device)
        start = {"offset": offset} if offset > 0 else {}  # a reader's own positions may lack it
        return self.embedding_dropout(self.positions(embedding(token_ids), **start))

    def _target_mask(self, target_ids: Tensor, *, queries: int) -> Tensor:
        """Hide padding and the future from the last positions of the target."""
        real = real_tokens(target_ids, self.config.padding_id, self.config.start_id)
        return real & causal_mask(target_ids.size(1), queries=queries, device=target_ids.device)

    def _require_mask(
        self, name: str, mask: Tensor | None, queries: Tensor, keys: Tensor, heads: int
    ) -> None:
        """Refuse a mask that does not fit queries and keys, both (batch, position, ...)."""
        shape = (len(queries), heads, queries.size(1), keys.size(1))
        require_mask(mask, shape, queries.device, name=name)


def initialise(model: nn.Module) -> None:
    """Xavier's uniform for matrices, zero for biases; embeddings stay N(0, 1/d_model).

    The paper does not say how its weights were initialized; most implementations do this.

    Args:
        model: Any module; its linear layers get new weights.
    """
    for linear in (module for module in model.modules() if isinstance(module, nn.Linear)):
        nn.init.xavier_uniform_(linear.weight)
        if linear.bias is not None:
            nn.init.zeros_(linear.bias)


def without_numbers(config: TransformerConfig) -> Transformer:
    """A model of this config on the device "meta": it has shapes, but takes no memory."""
    with torch.device("meta"), _NothingDrawn():
        return Transformer(config)


class _NothingDrawn(TorchFunctionMode):
    """Inside the block normal_ draws nothing: on "meta" it would import torch's compiler first."""

    def __torch_function__(
        self, function: Callable, types: object, given: tuple = (), named: dict | None = None
    ) -> object:
        named = named or {}
        return named["tensor"] if function is nn.init.normal_ else function(*given, **named)
