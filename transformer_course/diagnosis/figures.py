"""What lesson 11 draws and tabulates; every figure comes with its title and its words.

Used in notebooks/11_diagnosis.ipynb.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from matplotlib.figure import Figure

from transformer_course.curves.run_figures import describe_runs, run_table
from transformer_course.curves.stored_runs import StoredRuns, load_runs
from transformer_course.diagnosis.symptoms import plot_symptoms
from transformer_course.drawing.charts import plot_lines
from transformer_edu.training.evaluation import Evaluation

SUSPECTS = ("no causal mask", "target not shifted", "correct", "softmax over queries")


def load_suspects() -> list[StoredRuns]:
    """The stored runs of four models, one of them healthy, in the order of the lesson."""
    return [load_runs(name) for name in SUSPECTS]


def nameless_table(runs: Sequence[StoredRuns]) -> str:
    """The last evaluation of each model, which is called by its number, to print."""
    return run_table([replace(each, variant=f"model {i}") for i, each in enumerate(runs, start=1)])


def plot_learning(evaluations: Sequence[Evaluation]) -> Figure:
    """Draw the fractions of correct tokens and of correct numbers while a model learns.

    Args:
        evaluations: On number words, in the order of their steps.
    """
    last = evaluations[-1]
    title = f"Tokens right: {last.token_accuracy:.2f}, numbers right: {last.exact_match:.2f}"
    curves = {
        "tokens (teacher forcing)": [each.token_accuracy for each in evaluations],
        "numbers (exact match)": [each.exact_match for each in evaluations],
    }
    steps = [each.step for each in evaluations]
    axes = {"x_label": "training step", "y_label": "fraction correct"}
    figure = plot_lines(curves, x=steps, **axes, title=title)
    figure.set_label(title)
    return figure


def plot_suspects(suspects: Sequence[StoredRuns]) -> Figure:
    """Draw the symptoms of the models that load_suspects returns."""
    title = "Loss and tokens look healthy in all four, the exact match only in one"
    return _plot_runs(suspects, title)


def plot_high_losses(runs: Sequence[StoredRuns]) -> Figure:
    """Draw the symptoms of two models whose losses stay high."""
    first, second = (each.last[0].loss for each in runs)
    title = f"After {runs[0].steps[-1]} steps the loss is still {first:.1f} and {second:.1f}"
    return _plot_runs(runs, title)


def plot_case_sheet(sheet: Sequence[StoredRuns]) -> Figure:
    """Draw the symptoms of the patients that case_sheet returns."""
    letters = [each.variant.removeprefix("patient ") for each in sheet]
    return _plot_runs(sheet, f"How {', '.join(letters)} learned")


def _plot_runs(runs: Sequence[StoredRuns], title: str) -> Figure:
    figure = plot_symptoms(runs, title=title)
    figure.set_label(describe_runs(runs))
    return figure


def plot_damage(damage: Mapping[str, Mapping[int, float]]) -> Figure:
    """Draw the token accuracy around a wrong token.

    Args:
        damage: By the model's name, what accuracy_by_distance returns: accuracy by distance.
    """
    just_before = ", ".join(f"{name} {right[-1]:.2f}" for name, right in damage.items())
    title = f"Just before the wrong token: {just_before}"
    lines = {name: list(right.values()) for name, right in damage.items()}
    distances = list(next(iter(damage.values())))
    axes = {"x_label": "distance from the wrong token", "y_label": "fraction of tokens right"}
    figure = plot_lines(lines, x=distances, **axes, title=title)
    figure.set_label(title)
    return figure
