"""What lesson 13 draws and tabulates; every figure comes with its title and its words.

Used in notebooks/13_pattern_with_torch.ipynb.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import mean

from matplotlib.figure import Figure
from torch import nn

from transformer_course.drawing.charts import plot_lines
from transformer_course.pattern_with_torch.pattern import (
    PROMPTS,
    continue_pattern,
    write_continuations,
)
from transformer_edu.data.batches import Batch
from transformer_edu.data.vocabulary import Vocabulary
from transformer_edu.training.state import TrainingRun

EPOCHS = (0.5, 1, 1.5, 2)  # when the two optimizers are compared


def batch_table(batch: Batch, vocabulary: Vocabulary) -> str:
    """The tokens of a batch, to print: its sources, what the decoder reads, and its labels."""
    parts = {
        "source": batch.source_ids,
        "reads": batch.decoder_input_ids,
        "labels": batch.label_ids,
    }
    lines = []
    for name, token_ids in parts.items():
        for row in token_ids.tolist():
            tokens = [f"{token:5}" for token in vocabulary.decode(row)]
            lines.append(" ".join([f"{name:7}", *tokens]))
    return "\n".join(lines)


def continuation_table(models: Mapping[str, nn.Module], vocabulary: Vocabulary) -> str:
    """What each model writes after PROMPTS, beside the right answer, to print.

    Args:
        models: By the heading of their column.
        vocabulary: What pattern_vocabulary returned.
    """
    answers = [write_continuations(model, vocabulary, PROMPTS) for model in models.values()]
    lines = [_line("prompt", "right", list(models))]
    for prompt, *written in zip(PROMPTS, *answers, strict=True):
        lines.append(_line(prompt, continue_pattern(prompt, 5), written))
    return "\n".join(lines)


def _line(prompt: str, right: str, written: Sequence[str]) -> str:
    columns = " ".join(f"{each:8}" for each in written)
    return f"{prompt:>11} {right:6} {columns.rstrip()}"


def loss_curves(runs: Mapping[str, TrainingRun]) -> dict[str, list[float]]:
    """The validation loss of every evaluation, and the mean training loss of the steps before it.

    All curves are as long as the shortest of them.

    Args:
        runs: By the name of the optimizer.
    """
    done = min(len(run.evaluations) for run in runs.values())
    curves = {}
    for name, run in runs.items():
        evaluations = run.evaluations[:done]
        ends = [0, *(each.step for each in evaluations)]
        losses = [step.loss for step in run.steps]
        curves[f"{name}, validation"] = [each.loss for each in evaluations]
        curves[f"{name}, training"] = [mean(losses[i:j]) for i, j in pairwise(ends)]
    return curves


def plot_loss_curves(curves: Mapping[str, Sequence[float]]) -> Figure:
    """Draw the losses of two optimizers over two epochs; the training losses are dashed.

    Args:
        curves: What loss_curves returned. Where they are too short, the title says so.

    Raises:
        ValueError: If they are longer than two epochs of two evaluations each.
    """
    done = len(next(iter(curves.values())))
    if done > len(EPOCHS):
        raise ValueError(f"curves must have at most {len(EPOCHS)} losses each, got {done}")
    title = _title_of_losses(curves)
    if done < len(EPOCHS):
        title = "A training was interrupted or shortened: run its cell again"
    figure = plot_lines(
        curves,
        x=EPOCHS[:done],
        x_label="epoch",
        y_label="loss in nats per token",
        title=title,
        dashed=[name for name in curves if name.endswith("training")],
    )
    figure.set_label(title)
    return figure


def _title_of_losses(curves: Mapping[str, Sequence[float]]) -> str:
    """How both losses fall, where they do so as in the lesson; else where they end."""
    sgd = [curve for name, curve in curves.items() if name.startswith("SGD, ")]
    falls = sgd and all(before > after for curve in sgd for before, after in pairwise(curve))
    adam = curves.get("Adam, validation", ())[1:]
    if falls and adam and max(adam) < 0.2:
        return "SGD's loss falls all the time, Adam's is soon near 0"
    ends = (
        f"{name.removesuffix(', validation')} {curve[-1]:.2f}"
        for name, curve in curves.items()
        if curve and not name.endswith("training")
    )
    return f"Validation loss at the end: {', '.join(ends)}"


def plot_by_length(
    lengths: Sequence[int], exact: Sequence[float], *, repaired: Sequence[float] | None = None
) -> Figure:
    """Draw the exact match over the length of the prompt.

    Args:
        lengths: Of the prompts, in symbols.
        exact: The exact match at each length.
        repaired: The same of a model that was trained with later positions, to compare.
    """
    lines = {"more symbols": exact}
    middle = [*lengths].index(11) if 11 in lengths else len(lengths) // 2
    right = f"{exact[middle]:.0%} of the answers are right at {lengths[middle]} symbols"
    title = f"{right}, {exact[-1]:.0%} at {lengths[-1]}"
    if repaired is not None:
        lines = {"as before": exact, "repaired": repaired}
        title = "The model as it was, and the repaired one"
        long = [place for place, length in enumerate(lengths) if length >= 11]
        if sum(repaired[each] for each in long) > sum(exact[each] for each in long):
            title = "With later positions trained, more of the long prompts are right"
    x_label = "symbols in the prompt (training: 3 to 10, and 12)"
    return _plot_exact_match(lines, lengths, x_label=x_label, title=title)


def plot_moved(lengths: Sequence[int], exact: Sequence[float], moved: Sequence[float]) -> Figure:
    """Draw the exact match over the position of the last token: long prompts, and moved ones.

    Args:
        lengths: Of the prompts, as for plot_by_length. A prompt's length is the position of its
            last token, the count.
        exact: The exact match at each length.
        moved: That of prompts of 8 symbols, moved by 0, 1, 2, … positions.
    """
    few, many = (min(each, len(moved) - 1) for each in (4, 12))
    title = f"8 symbols, moved by {few}: {moved[few]:.2f}, moved by {many}: {moved[many]:.2f}"
    places = [moved[n - 8] if 0 <= n - 8 < len(moved) else math.nan for n in lengths]
    lines = {"more symbols": exact, "8 symbols, moved right": places}
    x_label = "position of the last token (training: at most 12)"
    return _plot_exact_match(lines, lengths, x_label=x_label, title=title)


def _plot_exact_match(
    lines: Mapping[str, Sequence[float]], x: Sequence[int], *, x_label: str, title: str
) -> Figure:
    figure = plot_lines(lines, x=x, x_label=x_label, y_label="exact match", top=1, title=title)
    figure.set_label(title)
    return figure
