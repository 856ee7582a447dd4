"""The figures of lesson 9, each with its title and its description.

Used in notebooks/09_transformer.ipynb.
"""

from collections.abc import Sequence

from matplotlib.figure import Figure

from transformer_course.drawing import course_map
from transformer_course.drawing.charts import plot_lines


def show_map() -> None:
    """Show where the output projection is on the map."""
    course_map.show_map("output projection", title="New today: the output projection")


def plot_training(losses: Sequence[float], level: float) -> Figure:
    """Draw the loss of every batch, and the loss of a model that knows nothing.

    The title says what the losses do, also those of a reader's own training.

    Args:
        losses: In nats per token, one for each batch.
        level: ln V, for a vocabulary of V tokens.

    Returns:
        A new figure.
    """
    losses = losses.tolist() if hasattr(losses, "tolist") else losses
    if not isinstance(losses, Sequence) or not losses:
        raise ValueError("losses must hold one number for each batch: does learn return its list?")
    losses = [float(each) for each in losses]
    title = f"The loss goes from {losses[0]:.2f} to {losses[-1]:.2f}"
    if losses[0] > level and losses[-1] < level / 10:
        title = "The loss starts above ln V and falls almost to 0"
    figure = plot_lines(
        {"loss": losses, "ln V": [level] * len(losses)},
        x=range(len(losses)),
        x_label="batch",
        y_label="loss in nats per token",
        title=title,
        dashed=["ln V"],
    )
    figure.set_label(title)
    return figure
