"""Vectors as grids of signed numbers: cosines and rows of embeddings;
and bars of the words that are nearest by cosine.
"""

from collections.abc import Sequence
from typing import NamedTuple

import matplotlib.pyplot as plt
import torch
import torch.nn.functional as F
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from torch import Tensor

from transformer_course.drawing.grid import (
    as_array,
    draw_signed,
    number_axis,
    number_cells,
    one_decimal,
)
from transformer_course.drawing.style import (
    BLACK,
    BLUE,
    literal,
    require_one_each,
    styled,
    title_above,
)

LARGEST_NUMBERED_GRID = 8  # in larger grids the numbers would collide


@styled
def plot_similarities(vectors: Tensor, *, item: str, names: Sequence[str], title: str) -> Figure:
    """Draw the cosine of every two vectors, always on the scale from -1 to 1.

    Purple vectors point the same way, orange ones in opposite directions, white ones are
    orthogonal.

    Args:
        vectors: Shape (vector, width).
        item: What a vector stands for, such as "word": the label of both axes.
        names: One label per vector.
        title: What the reader should see, as a sentence.

    Returns:
        A new figure.
    """
    require_one_each(len(vectors), "vectors", names=names)
    directions = F.normalize(vectors.detach().float().cpu(), dim=-1)
    cosines = directions @ directions.T
    figure, axes = plt.subplots(figsize=(6, 4.6))
    image = draw_signed(axes, cosines, largest=1.0)
    axes.set_aspect("equal")
    figure.colorbar(image, ax=axes, label="cosine", ticks=[-1, -0.5, 0, 0.5, 1])
    labels = [literal(name) for name in names]
    axes.set_xticks(range(len(vectors)), labels, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(vectors)), labels)
    if len(vectors) <= LARGEST_NUMBERED_GRID:
        number_cells(axes, as_array(cosines), one_decimal)
    axes.set_title(title)
    axes.set(xlabel=item, ylabel=item)
    return figure


class Neighbors(NamedTuple):
    """A token and those that point most nearly the same way, the nearest first."""

    token: str
    nearest: tuple[tuple[str, float], ...]

    def __str__(self) -> str:
        """The answer in one line."""
        return f"{self.token:12} " + "  ".join(
            f"{name} {cosine:.2f}" for name, cosine in self.nearest
        )


def nearest(
    embeddings: Tensor,
    token_ids: Sequence[int],
    *,
    tokens: Sequence[str],
    count: int = 5,
    among: Sequence[int] | None = None,
) -> list[Neighbors]:
    """Each token's neighbors by cosine, in all dimensions; a token is not its own neighbor.

    Args:
        embeddings: Shape (token, width).
        token_ids: The tokens whose neighbors are wanted.
        tokens: The token of every id.
        count: How many for each.
        among: The ids that may be neighbors; all when None.

    Returns:
        One for each id; printed, each is a line.
    """
    candidates = range(len(embeddings)) if among is None else among
    directions = F.normalize(embeddings.detach().float().cpu(), dim=1)
    answers = []
    for token_id in token_ids:
        allowed = [each for each in candidates if each != token_id]
        others = torch.tensor(allowed, dtype=torch.long, device="cpu")
        cosines = directions[others] @ directions[token_id]
        best = cosines.topk(count)
        names = [tokens[place] for place in others[best.indices].tolist()]
        pairs = zip(names, best.values.tolist(), strict=True)
        answers.append(Neighbors(tokens[token_id], tuple(pairs)))
    return answers


NUMBERS_DRAWN = 16  # of each vector: the first ones
SCALE_HOLDS = 0.9  # of the numbers drawn: the few largest would make all others pale


@styled
def plot_neighbors(neighbors: Sequence[Neighbors]) -> Figure:
    """Draw for each word the words whose vectors point most nearly the same way.

    The title names the nearest word of each, the label all of them.

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
    pairs = (f"{literal(each.nearest[0][0])} to {literal(each.token)}" for each in neighbors)
    title_above(figure, "Nearest in direction: " + ", ".join(pairs))
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
    require_one_each(len(vectors), "vectors", words=words, token_ids=token_ids)
    if not len(vectors):
        raise ValueError("vectors must hold at least one vector, got none: is the sentence empty?")
    token_ids = [int(each) for each in token_ids]  # perhaps a tensor
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
        vectors[one].equal(vectors[other])
        for one in again
        for other in again
        if token_ids[one] == token_ids[other]
    )
    repeated = ", ".join(dict.fromkeys(literal(words[place]) for place in again))
    title = f"{'Equal' if same else 'Different'} numbers in the columns of “{repeated}”"
    if not again:
        own = len(vectors.unique(dim=0)) == len(vectors)
        title = f"Every token {'has its own numbers' if own else 'occurs once'}"
    axes.set_title(title)
    figure.set_label(f"a column of colored numbers for each token. {axes.get_title('left')}")
    return figure
