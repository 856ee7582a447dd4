"""The figures of lesson 9, each with its title and its description.

Used in notebooks/09_transformer.ipynb.
"""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure
from torch import nn

from transformer_course.drawing import course_map
from transformer_course.drawing.charts import plot_bars, plot_lines

# What is drawn for a parameter, by a part of its name; the first that fits counts.
PARTS = {
    "around": "Add & Norm",
    "attention": "attention",
    "feed_forward": "feed-forward",
    "embedding": "embedding",
    "output": "output bias",
}


def show_map() -> None:
    """Show where the output projection is on the map."""
    course_map.show_map("output projection", title="New today: the output projection")


def count_parameters(model: nn.Module) -> dict[str, float]:
    """How many millions of parameters each kind of part has; what is tied counts once.

    Args:
        model: A Transformer with the course's names.
    """
    counts = dict.fromkeys(PARTS.values(), 0.0)
    for name, weight in model.named_parameters():
        part = next(part for part in PARTS if part in name)
        counts[PARTS[part]] += weight.numel() / 1e6
    return counts


def plot_parameters(counts: Mapping[str, float]) -> Figure:
    """Draw where the base model has its parameters; the title has their sum.

    Args:
        counts: Millions of parameters by part.

    Returns:
        A new figure.
    """
    title = f"The base model has {sum(counts.values()):.1f} million parameters"
    figure = plot_bars(counts, y_label="millions of parameters", title=title)
    figure.set_label(f"{title}: {dict(counts)}")
    return figure


def plot_training(losses: Sequence[float], level: float) -> Figure:
    """Draw the loss of every batch, and the loss of a model that knows nothing.

    Args:
        losses: In nats per token, one for each batch.
        level: ln V, for a vocabulary of V tokens.

    Returns:
        A new figure.
    """
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
