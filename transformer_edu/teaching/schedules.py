"""The paper's learning rates as curves: how they depend on the width and on the warm-up.

Used in notebooks/10_training.ipynb.
"""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from transformer_edu.model.refusals import require_whole
from transformer_edu.teaching.style import new_axes, styled
from transformer_edu.training.schedule import inverse_square_root

POINTS = 400  # at most so many per curve: more cannot be told apart
# Width and warm-up: the paper's base model, a longer warm-up, a narrower model.
PAPER_AND_OTHERS = ((512, 4000), (512, 8000), (256, 4000))


@styled
def plot_schedules(
    choices: Sequence[tuple[int, int]] = PAPER_AND_OTHERS,
    *,
    steps: int = 20_000,
    title: str = "The rate rises until the warm-up ends, then falls as 1/√step",
    axes: Axes | None = None,
) -> Figure:
    """Draw equation 3 for several models, each peak marked with its rate.

    Args:
        choices: The d_model and warmup_steps of each curve.
        steps: Where the curves end; they begin at step 1.
        title: What the reader should see, as a sentence.
        axes: Where to draw; a new figure when None.

    Returns:
        The figure drawn on.

    Raises:
        TypeError: If a width or number of steps is not a whole number.
        ValueError: If there are no choices, or a width, warm-up or steps lies below 1.
    """
    if len(choices) == 0:
        raise ValueError("choices must hold at least one pair of width and warm-up, got none")
    curves = [schedule_curve(*choice, steps=steps) for choice in choices]
    axes = new_axes(axes, 7, 3.4)
    for (d_model, warmup_steps), (x, rates) in zip(choices, curves, strict=True):
        name = f"d_model {d_model:,}, warm-up {warmup_steps:,}"
        # Curves of one width fall together: their markers stand apart, so that both are seen.
        first = len(axes.lines) * len(x) // (8 * len(choices))
        (line,) = axes.plot(x, rates, label=name, markevery=(first, max(1, len(x) // 8)))
        if warmup_steps <= steps:
            peak = inverse_square_root(warmup_steps, d_model=d_model, warmup_steps=warmup_steps)
            axes.annotate(
                f"{peak:.2g}",
                (warmup_steps, peak),
                xytext=(4, 4),
                textcoords="offset points",
                color=line.get_color(),
            )
    axes.set_xlim(0, steps)
    axes.set_ylim(0, 1.1 * max(max(rates) for _, rates in curves))
    axes.legend()
    axes.set_title(title)
    axes.set_xlabel("step")
    axes.set_ylabel("learning rate")
    return axes.figure


def schedule_curve(d_model: int, warmup_steps: int, *, steps: int) -> tuple[list[int], list[float]]:
    """Steps and the paper's rate at each, first, last and peak among them.

    Args:
        d_model: The model's width.
        warmup_steps: The step of the highest rate.
        steps: The last step.

    Returns:
        Steps in order, about POINTS of them at most, and as many rates.

    Raises:
        TypeError, ValueError: As for inverse_square_root, or steps is not at least 1.
    """
    require_whole("warmup_steps", warmup_steps)
    require_whole("steps", steps)
    stride = max(1, steps // POINTS)
    x = sorted({*range(1, steps + 1, stride), min(warmup_steps, steps), steps})
    return x, [inverse_square_root(s, d_model=d_model, warmup_steps=warmup_steps) for s in x]
