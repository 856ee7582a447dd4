"""How fast each number of a positional encoding swings."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from transformer_edu.teaching.style import styled


@styled
def plot_wavelengths(
    sine: Sequence[float],
    cosine: Sequence[float],
    *,
    title: str,
    longest_sequence: int | None = None,
) -> Figure:
    """Draw after how many positions every sine and cosine of an encoding comes round again.

    Args:
        sine: Wavelength of each sine in positions, by pair.
        cosine: Wavelength of each pair's cosine.
        title: What the reader should see, as a sentence.
        longest_sequence: Draws a line at this length: what lies far above it hardly moves.

    Returns:
        A new figure, wavelengths on a logarithmic scale.

    Raises:
        ValueError: If there are no pairs, the two differ in number, or a wavelength is not above 0.
    """
    if len(sine) != len(cosine) or not len(sine):
        raise ValueError(
            f"sine and cosine must hold one wavelength per pair, got {len(sine)} and {len(cosine)}"
        )
    if min(*sine, *cosine) <= 0:
        raise ValueError(f"wavelengths must be above 0, got {min(*sine, *cosine)}")
    figure, axes = plt.subplots(figsize=(7.5, 3.8))
    pairs = range(len(sine))
    every = max(1, len(sine) // 16)
    axes.plot(pairs, sine, label="sine", markevery=every)
    hollow = {"markersize": 10, "markerfacecolor": "none"}  # seen where both lines coincide
    axes.plot(pairs, cosine, linestyle="--", label="cosine", markevery=every, **hollow)
    if longest_sequence is not None:
        axes.axhline(longest_sequence, color="black", linestyle=":", marker="", linewidth=1.5)
        words = f"{longest_sequence} positions"
        axes.text(len(sine) - 1, longest_sequence * 0.8, words, ha="right", va="top", fontsize=12)
    axes.set_yscale("log")
    axes.legend()
    axes.set_title(title)
    axes.set_xlabel("pair i")
    axes.set_ylabel("wavelength (positions)")
    return figure
