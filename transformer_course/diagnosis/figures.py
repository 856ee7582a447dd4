"""What lesson 11 draws and tabulates; a figure comes with its title and its words.

Used in notebooks/11_diagnosis.ipynb.
"""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from transformer_course.curves.stored_runs import StoredRuns, load_runs
from transformer_course.diagnosis.observations import CHANGES, Observations
from transformer_course.drawing.charts import plot_lines
from transformer_course.drawing.style import literal, styled, title_above
from transformer_edu.training.evaluation import Evaluation

STORED = (
    "no causal mask",
    "correct",
    "target not shifted",
    "softmax over queries",
    "no positions",
    "6+6 layers, no warm-up",
)


def load_trained() -> list[StoredRuns]:
    """The stored runs of six models that learned to write backwards; one of them is healthy."""
    return [load_runs(name) for name in STORED]


def plot_learning(evaluations: Sequence[Evaluation]) -> Figure:
    """Draw the fractions of correct tokens and of correct numbers while a model learns.

    Args:
        evaluations: On number words, in the order of their steps.
    """
    if not evaluations:
        raise ValueError("evaluations must be one or more, got none: did the run end before?")
    last = evaluations[-1]
    title = f"Correct tokens: {last.token_accuracy:.2f}, correct numbers: {last.exact_match:.2f}"
    curves = {
        "tokens (teacher forcing)": [each.token_accuracy for each in evaluations],
        "numbers (exact match)": [each.exact_match for each in evaluations],
    }
    steps = [each.step for each in evaluations]
    axes = {"x_label": "training step", "y_label": "fraction correct"}
    figure = plot_lines(curves, x=steps, **axes, title=title)
    figure.set_label(title)
    return figure


@styled
def plot_observations(patients: Mapping[str, Observations], *, title: str) -> Figure:
    """Draw for each patient which of its answers moved after each change.

    Args:
        patients: What observe returned, by a name; at most four.
        title: What the reader should see, as a sentence.
    """
    size = (3.2 + 2.2 * len(patients), 2.9)
    figure, panels = plt.subplots(1, len(patients), figsize=size, squeeze=False, sharey=True)
    for axes, (name, observations) in zip(panels[0], patients.items(), strict=True):
        moved = np.array([observations[each] for each in CHANGES])  # (change, answer)
        axes.imshow(moved / 2, cmap="Oranges", vmin=0, vmax=1, aspect="auto")  # a light orange
        for row, column in np.argwhere(moved):
            axes.text(column, row, "×", ha="center", va="center", color="black")
        axes.set_title(literal(name, longest=None))
        axes.set_xticks(range(moved.shape[1]), range(1, moved.shape[1] + 1))
        axes.set_yticks(range(len(CHANGES)), [each.rstrip(".") for each in CHANGES.values()])
    figure.supxlabel("answer (× moved)")
    title_above(figure, title)
    return figure
