"""The figure of lesson 20: what each wrong choice changes."""

from collections.abc import Mapping

from matplotlib.figure import Figure

from transformer_course.a_published_model.differences import plot_differences
from transformer_course.drawing.charts import require_entries


def plot_twins(
    differences: Mapping[str, float], kept: Mapping[str, int], *, equal: float
) -> Figure:
    """Draw how far the logits of each twin are off; the title counts the twins that write the same.

    Where none keeps ten translations, or one keeps more, the title tells the fewest and the most.

    Args:
        differences: By the twin's name, "our model" first: the largest difference of a logit.
        kept: By the same names, how many of ten translations stay.
        equal: Below it, two logits count as equal.
    """
    require_entries("kept", kept, differences)
    _, *twins = differences
    counts = [kept[name] for name in twins]
    if not counts:
        raise ValueError("differences must have a twin after our model, got none")
    title = f"{counts.count(10)} of {len(twins)} wrong choices change no translation"
    words = {name: f"{count} of 10 stay" for name, count in kept.items()}
    if max(kept.values()) != 10:  # of how many sentences is not known
        title = f"With a wrong choice, {min(counts)} to {max(counts)} translations stay"
        words = {name: f"{count} stay" for name, count in kept.items()}
    labels = {"x_label": "largest difference of a logit", "title": title}
    return plot_differences(differences, words=words, equal=equal, **labels)
