"""Add & Norm: the residual connection and layer normalisation around a sub-layer (paper §3.1).

Built in notebooks/06_feed_forward_add_and_norm.ipynb.
"""

from collections.abc import Callable

from torch import Tensor, nn

from transformer_edu.refusals import (
    require_flag,
    require_probability,
    require_same_shape,
    require_whole,
)


class AddAndNorm(nn.Module):
    """Wrap any sub-layer: LayerNorm(x + Dropout(Sublayer(x))), paper §3.1 and §5.4.

    With norm_first the order is x + Dropout(Sublayer(LayerNorm(x))), *pre-norm*: nothing
    stands on the residual path, so that gradients reach deep layers unchanged. That is what
    most models after the paper do.

    Args:
        d_model: Width of every position's vector.
        dropout: Probability of dropping a number of the sub-layer's output while training.
        norm_first: Normalise the sub-layer's input instead of the sum.

    Raises:
        TypeError, ValueError: If d_model, dropout or norm_first cannot be.
    """

    def __init__(self, *, d_model: int, dropout: float = 0.1, norm_first: bool = False) -> None:
        super().__init__()
        require_whole("d_model", d_model)
        require_probability("dropout", dropout)
        require_flag("norm_first", norm_first)
        self.d_model = d_model
        self.norm_first = norm_first
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """Run the sub-layer and add its answer to x.

        Args:
            x: Shape (batch, position, d_model).
            sublayer: Takes and returns (batch, position, d_model).

        Returns:
            Shape (batch, position, d_model).

        Raises:
            ValueError: If the sub-layer does not return the shape of x.
        """
        answer = sublayer(self.norm(x) if self.norm_first else x)
        require_same_shape("sublayer", answer, x)  # the sum would broadcast in silence
        summed = x + self.dropout(answer)
        return summed if self.norm_first else self.norm(summed)
