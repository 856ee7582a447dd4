"""The figures of lesson 21: a training as it happens, and what is right without a head."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure
from torch import Tensor

from transformer_course.drawing.charts import plot_bars, plot_lines


def plot_training(
    steps: Sequence[int], accuracy: Sequence[float], scores: Sequence[Mapping[str, Tensor]]
) -> Figure:
    """Draw the accuracy and the best scores of both roles over the steps of one training.

    Args:
        steps: When it was measured, at least once.
        accuracy: On words that come again.
        scores: As head_scores returns them.
    """
    before, after = (
        [each[role][layer].max().item() for each in scores]
        for role, layer in (("before", 0), ("after", -1))
    )
    curves = {
        "accuracy on words that come again": accuracy,
        "layer 1: weight on the word before": before,
        f"layer {len(scores[-1]['after'])}: weight after an earlier one": after,
    }
    title = f"Step {steps[-1]}: {accuracy[-1]:.0%} of the words that come again are right"
    figure = plot_lines(
        curves, x=steps, x_label="training steps", y_label="accuracy, or score", title=title, top=1
    )
    figure.set_label(f"{title}; " + _said(curves))
    return figure


def _said(curves: Mapping[str, Sequence[float]]) -> str:
    return "; ".join(f"{name} from {y[0]:.2f} to {y[-1]:.2f}" for name, y in curves.items())


def plot_cuts(accuracy: Mapping[str, float]) -> Figure:
    """Draw the accuracy on words that come again by what is cut; the title compares two bars.

    Args:
        accuracy: By what is cut, "nothing" among them, or nothing is compared.
    """
    lowest = min(accuracy, key=accuracy.__getitem__)
    left, whole = accuracy[lowest], accuracy.get("nothing")
    title = f"Cut: {lowest}. The accuracy is {left:.2f}"
    if whole is not None and not left < whole:
        title = f"No cut lowers the accuracy of {whole:.2f}"
    elif whole is not None:
        ends = f"from {whole:.2f} to {left:.2f}"
        said = "by less than 0.01" if f"{whole:.2f}" == f"{left:.2f}" else ends
        title = f"Cut: {lowest}. The accuracy falls {said}"
    figure = plot_bars(accuracy, y_label="accuracy on words that come again", title=title, top=1)
    figure.set_label(f"{title}: {accuracy}")
    return figure
