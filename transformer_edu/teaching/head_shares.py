"""What each head of each layer reaches, as a grid. Used in notebooks/14_translation.ipynb."""

from matplotlib.figure import Figure
from torch import Tensor

from transformer_edu.teaching.grid import draw_weights, grid_axes
from transformer_edu.teaching.refusals import require_floats, require_zero_to_one
from transformer_edu.teaching.style import styled


@styled
def plot_head_shares(shares: Tensor, *, label: str, title: str) -> Figure:
    """Draw a share for every head: a row for each layer, a column for each head.

    Args:
        shares: From 0 to 1, shape (layer, head).
        label: What they are shares of, for the colour bar.
        title: What the reader should see, as a sentence.

    Returns:
        A new figure.

    Raises:
        TypeError: If shares is no tensor of floating-point numbers.
        ValueError: If shares is no grid, an axis is empty, or a share is not from 0 to 1.
    """
    require_floats("shares", shares)
    if shares.dim() != 2 or shares.numel() == 0:
        got = tuple(shares.shape)
        raise ValueError(f"shares must have shape (layer, head) with no empty axis, got {got}")
    require_zero_to_one("shares", shares)
    layers, heads = ([str(number + 1) for number in range(count)] for count in shares.shape)
    axes = grid_axes(None, layers, heads)
    image = draw_weights(axes, shares, layers, heads)
    axes.tick_params(axis="x", labelrotation=0)
    for name in axes.get_xticklabels():
        name.set_horizontalalignment("center")
    axes.figure.colorbar(image, ax=axes, label=label)
    axes.set_title(title)
    axes.set_xlabel("head")
    axes.set_ylabel("decoder layer")
    return axes.figure
