"""How far a word reaches: which words of the sentence affect one output, layer after layer.

Used in notebooks/07_encoder.ipynb.
"""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from torch import Tensor

from transformer_edu.teaching.figures.grid import hatch
from transformer_edu.teaching.style import WEIGHT_COLOURS, literal, styled


@styled
def plot_reach(reach: Mapping[str, Tensor], *, words: Sequence[str], title: str) -> Figure:
    """Draw the share of every word in one output after each layer; no influence is hatched.

    Args:
        reach: Shares by panel title, each of shape (layer, word), from 0 to 1.
        words: Labels for the columns.
        title: What the reader should see, as a sentence.

    Returns:
        A new figure with one panel per entry, on one scale from 0 to 1.

    Raises:
        ValueError: If shapes do not fit the words, or a share is not from 0 to 1.
    """
    layers = len(next(iter(reach.values())))
    for name, shares in reach.items():
        _require_shares(name, shares, (layers, len(words)))
    size = (1.6 + 3.6 * len(reach), 1.9 + 0.4 * layers)
    figure, grid = plt.subplots(1, len(reach), figsize=size, squeeze=False, sharey=True)
    for axes, (name, shares) in zip(grid.flat, reach.items(), strict=True):
        image = _draw_panel(axes, shares, words)
        axes.set_title(name, fontsize=13)
    grid[0, 0].set_ylabel("after layer")
    figure.supxlabel("word that went in", fontsize=13)
    figure.colorbar(image, ax=grid, label="share of the influence")
    figure.suptitle(title, fontsize=14, x=0.02, ha="left")
    return figure


def _draw_panel(axes: Axes, shares: Tensor, words: Sequence[str]) -> AxesImage:
    """One grid, a row for each layer, its shares written in per cent."""
    numbers = shares.detach().float().cpu().numpy()
    image = axes.imshow(numbers, cmap=WEIGHT_COLOURS, vmin=0, vmax=1, aspect="auto")
    hatch(axes, shares.detach() == 0)
    for layer, row in enumerate(numbers.tolist()):
        for column, share in enumerate(row):
            if share > 0:
                axes.text(
                    column,
                    layer,
                    f"{share:.0%}" if share >= 0.01 else "< 1%",
                    ha="center",
                    va="center",
                    c="black" if share > 0.5 else "white",
                    fontsize=11,
                )
            else:
                axes.text(
                    column,
                    layer,
                    "0",
                    ha="center",
                    va="center",
                    fontsize=11,
                    backgroundcolor="white",
                )
    axes.set_xticks(range(len(words)), [literal(word) for word in words])
    axes.set_yticks(range(len(numbers)), range(1, len(numbers) + 1))
    axes.tick_params(length=0)
    return image


def _require_shares(name: str, shares: Tensor, shape: tuple[int, int]) -> None:
    """Refuse what would be drawn in wrong cells or colors."""
    if tuple(shares.shape) != shape or shares.numel() == 0:
        raise ValueError(
            f"reach {name!r} must have shape (layer, word) = {shape}, got {tuple(shares.shape)}"
        )
    if not ((shares >= 0) & (shares <= 1 + 1e-3)).all():
        raise ValueError(
            f"reach {name!r} must be from 0 to 1, got {shares.min()} to {shares.max()}"
        )
