"""The figures of lesson 15 with their titles; each one's label says in words what it shows.

Used in notebooks/15_translation.ipynb.
"""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from transformer_course.drawing.charts import plot_bars, plot_lines
from transformer_course.translation.progress import Record, describe_progress, plot_progress


def plot_texts(scores: Mapping[str, float]) -> Figure:
    """Draw the BLEU of a translator on several texts.

    Args:
        scores: By the text's name, with the number of its sentences in parentheses.
    """
    rounded = {name: round(score) for name, score in scores.items()}
    best, *others = (name.split(" (")[0] for name, y in scores.items() if y == max(scores.values()))
    title = f"Of these texts, BLEU is highest on {' and '.join([best, *others])}"
    figure = plot_bars(rounded, y_label="BLEU", title=title, number="{:.0f}")
    figure.set_label(f"{title}: {rounded}")
    return figure


def plot_joined(
    sizes: Sequence[int], one_by_one: Sequence[float], as_one_line: Sequence[float]
) -> Figure:
    """Draw the BLEU of captions that are translated one by one, and several in one line.

    Args:
        sizes: How many captions a line has.
        one_by_one: BLEU where each is translated alone, for every size.
        as_one_line: BLEU where a line is translated as a whole, for every size.
    """
    title = (
        f"{sizes[-1]} captions: one by one BLEU {one_by_one[-1]:.0f}, "
        f"as one line {as_one_line[-1]:.0f}"
    )
    lines = {"one by one": one_by_one, "as one line": as_one_line}
    axes = {"x_label": "captions in a line", "y_label": "BLEU", "top": 100}
    figure = plot_lines(lines, x=sizes, **axes, title=title)
    figure.set_label(title)
    return figure


def plot_finished_run(history: Sequence[Record]) -> Figure:
    """Draw the loss and the BLEU of a whole training run.

    Args:
        history: Its records, each with step, validation_loss and bleu; those without are left out.
    """
    history = [record for record in history if record.get("bleu") is not None]
    if not history:
        raise ValueError("history must hold a record with a bleu, got none")
    half, last = history[len(history) // 2 - 1], history[-1]
    title = f"BLEU {last['bleu']:.0f} after {last['step']:,} steps"
    if 2 * half["step"] == last["step"] and last["bleu"] > 0:
        title = f"Half of the steps gave {half['bleu'] / last['bleu']:.0%} of the final BLEU"
    runs = {f"{last['step']:,} steps": history}
    figure = plot_progress(runs, title=title)
    figure.set_label(f"{title}. {describe_progress(runs)}")
    return figure
