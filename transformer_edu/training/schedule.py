"""Schedules: the learning rate at every step, first rising, then falling (paper §5.3).

Plain functions of the step, which counts from 1. Met in notebooks/10_training.ipynb.
"""

from transformer_edu.model.refusals import require_whole


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
