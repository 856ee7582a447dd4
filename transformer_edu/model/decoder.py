"""The decoder: a stack of layers that predict the next token of the target (paper §3.1).

Built in notebooks/08_decoder.ipynb.
"""

from collections.abc import Iterable

from torch import Tensor, nn

from .add_and_norm import AddAndNorm
from .attention import MultiHeadAttention
from .cache import DecoderCache, LayerCache
from .feed_forward import FeedForward


class DecoderLayer(nn.Module):
    """Self-attention, cross-attention, feed-forward, each inside Add & Norm (paper §3.1).

    Args:
        d_model, num_heads, d_ff, dropout, norm_first, bias, activation: As for EncoderLayer.

    Raises:
        ValueError: If num_heads does not divide d_model, or activation is not one of ACTIVATIONS.
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
        """Gather from the target so far, then from the source, then transform each position.

        Args:
            x: The target so far, shape (batch, target position, d_model), like the result.
            memory: The encoder's output, shape (batch, source position, d_model).
            target_mask: True where a target position may attend to a target position; without
                it every position sees the future.
            source_mask: True where a target position may attend to a source position.
            cache: The keys and values of earlier calls. Then x holds only the positions that
                follow, and target_mask has a column for every position so far.
        """
        own, across = {"mask": target_mask}, {"mask": source_mask}
        if cache is not None:
            own["cache"], across["cache"] = cache
            memory = memory[:, cache.cross_attention.length :]  # what the cache does not hold yet
        x = self.around_self_attention(x, lambda y: self.self_attention(y, y, y, **own))
        x = self.around_cross_attention(
            x, lambda y: self.cross_attention(y, memory, memory, **across)
        )
        return self.around_feed_forward(x, self.feed_forward)


class Decoder(nn.Module):
    """A stack of layers, each of which attends to the same memory (paper §3.1).

    Args:
        layers: The layers, first to last. Build each separately: copies have equal weights.
        final_norm: As for Encoder.
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

        Takes and returns what a DecoderLayer does; cache is that of the whole decoder.
        """
        masks = {"target_mask": target_mask, "source_mask": source_mask}
        if cache is None:
            for layer in self.layers:
                x = layer(x, memory, **masks)
        else:
            for layer, layer_cache in zip(self.layers, cache.layers, strict=True):
                x = layer(x, memory, **masks, cache=layer_cache)
        return x if self.final_norm is None else self.final_norm(x)
