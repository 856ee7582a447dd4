"""The position-wise feed-forward network: every position thinks on its own (paper §3.3).

Built in notebooks/06_feed_forward_add_and_norm.ipynb.
"""

from torch import Tensor, nn

from transformer_edu.refusals import require_whole


class FeedForward(nn.Module):
    """Widen, cut off below zero, narrow again: max(0, x W₁ + b₁) W₂ + b₂ (paper eq. 2).

    Args:
        d_model: Width of every position's vector, in and out.
        d_ff: Width in between; the paper's is 4 · d_model.

    Raises:
        TypeError, ValueError: If a width is not a whole number of at least 1.
    """

    def __init__(self, *, d_model: int, d_ff: int) -> None:
        super().__init__()
        require_whole("d_model", d_model)
        require_whole("d_ff", d_ff)
        self.d_model = d_model
        self.widen = nn.Linear(d_model, d_ff)
        self.narrow = nn.Linear(d_ff, d_model)

    def forward(self, x: Tensor) -> Tensor:
        """Apply the same two layers at every position.

        Args:
            x: Shape (batch, position, d_model).

        Returns:
            Shape (batch, position, d_model).
        """
        return self.narrow(self.widen(x).relu())
