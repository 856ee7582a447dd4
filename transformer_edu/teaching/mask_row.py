"""Several masks of one sentence side by side, so that one sees how they combine."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from torch import Tensor

from transformer_edu.teaching.grid import KEY_AXIS, QUERY_AXIS
from transformer_edu.teaching.plots import plot_mask
from transformer_edu.teaching.style import styled

MOST_MASKS = 4  # in a row; more would be too small to read


@styled
def plot_mask_row(
    masks: Mapping[str, Tensor],
    *,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    title: str,
) -> Figure:
    """Draw masks next to each other: filled where a query may attend, hatched where not.

    Args:
        masks: What each is called, and the mask, broadcastable to (query, key).
        query_tokens: Labels for the rows.
        key_tokens: Labels for the columns.
        title: What the reader should see, as a sentence.

    Returns:
        A new figure with one panel per mask.

    Raises:
        ValueError: If there are no masks or more than four, or one does not fit the labels.
    """
    if not 0 < len(masks) <= MOST_MASKS:
        raise ValueError(f"masks must hold 1 to {MOST_MASKS} masks, got {len(masks)}")
    side = 0.8 + 0.42 * max(len(key_tokens), len(query_tokens))
    figure, grid = plt.subplots(
        1,
        len(masks),
        figsize=(0.7 + side * len(masks), 1.1 + side),
        sharey=True,
        squeeze=False,
    )
    for axes, (name, mask) in zip(grid[0], masks.items(), strict=True):
        plot_mask(mask, query_tokens=query_tokens, key_tokens=key_tokens, title=name, axes=axes)
        axes.set_title(name, fontsize=13)
        axes.set(xlabel="", ylabel="")
    figure.suptitle(title, fontsize=14, x=0.01, ha="left")
    figure.get_layout_engine().set(h_pad=0.1)
    figure.supxlabel(KEY_AXIS, fontsize=13)
    figure.supylabel(QUERY_AXIS, fontsize=13)
    return figure
