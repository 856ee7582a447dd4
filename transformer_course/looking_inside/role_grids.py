"""A number for each head: how well it plays a role, in a grid of layers and heads."""

from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from torch import Tensor

from transformer_course.drawing.grid import as_array, number_axis
from transformer_course.drawing.style import (
    WEIGHT_COLORS,
    ink_on,
    literal,
    styled,
    title_above,
)

CLEAR_ROLE = 0.2  # a smaller share beyond the even one gets no name
ROLE_CELL = (0.82, 0.62)  # inches


@styled
def plot_head_roles(roles: Mapping[str, Mapping[str, Tensor]], *, label: str, title: str) -> Figure:
    """Draw the strongest role of every head: a panel for each kind, rows are layers.

    Each cell holds the name of the head's strongest role and its number; below CLEAR_ROLE it
    has no name.

    Args:
        roles: By kind of attention, then by role: numbers of shape (layer, head), at most 1.
        label: What the numbers are, for the color bar.
        title: What the reader should see, as a sentence.

    Returns:
        A new figure.
    """
    layers, heads = next(iter(next(iter(roles.values())).values())).shape
    size = (1.4 + len(roles) * heads * ROLE_CELL[0], 1.5 + layers * ROLE_CELL[1])
    figure, places = plt.subplots(1, len(roles), figsize=size, squeeze=False, sharey=True)
    for axes, (kind, by_role) in zip(places[0], roles.items(), strict=True):
        names, shares = strongest_roles(by_role)
        image = axes.imshow(shares, cmap=WEIGHT_COLORS, vmin=0, vmax=1, aspect="auto")
        for (layer, head), share in np.ndenumerate(shares):
            color = ink_on(image.cmap(share))
            name = literal(names[layer][head], longest=None)
            words = f"{name}\n{share:.2f}" if name else "–"
            axes.text(head, layer, words, ha="center", va="center", color=color, fontsize=10.5)
        number_axis(axes.xaxis, heads)
        axes.set_title(literal(kind, longest=None), fontsize=13, loc="center")
        axes.tick_params(length=0)
    number_axis(places[0][0].yaxis, layers)
    places[0][0].set_ylabel("layer")
    figure.supxlabel("head", fontsize=13)
    figure.colorbar(image, ax=places, label=label, fraction=0.03)
    title_above(figure, title)
    figure.set_label(f"{title}. {describe_head_roles(roles)}")
    return figure


def strongest_roles(by_role: Mapping[str, Tensor]) -> tuple[list[list[str]], np.ndarray]:
    """Each head's strongest role, "" below CLEAR_ROLE, and its number.

    Args:
        by_role: Numbers of shape (layer, head) by role.

    Returns:
        The names by layer and head, and the numbers, at least 0, shape (layer, head).
    """
    shares = np.stack([as_array(each) for each in by_role.values()])
    names, best, largest = list(by_role), shares.argmax(axis=0), shares.max(axis=0)
    named = [
        [names[role] if share >= CLEAR_ROLE else "" for role, share in zip(*row, strict=True)]
        for row in zip(best, largest, strict=True)
    ]
    return named, largest.clip(min=0)


def describe_head_roles(roles: Mapping[str, Mapping[str, Tensor]]) -> str:
    """How many heads of each kind have which role, for the alternative text.

    Args:
        roles: As for plot_head_roles.
    """
    said = []
    for kind, by_role in roles.items():
        names = [name or "none" for row in strongest_roles(by_role)[0] for name in row]
        counts = (f"{name} {names.count(name)}" for name in dict.fromkeys(sorted(names)))
        said.append(f"{kind}: {', '.join(counts)}")
    return "; ".join(said)
