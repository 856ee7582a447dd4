"""Add & Norm: the residual connection and layer normalization around a sub-layer (paper §3.1).

Built in notebooks/06_feed_forward_add_and_norm.ipynb.
"""

from collections.abc import Callable

from torch import Tensor, nn

from .refusals import require_flag, require_probability, require_same_shape


class AddAndNorm(nn.Module):
    """Wrap any sub-layer: LayerNorm(x + Dropout(Sublayer(x))), paper §3.1 and §5.4.

    With norm_first the order is x + Dropout(Sublayer(LayerNorm(x))), *pre-norm*. No norm is
    on the residual path, so gradients reach deep layers unchanged. Most models after the
    paper use pre-norm.

    Args:
        d_model: Width of every position's vector.
        dropout: Probability of dropping an element of the sub-layer's output in training.
        norm_first: Normalize the sub-layer's input instead of the sum.
    """

    def __init__(self, *, d_model: int, dropout: float = 0.1, norm_first: bool = False) -> None:
        super().__init__()
        require_probability("dropout", dropout)
        require_flag("norm_first", norm_first)
        self.d_model = d_model
        self.norm_first = norm_first
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """Run the sub-layer and add its output to x.

        Args:
            x: Shape (batch, position, d_model), like the result.
            sublayer: Takes and returns this shape.

        Raises:
            ValueError: If the sub-layer returns a different shape.
        """
        output = sublayer(self.norm(x) if self.norm_first else x)
        require_same_shape(x, output)
        summed = x + self.dropout(output)
        return summed if self.norm_first else self.norm(summed)
