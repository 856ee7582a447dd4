"""How to train: every choice of `fit`, and the learning rate's schedules (paper §5.3)."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from transformer_edu.model.refusals import (
    require_choice,
    require_flag,
    require_number,
    require_probability,
    require_whole,
)
from transformer_edu.training.machine.device import PRECISIONS

LARGEST_SEED = 2**64 - 1  # torch's seeds have 64 bits
SCHEDULES = ("linear", "inverse-square-root")


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """The choices of a training run; with the defaults a toy task trains in seconds.

    Args:
        steps: Weight updates.
        batch_size: Pairs per update, if batch_tokens is None.
        batch_tokens: The most source tokens, and the most target tokens, per update, padding
            included: fewer pairs if they are long. None counts pairs instead.
        learning_rate: Adam's learning rate, before the schedule multiplies it.
        warmup_steps: Steps until the learning rate is at its highest.
        schedule: What follows the warm-up: "linear" falls to zero at the end, and
            "inverse-square-root" falls as in the paper. Or a function: it takes the step, from 1,
            and returns a factor of the learning rate.
        label_smoothing: ε of the loss, in [0, 1).
        largest_gradient: Gradients of a larger norm are clipped to this norm; None never clips.
        accumulate: The number of parts of a batch that are computed one after the other. More
            parts need less memory for the same update.
        precision: "float32", "bfloat16", "float16", or "auto" for the fastest here; evaluations
            are in float32.
        evaluate_every: Steps between two evaluations; the last step is always evaluated.
        evaluate_on: The most validation pairs that an evaluation uses.
        seed: The order of the pairs and, unless threads train at once, what dropout drops.
        progress: Whether to show a progress bar, with the time that is left.

    Raises:
        TypeError, ValueError: If a count is not a whole number, or a value is out of its range.
    """

    steps: int = 500
    batch_size: int = 64
    batch_tokens: int | None = None
    learning_rate: float = 3e-3
    warmup_steps: int = 50
    schedule: str | Callable[[int], float] = "linear"
    label_smoothing: float = 0.0
    largest_gradient: float | None = 1.0
    accumulate: int = 1
    precision: str = "float32"
    evaluate_every: int = 100
    evaluate_on: int = 200
    seed: int = 0
    progress: bool = False

    def __post_init__(self) -> None:
        """Refuse choices that no run can have."""
        counts = ("steps", "batch_size", "warmup_steps", "accumulate")
        for name in (*counts, "evaluate_every", "evaluate_on"):
            require_whole(name, getattr(self, name))
        if self.batch_tokens is not None:
            require_whole("batch_tokens", self.batch_tokens)
        require_choice("precision", self.precision, PRECISIONS)
        if not callable(self.schedule):
            require_choice("schedule", self.schedule, SCHEDULES)
        require_whole("seed", self.seed, minimum=0, maximum=LARGEST_SEED)
        for name in ("learning_rate", "largest_gradient"):
            value = getattr(self, name)
            if value is not None or name == "learning_rate":
                require_number(name, value, "a finite number above 0", lambda x: 0 < x < math.inf)
        require_probability("label_smoothing", self.label_smoothing, below_one=True)
        require_flag("progress", self.progress)

    def is_due(self, step: int) -> bool:
        """Whether an evaluation, and a save of the state, is due after a step."""
        return step > 0 and (step % self.evaluate_every == 0 or step == self.steps)

    def factor(self, step: int) -> float:
        """The factor of the learning rate at a step, which counts from 1.

        Raises:
            ValueError: If the schedule does not return a finite number of at least 0.
        """
        warmup = self.warmup_steps
        if self.schedule == "linear":
            return linear_decay(step, warmup_steps=warmup, steps=self.steps)
        if self.schedule == "inverse-square-root":  # 1 at its highest
            return math.sqrt(warmup) * inverse_square_root(step, d_model=1, warmup_steps=warmup)
        factor = self.schedule(step)
        if step <= self.steps and (factor is None or not 0 <= factor < float("inf")):
            got = f"{factor} at step {step}"
            raise ValueError(f"schedule must give a finite number of at least 0, got {got}")
        return factor


def inverse_square_root(step: int, *, d_model: int, warmup_steps: int) -> float:
    """The paper's learning rate: d_model^-½ · min(step^-½, step · warmup_steps^-³ᐟ²), eq. 3.

    The rate rises linearly for warmup_steps, then falls as 1 / √step.

    Args:
        step: From 1.
        d_model: The model's width; wider models get a lower rate.
        warmup_steps: The step of the highest rate; the paper uses 4,000.

    Raises:
        TypeError, ValueError: If an argument is not a whole number of at least 1.
    """
    for name, value in {"step": step, "d_model": d_model, "warmup_steps": warmup_steps}.items():
        require_whole(name, value)
    return d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5)


def linear_decay(step: int, *, warmup_steps: int, steps: int) -> float:
    """A factor that rises linearly to 1 at warmup_steps, then falls to 0 after the last step.

    For short runs of known length: the small last steps reduce the noise in the weights.

    Args:
        step: From 1.
        warmup_steps: The step at which the factor is 1, at least 1.
        steps: Length of the run; the factor is above 0 up to there, and 0 from steps + 1.
    """
    if step <= warmup_steps:
        return step / warmup_steps
    return max(0.0, (steps + 1 - step) / (steps + 1 - warmup_steps))
