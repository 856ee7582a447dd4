"""How long will it take here? A few steps are timed before a run starts."""

import copy
import math
import time
from collections.abc import Callable
from dataclasses import replace

from torch import nn

from transformer_edu.data.toy_tasks import Task
from transformer_edu.model.refusals import require_whole
from transformer_edu.training.config import TrainingConfig

TIMED_STEPS = 5
TRIAL_STEPS = TIMED_STEPS + 2  # the first warms up, the last comes with an evaluation


def estimate_seconds(
    fit: Callable[..., object],
    model: nn.Module,
    task: Task,
    config: TrainingConfig,
    *,
    steps_taken: int = 0,
) -> float:
    """Seconds that a run will take on this machine, including its evaluations.

    Five steps and one evaluation are timed on a copy of the model. The model, the run and the
    random states do not change.

    Args:
        fit: The training loop, ``fit`` of loop.py.
        model: The model to train.
        task: The task to learn.
        config: The choices of the run.
        steps_taken: Steps of the run that are already taken.

    Raises:
        ValueError: If steps_taken is below 0.
        KeyboardInterrupt: If the trial is interrupted.
    """
    require_whole("steps_taken", steps_taken, minimum=0)
    trial = replace(config, steps=TRIAL_STEPS, evaluate_every=TRIAL_STEPS, progress=False)
    clock: list[float] = []
    fit(copy.deepcopy(model), task, trial, after_step=lambda run: clock.append(time.perf_counter()))
    if len(clock) < TRIAL_STEPS:
        raise KeyboardInterrupt
    one_step = (clock[TIMED_STEPS] - clock[0]) / TIMED_STEPS
    one_evaluation = max(0.0, clock[-1] - clock[-2] - one_step)
    evaluations = (
        math.ceil(config.steps / config.evaluate_every) - steps_taken // config.evaluate_every
    )
    return max(0, config.steps - steps_taken) * one_step + max(0, evaluations) * one_evaluation


def describe_seconds(seconds: float) -> str:
    """A duration in words, such as "≈ 40 s here".

    Args:
        seconds: From 0.
    """
    if seconds < 1:
        return "under 1 s here"
    for unit, size in (("s", 1), ("min", 60)):
        if seconds < 90 * size:
            return f"≈ {_round(seconds / size)} {unit} here"
    return f"≈ {_round(seconds / 3600)} h here"


def _round(number: float) -> str:
    """Round to one digit below 10 and to two above: the estimate is no more precise."""
    digits = 1 if number < 10 else 2
    return f"{float(f'{number:.{digits}g}'):,.0f}"
