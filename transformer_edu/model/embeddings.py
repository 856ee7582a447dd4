"""Words and positions become vectors of the same width (paper §3.4 and §3.5).

Built in notebooks/01_words_as_vectors.ipynb and 05_positional_encoding.ipynb.
"""

import math
from collections.abc import Callable
from typing import Self

import torch
from torch import Tensor, nn

from transformer_edu.refusals import require_even, require_vectors, require_whole


class TokenEmbedding(nn.Module):
    """One learned vector per token, multiplied by √d_model on the way in (paper §3.4).

    The table starts as N(0, 1/d_model): rows of length about one, which the factor brings to
    about √d_model, as long as a positional encoding is.

    Args:
        vocabulary_size: Number of tokens.
        d_model: Width of every vector.

    Raises:
        TypeError, ValueError: If a size is not a whole number of at least 1.
    """

    def __init__(self, *, vocabulary_size: int, d_model: int) -> None:
        super().__init__()
        require_whole("vocabulary_size", vocabulary_size)
        require_whole("d_model", d_model)
        self.vocabulary_size = vocabulary_size
        self.d_model = d_model
        self.table = nn.Embedding(vocabulary_size, d_model)
        nn.init.normal_(self.table.weight, std=d_model**-0.5)

    def forward(self, token_ids: Tensor) -> Tensor:
        """Look up every token's vector.

        Args:
            token_ids: Shape (batch, position), each from 0 to vocabulary_size - 1.

        Returns:
            Shape (batch, position, d_model).
        """
        return self.table(token_ids) * math.sqrt(self.d_model)


def sinusoidal_positions(length: int, d_model: int, *, dtype: torch.dtype | None = None) -> Tensor:
    """The paper's table of positions: sines and cosines of falling frequency (paper §3.5).

    PE(pos, 2i) = sin(pos / 10000^(2i / d_model)), PE(pos, 2i + 1) = cos(of the same angle).
    Computed in float64 on the CPU, then rounded and moved to torch's default device: float32
    angles are wrong by 4e-4 at position 5,000, and not every device has float64.

    Args:
        length: Number of positions, at least 1.
        d_model: Width of every vector; must be even, a sine and a cosine to each frequency.
        dtype: What to round to; torch's default floating-point type when None.

    Returns:
        Shape (length, d_model).

    Raises:
        TypeError: If a size is not a whole number, or dtype is not a floating-point type.
        ValueError: If a size is below 1, or d_model is odd.
    """
    require_whole("length", length)
    require_even("d_model", d_model)
    dtype = torch.get_default_dtype() if dtype is None else dtype
    if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point:
        raise TypeError(f"dtype must be a floating-point torch.dtype, got {dtype!r}")
    exact = {"dtype": torch.float64, "device": "cpu"}
    position = torch.arange(length, **exact).unsqueeze(1)  # (position, 1)
    even = torch.arange(0, d_model, 2, **exact)  # the paper's 2i
    angle = position / 10_000 ** (even / d_model)  # (position, d_model / 2)
    pairs = torch.stack([angle.sin(), angle.cos()], dim=-1)  # (position, d_model / 2, 2)
    return pairs.flatten(-2).to(torch.get_default_device(), dtype)


class PositionalEncoding(nn.Module):
    """Add to every vector where it stands: sinusoids, nothing learned (paper §3.5).

    Args:
        d_model: Width of every position's vector; must be even.
        max_length: Number of positions in the table.

    Raises:
        TypeError, ValueError: If a size is not a whole number of at least 1, or d_model is odd.
    """

    def __init__(self, *, d_model: int, max_length: int = 5000) -> None:
        super().__init__()
        require_whole("max_length", max_length)
        self.d_model = d_model
        self.max_length = max_length
        # A buffer moves with the model; it is no weight, and a formula need not be saved.
        self.register_buffer("table", sinusoidal_positions(max_length, d_model), persistent=False)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Move or convert, then compute the table anew: it is a formula, so no rounding stays."""
        super()._apply(fn, recurse)
        table = sinusoidal_positions(self.max_length, self.d_model, dtype=self.table.dtype)
        self.table = table.to(self.table.device)
        return self

    def forward(self, x: Tensor, *, offset: int = 0) -> Tensor:
        """Add the encodings of positions offset, offset + 1, … along the sequence.

        Args:
            x: Shape (batch, position, d_model).
            offset: Position of x's first vector: above 0 when x continues a longer sequence.

        Returns:
            Shape (batch, position, d_model).

        Raises:
            TypeError, ValueError: If x is not floating-point (batch, position, d_model), offset is
                negative, or the table is too short.
        """
        require_vectors("x", x, self.d_model)
        require_whole("offset", offset, minimum=0)
        end = offset + x.size(1)
        if end > self.max_length:
            raise ValueError(f"sequence length must be at most {self.max_length}, got {end}")
        return x + self.table[offset:end].to(x.dtype)
