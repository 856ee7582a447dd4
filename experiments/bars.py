"""The bars that training must clear: exact match on held-out pairs, steps and CPU-seconds.

python -m experiments.reference_runs --check
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from experiments.reference_settings import (
    SEEDS,
    SEPARATE,
    SMALL,
    ReferenceSettings,
)
from transformer_edu.training.loop import fit


@dataclass(frozen=True, kw_only=True)
class Bar:
    """What a training run must reach.

    Args:
        settings: The run; its evaluations must fall on the steps asked for.
        exact_match: The least share of held-out targets written exactly, by step.
        cpu_seconds: The most that the whole run may take; None asks nothing.
    """

    settings: ReferenceSettings
    exact_match: Mapping[int, float]
    cpu_seconds: float | None = None


COPY = ReferenceSettings(
    variant="copy",
    sizes=SMALL | SEPARATE,
    task="copy",
    task_sizes={"validation_size": 1000},
    steps=400,
    batch_size=32,
    learning_rate=4e-3,
    warmup_steps=50,
    evaluate_every=400,
    evaluate_on=1000,
)
BARS = (
    Bar(settings=COPY, exact_match={400: 0.995}, cpu_seconds=10),
    Bar(
        settings=replace(COPY, steps=600, evaluate_every=600),
        exact_match={600: 1.0},
        cpu_seconds=10,
    ),
    Bar(
        settings=ReferenceSettings(
            variant="reverse",
            sizes=SMALL | {"tie_embeddings": False},
            task_sizes={"validation_size": 1000},
            learning_rate=3e-3,
            warmup_steps=50,
            evaluate_every=300,
            evaluate_on=1000,
        ),
        exact_match={300: 1.0},
    ),
    Bar(
        settings=ReferenceSettings(
            variant="number words",
            task="number words",
            task_sizes={"validation_size": 500},
            steps=500,
            learning_rate=3e-3,
            warmup_steps=50,
            evaluate_every=500,
            evaluate_on=500,
        ),
        exact_match={500: 0.995},
        cpu_seconds=20,
    ),
)


def check_bars(bars: Sequence[Bar] = BARS, *, seeds: Sequence[int] = SEEDS) -> bool:
    """Train for every bar with every seed and print a table, one line for each run.

    Args:
        bars: What to reach.
        seeds: Each decides a run's first weights and order.

    Returns:
        Whether all were reached.
    """
    print(f"{'task':14} {'seed':>4}  {'exact match on held-out pairs':44} CPU-seconds")
    kept = [_is_cleared(bar, seed) for bar in bars for seed in seeds]
    print("all bars are cleared" if all(kept) else f"{kept.count(False)} runs missed their bar")
    return all(kept)


def _is_cleared(bar: Bar, seed: int) -> bool:
    """Train once, print a line, and say whether it is good enough."""
    settings = bar.settings
    task = settings.build_task()
    model = settings.build_model(task, seed)
    before = time.process_time()
    run = fit(model, task, settings.training(seed))
    seconds = time.process_time() - before
    reached = {each.step: each.exact_match for each in run.evaluations}
    good = all(reached[step] >= least for step, least in bar.exact_match.items())
    good = good and (bar.cpu_seconds is None or seconds <= bar.cpu_seconds)
    shares = ", ".join(
        f"{reached[step]:.2%} at step {step} (≥ {least:.4g})"
        for step, least in bar.exact_match.items()
    )
    limit = "" if bar.cpu_seconds is None else f" (≤ {bar.cpu_seconds:g})"
    verdict = "" if good else "  MISSED"
    print(f"{settings.variant:14} {seed:4}  {shares:44} {seconds:.1f}{limit}{verdict}", flush=True)
    return good
