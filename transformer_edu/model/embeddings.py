"""Token embeddings and positional encodings, vectors of the same width (paper §3.4, §3.5).

Built in notebooks/01_words_as_vectors.ipynb and 05_positional_encoding.ipynb.
"""

import math
from collections.abc import Callable
from typing import Self

import torch
from torch import Tensor, nn

from .refusals import require_choice, require_positions, require_whole

# The axis along which sine and cosine of each frequency are put together, from the end.
POSITION_ORDERS = {"interleaved": -1, "halves": -2}
LARGEST_LENGTH = 2**17  # positions; attention would need 64 GiB for the scores of one head


class TokenEmbedding(nn.Module):
    """One learned vector per token, multiplied by √d_model (paper §3.4).

    The table is initialized from N(0, 1/d_model). Its rows have a norm of about 1, and √d_model
    after the multiplication: about the norm of a positional encoding.

    Args:
        vocabulary_size: Number of tokens.
        d_model: Width of every vector.
        scaled: Whether to multiply by √d_model.
    """

    def __init__(self, *, vocabulary_size: int, d_model: int, scaled: bool = True) -> None:
        super().__init__()
        self.vocabulary_size = vocabulary_size
        self.d_model = d_model
        self.scale = math.sqrt(d_model) if scaled else 1.0
        self.table = nn.Embedding(vocabulary_size, d_model)
        nn.init.normal_(self.table.weight, std=d_model**-0.5)

    def forward(self, token_ids: Tensor) -> Tensor:
        """Look up every token's vector: (batch, position) to (batch, position, d_model)."""
        return self.table(token_ids) * self.scale


def sinusoidal_positions(
    length: int, d_model: int, *, order: str = "interleaved", dtype: torch.dtype | None = None
) -> Tensor:
    """The paper's table of positions: sines and cosines of decreasing frequency (paper §3.5).

    PE(pos, 2i) = sin(pos / 10000^(2i / d_model)), PE(pos, 2i + 1) = cos(the same angle).
    The table is computed in float64 on the CPU, then rounded and moved to torch's default device:
    in float32 the angles are wrong by 4e-4 at position 5,000, and some devices lack float64.

    Args:
        length: Number of positions, from 1 to LARGEST_LENGTH.
        d_model: Width of every vector; if it is odd, the last frequency has no cosine.
        order: The paper's "interleaved", or "halves": all sines, then all cosines.
        dtype: Floating-point type of the result; torch's default type when None.

    Returns:
        Shape (length, d_model).

    Raises:
        TypeError: If a size is not a whole number, or dtype is not a floating-point type.
        ValueError: If a size is out of its range, or order neither of the two.
    """
    require_whole("length", length, maximum=LARGEST_LENGTH)
    require_whole("d_model", d_model)
    require_choice("order", order, POSITION_ORDERS)
    dtype = torch.get_default_dtype() if dtype is None else dtype
    if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point:
        raise TypeError(f"dtype must be a floating-point type, got {dtype}")
    if torch.get_default_device().type == "meta":  # shapes without numbers
        return torch.empty(length, d_model, dtype=dtype)
    exact = {"dtype": torch.float64, "device": "cpu"}
    position = torch.arange(length, **exact).unsqueeze(1)  # (position, 1)
    even = torch.arange(0, d_model, 2, **exact)  # the paper's 2i
    angle = position / 10_000 ** (even / d_model)  # (position, d_model / 2)
    # Shape (position, d_model / 2, 2); in halves (position, 2, d_model / 2).
    pairs = torch.stack([angle.sin(), angle.cos()], dim=POSITION_ORDERS[order])
    return pairs.flatten(-2)[:, :d_model].to(torch.get_default_device(), dtype)


class PositionalEncoding(nn.Module):
    """Add to every vector the encoding of its position; nothing is learned (paper §3.5).

    Args:
        d_model: Width of every position's vector.
        max_length: Number of positions in the table.
        order: As in sinusoidal_positions.

    Raises:
        ValueError: If order is neither of the two.
    """

    def __init__(self, *, d_model: int, max_length: int = 5000, order: str = "interleaved") -> None:
        super().__init__()
        self.d_model = d_model
        self.max_length = max_length
        self.order = order
        table = sinusoidal_positions(max_length, d_model, order=order)
        # A buffer moves with the model. It is not a weight, and a formula need not be saved.
        self.register_buffer("table", table, persistent=False)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Move or convert, then recompute the table: converting twice must not lose digits."""
        super()._apply(fn, recurse)
        how = {"order": self.order, "dtype": self.table.dtype}
        table = sinusoidal_positions(self.max_length, self.d_model, **how)
        self.table = table.to(self.table.device)
        return self

    def forward(self, x: Tensor, *, offset: int = 0) -> Tensor:
        """Add the encodings of positions offset, offset + 1, … along the sequence.

        Args:
            x: Shape (batch, position, d_model), like the result.
            offset: Position of x's first vector; above 0 when x continues a longer sequence.

        Raises:
            ValueError: If x is not floats of width d_model, or a position is not in the table.
        """
        require_positions(x, offset, self.max_length, self.d_model)
        return x + self.table[offset : offset + x.size(1)].to(x.dtype)
