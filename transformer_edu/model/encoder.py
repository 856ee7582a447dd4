"""The encoder: a stack of layers that process the whole source at once (paper §3.1).

Built in notebooks/07_encoder.ipynb.
"""

from collections.abc import Iterable

from torch import Tensor, nn

from .add_and_norm import AddAndNorm
from .attention import MultiHeadAttention
from .feed_forward import FeedForward


class EncoderLayer(nn.Module):
    """Self-attention, then the feed-forward network, each inside Add & Norm (paper §3.1).

    Args:
        d_model: Width of every position's vector.
        num_heads: Number of attention heads; must divide d_model.
        d_ff: Width inside the feed-forward network.
        dropout: Probability of dropping an element of each sub-layer's output in training.
        norm_first: Normalize each sub-layer's input instead of the sum after it.
        bias: Whether the attention projections add a bias.
        activation: Of the feed-forward network, one of ACTIVATIONS.

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
        self.feed_forward = FeedForward(d_model=d_model, d_ff=d_ff, activation=activation)
        self.around_self_attention, self.around_feed_forward = (
            AddAndNorm(d_model=d_model, dropout=dropout, norm_first=norm_first) for _ in range(2)
        )

    def forward(self, x: Tensor, *, mask: Tensor | None = None) -> Tensor:
        """Gather from all positions, then transform each position on its own.

        Args:
            x: Shape (batch, position, d_model), like the result.
            mask: True where a query may attend to a key, broadcastable to
                (batch, heads, query, key).
        """
        x = self.around_self_attention(x, lambda y: self.self_attention(y, y, y, mask=mask))
        return self.around_feed_forward(x, self.feed_forward)


class Encoder(nn.Module):
    """A stack of layers; each layer's input is the output of the layer below it (paper §3.1).

    Args:
        layers: The layers, first to last. Build each separately: copies have equal weights.
        final_norm: Normalizes the last layer's output. Pre-norm layers need it; after the
            paper's post-norm layers it is redundant.
    """

    def __init__(
        self, layers: Iterable[EncoderLayer], *, final_norm: nn.LayerNorm | None = None
    ) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.final_norm = final_norm

    def forward(self, x: Tensor, *, mask: Tensor | None = None) -> Tensor:
        """Turn embedded tokens into memory: one vector per token, which depends on its context.

        Args:
            x: Shape (batch, position, d_model), like the result.
            mask: As for EncoderLayer; usually the padding mask of the source.
        """
        for layer in self.layers:
            x = layer(x, mask=mask)
        return x if self.final_norm is None else self.final_norm(x)
