"""What fraction of a probability remains without a part, on several texts.

Used in notebooks/17_what_can_be_removed.ipynb.
"""

from collections.abc import Mapping

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from torch import Tensor

from transformer_course.drawing.style import BLUE, VERMILION, literal, styled

AXIS = "fraction of the probability of a correct token that remains"


@styled
def plot_remains(remains: Mapping[str, Tensor]) -> Figure:
    """Draw a dot for each sentence of some texts, and their geometric mean; the title compares.

    Args:
        remains: By the text's name, the fraction that remains of each of its sentences.

    Returns:
        A new figure; its label says the means in words.
    """
    means = {name: each.log().mean().exp().item() for name, each in remains.items()}
    figure, axes = plt.subplots(figsize=(8, 1.3 + 0.5 * len(remains)))
    for row, each in enumerate(remains.values()):
        axes.plot(each, len(each) * [row], "o", color=BLUE, alpha=0.45, markersize=7)
    dots, *_ = axes.lines
    dots.set_label("a sentence")
    mark = {"color": VERMILION, "markersize": 24, "markeredgewidth": 3.5}
    axes.plot([*means.values()], range(len(means)), "|", **mark, label="geometric mean")
    names = [f"{name}: {means[name]:.0%}" for name in remains]
    axes.set_yticks(range(len(names)), [literal(name, longest=None) for name in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_xlim(left=0)
    most, least = max(means, key=means.get), min(means, key=means.get)
    title = f"Most remains on {most} ({means[most]:.0%}), least on {least} ({means[least]:.0%})"
    if means[most] == means[least]:
        title = f"On {', '.join(means)}: {means[most]:.0%} remains"
    axes.set_title(literal(title, longest=None))
    axes.set_xlabel(AXIS)
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), markerscale=0.6)
    figure.set_label(f"{title}. Geometric means: {', '.join(names)}. One dot for each sentence")
    return figure
