"""The loss of a loop, drawn while it runs; the stop button ends the loop after a whole step.

Used in notebooks/10_training.ipynb.
"""

import sys
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from numbers import Real
from typing import TypeVar

from IPython.display import display
from torch import Tensor

from transformer_course.drawing.display import DOTS_PER_INCH, SHOWN_AT, encode_png, shown_width
from transformer_course.training.loss_charts import plot_losses
from transformer_edu.training.machine.failures import noted_interrupts

LEAST_PAUSE = 0.5  # seconds between two pictures
PAUSE = 9  # times as long as the last picture took: drawing takes a tenth of the time

Batch = TypeVar("Batch")


def live_curve(
    batches: Sequence[Batch], losses: Sequence[float], levels: Mapping[str, float] | None = None
) -> Iterator[Batch]:
    """Hand out batches one by one, and redraw the losses so far with the time that is left.

    ::

        for batch in live_curve(batches, losses):
            ...
            losses.append(loss.item())

    An interrupt ends the loop after the step that it falls into, and is told in a sentence.

    Args:
        batches: One for each step.
        losses: Where the loop appends the loss, after every step or after some.
        levels: Losses to compare with, by name: dashed lines.

    Raises:
        TypeError: If batches have no length, or a loss is not a number.
        ValueError: If there are no batches.
    """
    if not hasattr(batches, "__len__"):
        got = type(batches).__name__
        raise TypeError(f"batches must have a length, such as a list, got a {got}")
    if len(batches) == 0:
        raise ValueError("batches must hold at least one batch, got none")
    by_step = {step: _as_number(loss) for step, loss in enumerate(losses, start=1)}
    earlier, done = len(by_step), 0
    curve = _Curve(by_step, earlier + len(batches), levels or {})
    begin = time.perf_counter()
    with noted_interrupts() as interrupts:
        for batch in batches:
            if interrupts:
                break
            if done:
                seconds = (time.perf_counter() - begin) * (len(batches) / done - 1)
                curve.redraw(f"Step {earlier + done} of {curve.steps}, {_describe(seconds)} left")
            written = len(losses)
            try:
                yield batch
            finally:  # also where the loop is left
                done += 1
                if len(losses) > written:
                    by_step[earlier + done] = _as_number(losses[-1])
                if isinstance(sys.exception(), GeneratorExit):
                    curve.redraw(f"Stopped in step {earlier + done} of {curve.steps}", at_once=True)
    if interrupts and done < len(batches):
        curve.redraw(f"Stopped after step {earlier + done} of {curve.steps}", at_once=True)
        print("You stopped the training. The model keeps what it has learned so far.")
    elif by_step:
        drawn = [*by_step.values()]
        ends = f"from {drawn[0]:.2f} to {drawn[-1]:.2f}"
        curve.redraw(f"{curve.steps} steps: the loss goes {ends}", at_once=True)
    else:
        curve.redraw(f"{curve.steps} steps: losses holds no loss", at_once=True)


def _as_number(loss: object) -> float:
    """A loss without the graph that it was computed in, which it would keep in memory."""
    if isinstance(loss, Tensor) and not loss.requires_grad:
        return loss.item()
    if not isinstance(loss, Real):
        got = "a tensor with a gradient" if isinstance(loss, Tensor) else repr(loss)
        raise TypeError(f"losses must hold numbers: append loss.item(), got {got}")
    return loss


def _describe(seconds: float) -> str:
    """A duration in words, such as "≈ 40 s", with one digit below 10 and two above."""
    if seconds < 1:
        return "under 1 s"
    number, unit = (seconds, "s") if seconds < 90 else (seconds / 60, "min")
    digits = 1 if number < 10 else 2
    return f"≈ {float(f'{number:.{digits}g}'):,.0f} {unit}"


class _Curve:
    """One picture, which the next one replaces."""

    def __init__(
        self, losses: Mapping[int, float], steps: int, levels: Mapping[str, float]
    ) -> None:
        self.losses, self.steps, self.levels = losses, steps, levels
        self.name, self.is_shown = uuid.uuid4().hex, False
        self.due = time.perf_counter() + LEAST_PAUSE

    def redraw(self, title: str, *, at_once: bool = False) -> None:
        """Show the losses so far if it is time, or at once."""
        begin = time.perf_counter()
        if begin < self.due and not at_once:
            return
        figure = plot_losses(self.losses, self.levels, steps=self.steps, title=title)
        words = figure.get_label()
        png = encode_png(figure, DOTS_PER_INCH if at_once else SHOWN_AT)  # sharp at the end
        display(
            {"image/png": png, "text/plain": words},
            metadata={"image/png": {"alt": words, "width": shown_width(png)}},
            raw=True,
            display_id=self.name,
            update=self.is_shown,
        )
        self.is_shown = True
        end = time.perf_counter()
        self.due = end + max(LEAST_PAUSE, PAUSE * (end - begin))
