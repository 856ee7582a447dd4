"""The decoder: a stack of layers that predict the next token of the target (paper §3.1).

Built in notebooks/08_decoder.ipynb.
"""

from collections.abc import Iterable

from torch import Tensor, nn

from transformer_edu.model.add_and_norm import AddAndNorm
from transformer_edu.model.attention import MultiHeadAttention
from transformer_edu.model.cache import DecoderCache, LayerCache
from transformer_edu.model.feed_forward import FeedForward
from transformer_edu.model.masks import unless_all_true


class DecoderLayer(nn.Module):
    """Self-attention, cross-attention, feed-forward, each inside Add & Norm (paper §3.1).

    Args:
        d_model: Width of every position's vector.
        num_heads: Number of attention heads; must divide d_model.
        d_ff: Width inside the feed-forward network.
        dropout: Probability of dropping an element of each sub-layer's output in training.
        norm_first: Normalize each sub-layer's input instead of the sum after it.
        bias: Whether the attention projections add a bias.
        activation: Of the feed-forward network, one of ACTIVATIONS.

    Raises:
        ValueError: If num_heads does not divide d_model, or there is no such activation.
    """

    def __init__(
        self,
        *,
        d_model: int,
        num_heads: int,
        d_ff: int,
        dropout: float = 0.1,
        norm_first: bool = False,
        bias: bool = False,
        activation: str = "relu",
    ) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(d_model=d_model, num_heads=num_heads, bias=bias)
        self.cross_attention = MultiHeadAttention(d_model=d_model, num_heads=num_heads, bias=bias)
        self.feed_forward = FeedForward(d_model=d_model, d_ff=d_ff, activation=activation)
        self.around_self_attention, self.around_cross_attention, self.around_feed_forward = (
            AddAndNorm(d_model=d_model, dropout=dropout, norm_first=norm_first) for _ in range(3)
        )

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        *,
        target_mask: Tensor | None = None,
        source_mask: Tensor | None = None,
        cache: LayerCache | None = None,
    ) -> Tensor:
        """Look back at what is written, across at the source, then think.

        Args:
            x: The target so far, shape (batch, target position, d_model).
            memory: The encoder's output, shape (batch, source position, d_model).
            target_mask: True where a target position may attend to a target position; without
                it every position sees the future.
            source_mask: True where a target position may attend to a source position.
            cache: What earlier calls looked back and across at; x then holds the positions
                that follow, and target_mask has a column for every position so far.

        Returns:
            Shape (batch, target position, d_model).
        """
        back, across = {"mask": target_mask}, {"mask": source_mask}
        if cache is not None:
            back["cache"], across["cache"] = cache
            memory = memory[:, cache.cross_attention.length :]  # what is not in the cache yet
        x = self.around_self_attention(x, lambda y: self.self_attention(y, y, y, **back))
        x = self.around_cross_attention(
            x, lambda y: self.cross_attention(y, memory, memory, **across)
        )
        return self.around_feed_forward(x, self.feed_forward)


class Decoder(nn.Module):
    """A stack of layers, each of which attends to the same memory (paper §3.1).

    Args:
        layers: The layers, first to last. Build each separately: copies have equal weights.
        final_norm: Normalizes the last layer's output. Pre-norm layers need it; after the
            paper's post-norm layers it is redundant.
    """

    def __init__(
        self, layers: Iterable[DecoderLayer], *, final_norm: nn.LayerNorm | None = None
    ) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.final_norm = final_norm

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        *,
        target_mask: Tensor | None = None,
        source_mask: Tensor | None = None,
        cache: DecoderCache | None = None,
    ) -> Tensor:
        """Turn the embedded target and the memory into vectors that predict the next token.

        Args:
            x: The target so far, shape (batch, target position, d_model).
            memory: The encoder's output, shape (batch, source position, d_model).
            target_mask: True where a target position may attend to a target position.
            source_mask: True where a target position may attend to a source position.
            cache: What earlier calls computed; x then holds the positions that follow.

        Returns:
            Shape (batch, target position, d_model).
        """
        caches = [{}] * len(self.layers)
        if cache is not None:
            caches = [{"cache": layer_cache} for layer_cache in cache.layers]
            target_mask, source_mask = unless_all_true(target_mask), unless_all_true(source_mask)
        for layer, layer_cache in zip(self.layers, caches, strict=True):
            x = layer(x, memory, target_mask=target_mask, source_mask=source_mask, **layer_cache)
        return x if self.final_norm is None else self.final_norm(x)
