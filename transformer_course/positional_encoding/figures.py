"""The figures of lesson 05, each with its title and its alternative text."""

import math
from collections.abc import Mapping, Sequence

import torch
from matplotlib.figure import Figure
from torch import Tensor

from transformer_course.drawing import course_map
from transformer_course.drawing.charts import plot_lines
from transformer_course.drawing.style import BLACK
from transformer_course.positional_encoding.position_charts import plot_readings, plot_values
from transformer_course.positional_encoding.position_scores import Reading
from transformer_edu.model.embeddings import sinusoidal_positions
from transformer_edu.training.state import TrainingRun


def show_map() -> None:
    """Show the map of the Transformer with the positional encoding marked."""
    title = "Today: one step on each side, before the first layer"
    course_map.show_map("positional encoding", title=title)


def plot_sentences(readings: Sequence[Reading]) -> Figure:
    """Draw sentences with the position of each word and their translations.

    Args:
        readings: With their usual positions, without, or with exchanged ones; the title differs.
    """
    readings = [readings] if isinstance(readings, Reading) else readings
    return plot_readings(readings, title=_title_of(readings))


def _title_of(readings: Sequence[Reading]) -> str:
    """What the positions of these sentences let the translator write."""
    if len(readings) == 1:
        return f"It writes: {readings[0].translation}"
    usual = all(each.positions == [*range(len(each.words))] for each in readings)
    orders = {tuple(map(str.lower, each.words)) for each in readings}
    if usual and len(orders) > 1 and len({tuple(sorted(order)) for order in orders}) == 1:
        return "The same words in a different order"
    without = " without positions" if all(each.positions is None for each in readings) else ""
    count = len({each.translation for each in readings})
    return f"{len(readings)} sentences{without}, {count} translation{'s' * (count > 1)}"


def plot_waves(table: Tensor) -> Figure:
    """Draw the encodings of many positions; of the paper's, with the words for their waves.

    Args:
        table: Shape (position, d_model).
    """
    if table.dim() != 2:
        raise ValueError(f"table must be (position, d_model), got {tuple(table.shape)}")
    waves = sinusoidal_positions(*table.shape).to(table)
    is_waves = torch.allclose(table, waves, atol=1e-3) and min(len(table), table.size(1) // 2) > 1
    title = f"{len(table)} position{'s' * (len(table) > 1)}"
    title = "Fast waves on the left, slow ones on the right" if is_waves else title
    labels = {"row_label": "position", "column_label": "number within the vector"}
    figure = plot_values(table, **labels, title=title)
    if not is_waves:
        figure.set_label(f"grid of the numbers of {title}, a row for each")
        return figure
    slow = _first_slow_column(*table.shape)
    if slow <= table.size(1) / 2:  # there is room for the words
        (axes, _) = figure.axes
        axes.axvline(slow - 0.5, color=BLACK, linewidth=1.5, linestyle="--", marker="")
        said = f"right of the line, {len(table)} positions\nare less than a quarter of a wave"
        box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.9}
        left = slow + table.size(1) * 3 / 128
        axes.text(left, len(table) / 2, said, va="center", fontsize=12, bbox=box)
    figure.set_label("every row is different; columns on the left change fast, on the right hardly")
    return figure


def _first_slow_column(positions: int, d_model: int) -> int:
    """The first number of the vector whose wave is more than four times as long as the table."""
    pairs = range(d_model // 2)
    waves = (2 * math.pi * 10_000 ** (2 * pair / d_model) for pair in pairs)
    return 2 * next((i for i, wave in enumerate(waves) if wave > 4 * positions), d_model // 2)


def plot_learning(runs: Mapping[str, TrainingRun]) -> Figure:
    """Draw how models learn: the exact match of each evaluation.

    Args:
        runs: By the model's name, all with the same steps and evaluated.
    """
    curves = {name: [each.exact_match for each in run.evaluations] for name, run in runs.items()}
    if empty := [name for name, curve in curves.items() if not curve]:
        raise ValueError(f"every run must have evaluations, got none of {empty[0]}")
    if len({tuple(each.step for each in run.evaluations) for run in runs.values()}) != 1:
        got = {name: [each.step for each in run.evaluations] for name, run in runs.items()}
        raise ValueError(f"runs must be evaluated after the same steps, got {got or 'none'}")
    steps = [each.step for each in next(iter(runs.values())).evaluations]
    shown = min(1, len(steps) - 1)
    after = ", ".join(f"{name} {curve[shown]:.0%}" for name, curve in curves.items())
    title = f"Exact match after {steps[shown]} steps: {after}"
    figure = plot_lines(
        curves, x=steps, x_label="training step", y_label="exact match", title=title, top=1
    )
    figure.set_label(f"{len(runs)} learning curves. {title}")
    return figure
