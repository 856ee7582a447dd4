"""Add & Norm: the residual connection and layer normalisation around a sub-layer (paper §3.1).

Built in notebooks/06_feed_forward_add_and_norm.ipynb.
"""

from collections.abc import Callable

from torch import Tensor, nn

from transformer_edu.model.refusals import (
    require_flag,
    require_probability,
    require_vectors,
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
        TypeError: If an argument is of another type.
        ValueError: If d_model is below 1, or dropout lies outside [0, 1].
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
            TypeError, ValueError: If x is not a non-empty floating-point tensor of that shape,
                or the sub-layer returns another shape.
        """
        require_vectors("x", x, self.d_model, self.norm.weight)
        answer = sublayer(self.norm(x) if self.norm_first else x)
        if not isinstance(answer, Tensor) or answer.shape != x.shape:
            got = tuple(answer.shape) if isinstance(answer, Tensor) else type(answer).__name__
            raise ValueError(f"sublayer must return the shape of x, {tuple(x.shape)}, got {got}")
        summed = x + self.dropout(answer)
        return summed if self.norm_first else self.norm(summed)
