"""The position-wise feed-forward network: one small network for every position (paper §3.3).

Built in notebooks/06_feed_forward_add_and_norm.ipynb.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .refusals import require_choice


def gelu_tanh(x: Tensor) -> Tensor:
    """GELU as GPT-2 computes it, with tanh: up to 5e-4 from the exact one."""
    return F.gelu(x, approximate="tanh")


ACTIVATIONS = {"relu": F.relu, "gelu": F.gelu, "gelu_tanh": gelu_tanh, "silu": F.silu}
# Those of the library transformers that learn nothing, by its names.
ACTIVATIONS |= {"mish": F.mish, "hardswish": F.hardswish, "relu6": F.relu6, "tanh": torch.tanh}
ACTIVATIONS |= {"leaky_relu": F.leaky_relu, "sigmoid": torch.sigmoid, "linear": lambda x: x}
ACTIVATIONS |= {"relu2": lambda x: x.relu() ** 2, "sqrtsoftplus": lambda x: F.softplus(x).sqrt()}
ACTIVATIONS |= {"gelu_10": lambda x: F.gelu(x).clamp(-10, 10)}
ACTIVATIONS |= {"quick_gelu": lambda x: x * (1.702 * x).sigmoid()}
ACTIVATIONS |= {"laplace": lambda x: (1 + ((x - 0.707107) / (0.282095 * 2**0.5)).erf()) / 2}


class FeedForward(nn.Module):
    """Two linear layers with ReLU between them: max(0, x W₁ + b₁) W₂ + b₂ (paper eq. 2).

    Args:
        d_model: Width of every position's vector, in and out.
        d_ff: Width between the two layers; the paper's is 4 · d_model.
        activation: The function between them, one of ACTIVATIONS; the paper's is ReLU.

    Raises:
        ValueError: If activation is not one of ACTIVATIONS.
    """

    def __init__(self, *, d_model: int, d_ff: int, activation: str = "relu") -> None:
        super().__init__()
        require_choice("activation", activation, ACTIVATIONS)
        self.activation = ACTIVATIONS[activation]
        self.d_model = d_model
        self.widen = nn.Linear(d_model, d_ff)
        self.narrow = nn.Linear(d_ff, d_model)

    def forward(self, x: Tensor) -> Tensor:
        """Apply the same two layers to every position: (batch, position, d_model) in and out."""
        return self.narrow(self.activation(self.widen(x)))
