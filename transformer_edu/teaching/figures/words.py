"""Words as rows of the embedding table: the rows of a sentence, and a word's nearest rows."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from transformer_edu.teaching.figures.grid import draw_signed, number_axis
from transformer_edu.teaching.inspect.embedding_map import Neighbors
from transformer_edu.teaching.style import BLACK, BLUE, literal, styled, title_above

NUMBERS_DRAWN = 16  # of each vector: the first ones
SCALE_HOLDS = 0.9  # of the numbers drawn: the few largest would make all others pale


@styled
def plot_neighbors(neighbors: Sequence[Neighbors]) -> Figure:
    """Draw for each word the words whose vectors point most nearly the same way.

    Title and label name the nearest word of each.

    Args:
        neighbors: One to four words, the nearest neighbors first, with cosines of at least 0.

    Returns:
        A new figure with a panel for each word.
    """
    most = max(len(each.nearest) for each in neighbors)
    size = (3.1 * len(neighbors), 1.4 + 0.36 * most)
    figure, panels = plt.subplots(1, len(neighbors), figsize=size, squeeze=False)
    for axes, each in zip(panels.flat, neighbors, strict=True):
        names = [literal(name) for name, _ in each.nearest]
        axes.barh(range(len(names)), [cosine for _, cosine in each.nearest], color=BLUE)
        axes.set_yticks(range(len(names)), names)
        axes.tick_params(axis="y", length=0)
        axes.invert_yaxis()
        axes.set_xlim(0, 1)
        axes.set_title(literal(each.token), fontsize=13)
        axes.set_xlabel("cosine")
    nearest = (f"{literal(each.nearest[0][0])} to {literal(each.token)}" for each in neighbors)
    title_above(figure, "Nearest in direction: " + ", ".join(nearest))
    said = (f"{each.token}: {', '.join(name for name, _ in each.nearest)}" for each in neighbors)
    figure.set_label("bars of the nearest words, the nearest first. " + "; ".join(said))
    return figure


@styled
def plot_rows(vectors: Tensor, *, words: Sequence[str], token_ids: Sequence[int]) -> Figure:
    """Draw the vectors of a sentence as columns, and frame those of tokens that occur again.

    Title and label say whether tokens with the same id have the same numbers.

    Args:
        vectors: Shape (position, d_model).
        words: One per position.
        token_ids: One per position.

    Returns:
        A new figure with the first NUMBERS_DRAWN numbers of each vector.
    """
    drawn = vectors.detach().float().cpu()[:, :NUMBERS_DRAWN]
    figure, axes = plt.subplots(figsize=(9, 4.6))
    end = float(drawn.abs().quantile(SCALE_HOLDS))
    image = draw_signed(axes, drawn.T, largest=end)
    figure.colorbar(image, ax=axes, label="value", extend="both")
    names = [f"{literal(word)}\n{each}" for word, each in zip(words, token_ids, strict=True)]
    axes.set_xticks(range(len(names)), names)
    axes.tick_params(length=0)
    number_axis(axes.yaxis, drawn.size(1))
    axes.set(xlabel="token and its id", ylabel="number within the vector")
    again = [place for place, each in enumerate(token_ids) if token_ids.count(each) > 1]
    frame = {"fill": False, "edgecolor": BLACK, "linewidth": 3, "clip_on": False}
    for place in again:
        axes.add_patch(Rectangle((place - 0.5, -0.5), 1, drawn.size(1), **frame))
    same = all(
        drawn[one].equal(drawn[other])
        for one in again
        for other in again
        if token_ids[one] == token_ids[other]
    )
    repeated = ", ".join(dict.fromkeys(literal(words[place]) for place in again))
    title = f"{'Equal' if same else 'Different'} numbers in the columns of “{repeated}”"
    axes.set_title(title if again else "Every token has its own numbers")
    figure.set_label(f"a column of colored numbers for each token. {axes.get_title('left')}")
    return figure
