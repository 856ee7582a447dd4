"""The figures of lesson 10, each with its title and its description.

Used in notebooks/10_training.ipynb.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure
from torch import Tensor

from transformer_course.curves.run_figures import describe_runs
from transformer_course.curves.stored_runs import StoredRuns
from transformer_course.drawing import course_map
from transformer_course.drawing.charts import (
    names_of_largest,
    plot_bars,
    plot_lines,
    require_entries,
)
from transformer_course.drawing.style import require_one_each
from transformer_course.training.loss_charts import Rate, plot_runs, plot_schedules
from transformer_edu.generation.translator import Translator
from transformer_edu.training.state import TrainingRun

Lines = Mapping[str, Sequence[float]]


def show_map() -> None:
    """Show where the probabilities are on the map that a loss compares with the correct token."""
    top = ("output projection", "softmax")
    title = "The probabilities at the top are compared with the correct token"
    course_map.show_map(top, title=title)


def plot_deep_runs(runs: Mapping[str, StoredRuns]) -> Figure:
    """Draw trainings of a deep model; the title says whether only the learning rate differs.

    Args:
        runs: By the name in the legend; at most five.

    Returns:
        A new figure.
    """
    compared = list(runs.values())
    rates = dict.fromkeys(["learning_rate", "warmup_steps"])
    same = all(each.settings | rates == compared[0].settings | rates for each in compared)
    exact = [end.exact_match for each in compared for end in each.last]
    title = f"Exact match at the end: from {min(exact):.2f} to {max(exact):.2f}"
    if same and min(exact) < 0.5 < max(exact):
        title = "The same model learns or fails: only the learning rate differs"
    figure = plot_runs(compared, title=title, names=list(runs))
    figure.set_label(describe_runs(compared))
    return figure


def name_costs(translator: Translator, ids: Sequence[int], costs: Tensor) -> dict[str, float]:
    """The cost of each token of a target by its text; that of the end token by "end".

    A text that occurs again has its number, such as "die (2)".

    Args:
        translator: Its tokenizer is the package's.
        ids: The target without the end token.
        costs: In nats, shape (position,); one more than there are ids, for the end token.
    """
    require_one_each(len(ids) + 1, "tokens, the end token among them", costs=costs)
    pieces = [translator.tokenizer.decode([token_id]).strip() for token_id in ids]
    by_token: dict[str, float] = {}
    seen: Counter[str] = Counter()
    for piece, cost in zip([*pieces, "end"], costs.tolist(), strict=True):
        seen[piece] += 1
        by_token[piece if seen[piece] == 1 else f"{piece} ({seen[piece]})"] = cost
    return by_token


def plot_costs(costs: Mapping[str, float]) -> Figure:
    """Draw what each token costs; the title names the most expensive one and the mean.

    Args:
        costs: In nats, by token.

    Returns:
        A new figure.
    """
    mean, highest = sum(costs.values()) / len(costs), max(costs.values())
    is_one = [*costs.values()].count(highest) == 1
    said = f"{names_of_largest(costs, quote=True)} {'costs' if is_one else 'cost'} most"
    figure = plot_bars(costs, y_label="−ln p in nats", title=f"{said}; the mean is {mean:.1f} nats")
    figure.set_label(said)
    return figure


def plot_paths(paths: Lines) -> Figure:
    """Draw how two weights move to 0; the title says when they reach it with Adam.

    Args:
        paths: By name, the weight at the start and after every step; "Adam, A" and "Adam, B" are
            among them.

    Returns:
        A new figure.
    """
    require_entries("paths", paths, names := ["Adam, A", "Adam, B"])
    steps = range(len(paths["Adam, A"]))
    first, second = (
        next(
            (f"at step {i}" for i, at in enumerate(paths[name]) if at * paths[name][0] <= 0),
            f"not by step {len(steps) - 1}",
        )
        for name in names
    )
    title = f"With Adam, A reaches 0 {first} and B {second}"
    figure = plot_lines(paths, x=steps, x_label="step", y_label="weight (best: 0)", title=title)
    figure.set_label(title)
    return figure


def plot_rates(rate: Rate, choices: Sequence[tuple[int, int]]) -> Figure:
    """Draw the paper's learning rate for several models.

    Args:
        rate: Of step, d_model and warm-up steps: that of the reader.
        choices: The d_model and the warm-up steps of each.

    Returns:
        A new figure; its label has the highest rates.
    """
    figure = plot_schedules(rate, choices)
    peaks = [float(rate(w, d, w)) for d, w in choices]
    title = figure.axes[0].get_title("left")
    ends = f"{title}; at the end of the warm-up"
    said = "the rate rises to a peak and falls; peaks" if "rises" in title else ends
    figure.set_label(f"{said} {peaks}")
    return figure


def plot_loss_curves(run: TrainingRun) -> Figure:
    """Draw the validation loss of a run, and its mean training loss since the evaluation before.

    Args:
        run: A training that was evaluated.

    Returns:
        A new figure; its label, not its title, says where the validation loss is lowest.

    Raises:
        ValueError: If the training has no evaluation.
    """
    if not run.evaluations:
        raise ValueError("run must have evaluations, got none: it ended before the first")
    curves: dict[str, list[float]] = {"validation": [], "training": []}
    steps = [each.step for each in run.evaluations]
    for before, each in zip([0, *steps], run.evaluations, strict=False):
        since = [record.loss for record in run.steps[before : each.step]]
        curves["validation"].append(each.loss)
        curves["training"].append(sum(since) / len(since))
    lowest = min(run.evaluations, key=lambda each: each.loss).step
    title = "Training and validation loss"
    figure = plot_lines(
        curves, x=steps, x_label="step", y_label="loss in nats per token", title=title
    )
    figure.set_label(f"{title}, the latter lowest at step {lowest}: {curves}")
    return figure
