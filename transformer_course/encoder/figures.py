"""The figures of lesson 7, each with its title and its description.

Used in notebooks/07_encoder.ipynb.
"""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure
from torch import Tensor

from transformer_course.drawing import course_map
from transformer_course.drawing.charts import plot_lines
from transformer_course.encoder.layer_maps import plot_by_layer, plot_one_word
from transformer_edu.model.refusals import require_whole


def show_map() -> None:
    """Show where the encoder is on the map."""
    course_map.show_map("encoder", title="The encoder: two sub-layers, repeated N times")


def plot_riding(vectors: Tensor, verbs: Mapping[str, str]) -> Figure:
    """Draw the vector of riding in several sentences, before the first layer and after others.

    Args:
        vectors: Shape (layer, sentence, d_model).
        verbs: The German verb of each sentence, by what is ridden.

    Returns:
        A new figure.
    """
    return plot_one_word(vectors, word="riding", labels=list(verbs), kinds=list(verbs.values()))


def plot_change(change: Tensor, words: Sequence[str], *, replaced: int) -> Figure:
    """Draw how much each vector changes when one word of the input is replaced.

    Args:
        change: For the input and after each layer, shape (layer, word), 0 or more.
        words: Of the sentence.
        replaced: The index of the replaced word. The colors end at the largest change elsewhere.

    Returns:
        A new figure; the title says how many vectors are different after layer 1.
    """
    if len(change) < 2:
        raise ValueError(f"change must be of the input and at least one layer, got {len(change)}")
    require_whole("replaced", replaced, minimum=0, maximum=len(words) - 1)
    rows = ["input", *(f"layer {number}" for number in range(1, len(change)))]
    elsewhere = change.clone()
    elsewhere[:, replaced] = 0
    title = f"After layer 1, {int((change[1] != 0).sum())} of {len(words)} vectors are different"
    figure = plot_by_layer(
        {"": change},
        words=words,
        title=title,
        rows=rows,
        bar="change",
        end=float(elsewhere.max()),
    )
    figure.set_label(f"a row for each layer, a column for each word. {title}")
    return figure


def plot_training_losses(losses: Mapping[str, Sequence[float]]) -> Figure:
    """Draw the losses of several trainings; the title says where each ends.

    Args:
        losses: By name, the loss after every step.

    Returns:
        A new figure.
    """
    if not losses or not all(map(len, losses.values())):
        got = ", ".join(losses) or "none"
        raise ValueError(f"losses must hold trainings of at least one step, got {got}")
    steps = range(1, len(next(iter(losses.values()))) + 1)
    ends = ", ".join(f"{name} {values[-1]:.1f}" for name, values in losses.items())
    title = f"Loss at the end: {ends}"
    figure = plot_lines(losses, x=steps, x_label="step", y_label="loss", title=title)
    figure.set_label(title)
    return figure
