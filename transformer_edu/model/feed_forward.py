"""The position-wise feed-forward network: one small network for every position (paper §3.3).

Built in notebooks/06_feed_forward_add_and_norm.ipynb.
"""

from torch import Tensor, nn


class FeedForward(nn.Module):
    """Two linear layers with ReLU between them: max(0, x W₁ + b₁) W₂ + b₂ (paper eq. 2).

    Args:
        d_model: Width of every position's vector, in and out.
        d_ff: Width between the two layers; the paper's is 4 · d_model.
    """

    def __init__(self, *, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.d_model = d_model
        self.widen = nn.Linear(d_model, d_ff)
        self.narrow = nn.Linear(d_ff, d_model)

    def forward(self, x: Tensor) -> Tensor:
        """Apply the same two layers to every position.

        Args:
            x: Shape (batch, position, d_model).

        Returns:
            Shape (batch, position, d_model).
        """
        return self.narrow(self.widen(x).relu())
