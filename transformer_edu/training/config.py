"""How to train: every choice of a run in one place."""

from collections.abc import Callable
from dataclasses import dataclass

from transformer_edu.refusals import require_flag, require_whole
from transformer_edu.training.loss import require_smoothing
from transformer_edu.training.machine.device import require_precision

SEEDS = 2**64  # torch's random numbers begin with 64 bits


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """The choices of a training run; the defaults teach a toy task in seconds.

    Args:
        steps: Weight updates.
        batch_size: Pairs per update, if batch_tokens is None.
        batch_tokens: Tokens of a side per update at the most, padding included: fewer pairs where
            they are long. None counts pairs.
        learning_rate: Adam's learning rate, before the schedule multiplies it.
        warmup_steps: Steps until the learning rate is at its highest, if schedule is None.
        schedule: Factor of the learning rate at each step, which counts from 1; None rises
            for warmup_steps and falls evenly to zero at the end.
        label_smoothing: ε of the loss, in [0, 1).
        largest_gradient: Longer gradients are shortened to this length; None leaves them.
        accumulate: The parts in which a batch is computed, one after the other: less memory for
            the same update.
        precision: "float32", "bfloat16", "float16", or "auto" for the fastest here; evaluations
            are in float32.
        evaluate_every: Steps between two evaluations; the last step is always evaluated.
        evaluate_on: At most so many validation pairs are used each time.
        seed: Decides the order of the pairs and what dropout drops.
        progress: Whether to show a progress bar.

    Raises:
        TypeError: If a value is of another type.
        ValueError: If a value is out of its range.
    """

    steps: int = 500
    batch_size: int = 64
    batch_tokens: int | None = None
    learning_rate: float = 3e-3
    warmup_steps: int = 50
    schedule: Callable[[int], float] | None = None
    label_smoothing: float = 0.0
    largest_gradient: float | None = 1.0
    accumulate: int = 1
    precision: str = "float32"
    evaluate_every: int = 100
    evaluate_on: int = 200
    seed: int = 0
    progress: bool = False

    def __post_init__(self) -> None:
        """Refuse what cannot be trained with."""
        counts = ("steps", "batch_size", "warmup_steps", "accumulate")
        for name in (*counts, "evaluate_every", "evaluate_on"):
            require_whole(name, getattr(self, name))
        if self.batch_tokens is not None:
            require_whole("batch_tokens", self.batch_tokens)
        require_precision(self.precision)
        require_whole("seed", self.seed, minimum=0)
        if self.seed >= SEEDS:
            raise ValueError(f"seed must be below {SEEDS}, got {self.seed}")
        _require_positive("learning_rate", self.learning_rate)
        if self.largest_gradient is not None:
            _require_positive("largest_gradient", self.largest_gradient)
        require_smoothing(self.label_smoothing)
        if self.schedule is not None and not callable(self.schedule):
            raise TypeError(f"schedule must be a function of the step, got {self.schedule!r}")
        require_flag("progress", self.progress)

    @property
    def batch(self) -> str:
        """How much is learned from in a step, in words."""
        if self.batch_tokens is None:
            return f"batches of {self.batch_size:,} pairs"
        return f"batches of {self.batch_tokens:,} tokens"

    def factor(self, step: int) -> float:
        """What the learning rate is multiplied with at a step, which counts from 1.

        Raises:
            ValueError: If the schedule gives no finite number of at least 0 for a step of the run.
        """
        if self.schedule is None:
            return linear_decay(step, warmup_steps=self.warmup_steps, steps=self.steps)
        factor = self.schedule(step)
        if step <= self.steps and (factor is None or not 0 <= factor < float("inf")):
            raise ValueError(
                f"schedule must give a finite number of at least 0, got {factor} at step {step}"
            )
        return factor


def _require_positive(name: str, value: float) -> None:
    """Refuse what is not a finite number above zero."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} must be a number above 0, got {value!r}")
    if not 0 < value < float("inf"):
        raise ValueError(f"{name} must be a finite number above 0, got {value}")


def inverse_square_root(step: int, *, d_model: int, warmup_steps: int) -> float:
    """The paper's learning rate: d_model^-½ · min(step^-½, step · warmup_steps^-³ᐟ²), eq. 3.

    It rises evenly for warmup_steps, is highest there, then falls as 1 / √step.

    Args:
        step: From 1.
        d_model: The model's width: wider models learn in smaller steps.
        warmup_steps: The step of the highest rate; the paper uses 4,000.

    Raises:
        TypeError, ValueError: If an argument is not a whole number of at least 1.
    """
    require_whole("step", step)
    require_whole("d_model", d_model)
    require_whole("warmup_steps", warmup_steps)
    return d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5)


def linear_decay(step: int, *, warmup_steps: int, steps: int) -> float:
    """A factor that rises evenly to 1 at warmup_steps and falls evenly to 0 after the last step.

    For short runs of known length: the last steps are small, so that the model settles.

    Args:
        step: From 1.
        warmup_steps: The step at which the factor is 1.
        steps: Length of the run; the factor is above 0 up to there, and 0 from steps + 1.

    Raises:
        TypeError, ValueError: If an argument is not a whole number of at least 1.
    """
    require_whole("step", step)
    require_whole("warmup_steps", warmup_steps)
    require_whole("steps", steps)
    if step <= warmup_steps:
        return step / warmup_steps
    return max(0.0, (steps + 1 - step) / (steps + 1 - warmup_steps))
