"""A training config refuses what cannot be trained with."""

import math

import pytest

from transformer_edu.training.config import TrainingConfig, inverse_square_root, linear_decay


def test_without_a_schedule_the_rate_warms_up_and_falls_to_the_end():
    config = TrainingConfig(steps=20, warmup_steps=5)
    assert [config.factor(step) for step in (1, 5)] == [0.2, 1.0]
    assert config.factor(20) == pytest.approx(1 / 16)


@pytest.mark.parametrize("factor", [-0.1, math.nan, math.inf, None])
def test_a_schedule_that_gives_no_learning_rate_is_refused_at_that_step(factor):
    config = TrainingConfig(steps=7, schedule=lambda step: factor if step >= 7 else 1.0)
    assert config.factor(6) == 1.0
    message = f"schedule must give a finite number of at least 0, got {factor} at step 7"
    with pytest.raises(ValueError, match=message):
        config.factor(7)


def test_a_schedule_may_fall_below_zero_after_the_last_step():
    config = TrainingConfig(steps=7, schedule=lambda step: 1 - step / 7)
    assert config.factor(7) == 0
    assert config.factor(8) < 0


def test_an_evaluation_is_due_after_every_so_many_steps_and_after_the_last():
    config = TrainingConfig(steps=7, evaluate_every=3)
    assert [step for step in range(8) if config.is_due(step)] == [3, 6, 7]


@pytest.mark.parametrize("warmup_steps", [1, 7, 400])
def test_the_inverse_square_root_is_the_papers_and_one_at_its_highest(warmup_steps):
    config = TrainingConfig(schedule="inverse-square-root", warmup_steps=warmup_steps)
    assert config.factor(warmup_steps) == pytest.approx(1)
    for step in (1, 3, 1000):
        rate = inverse_square_root(step, d_model=64, warmup_steps=warmup_steps)
        highest = inverse_square_root(warmup_steps, d_model=64, warmup_steps=warmup_steps)
        assert config.factor(step) == pytest.approx(rate / highest)


COUNTS = ["steps", "batch_size", "warmup_steps", "accumulate", "evaluate_every", "evaluate_on"]
RATES = ["learning_rate", "largest_gradient"]
REFUSED = [
    *((name, 0, ValueError, "must be at least 1, got 0") for name in [*COUNTS, "batch_tokens"]),
    *((name, 2.5, TypeError, "must be a whole number, got") for name in [*COUNTS, "batch_tokens"]),
    *(
        (name, value, ValueError, "must be a finite number above 0, got")
        for name in RATES
        for value in (0, -1e-3, math.nan, math.inf)
    ),
    ("seed", -1, ValueError, "must be at least 0, got -1"),
    ("seed", 2**64, ValueError, f"must be at most {2**64 - 1:,}, got {2**64:,}"),
    ("label_smoothing", 1, ValueError, "must be below 1, got 1"),
    ("label_smoothing", -0.1, ValueError, "must be from 0 to 1, got -0.1"),
    ("schedule", "flat", ValueError, "must be one of linear, inverse-square-root, got 'flat'"),
    ("schedule", None, ValueError, "must be one of linear, inverse-square-root, got None"),
    ("precision", "half", ValueError, "must be one of auto, .*, got 'half'"),
    ("precision", None, ValueError, "must be one of auto, .*, got None"),
    ("progress", "yes", TypeError, "must be True or False, got"),
]


@pytest.mark.parametrize(("name", "value", "error", "message"), REFUSED)
def test_what_no_run_can_have_is_refused(name, value, error, message):
    with pytest.raises(error, match=f"{name} {message}"):
        TrainingConfig(**{name: value})


@pytest.mark.parametrize(("d_model", "warmup_steps"), [(512, 4000), (64, 50), (7, 1)])
def test_the_papers_rate_is_equation_3(d_model, warmup_steps):
    for step in (1, 2, warmup_steps, warmup_steps + 1, 10 * warmup_steps):
        expected = min(1 / step**0.5, step / warmup_steps**1.5) / d_model**0.5
        rate = inverse_square_root(step, d_model=d_model, warmup_steps=warmup_steps)
        assert rate == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("d_model", [64, 256, 512, 1024])
@pytest.mark.parametrize("warmup_steps", [1, 7, 400])
def test_the_papers_rate_peaks_once_whatever_the_width(d_model, warmup_steps):
    rates = [
        inverse_square_root(step, d_model=d_model, warmup_steps=warmup_steps)
        for step in range(1, 3 * warmup_steps + 2)
    ]
    peak = rates.index(max(rates))
    assert peak + 1 == warmup_steps
    assert rates[peak] == pytest.approx((d_model * warmup_steps) ** -0.5)
    assert all(later > rate for rate, later in zip(rates[:peak], rates[1:], strict=False))
    assert all(later < rate for rate, later in zip(rates[peak:], rates[peak + 1 :], strict=False))


def test_linear_decay_rises_to_one_and_falls_to_zero_after_the_last_step():
    factors = [linear_decay(step, warmup_steps=4, steps=10) for step in range(1, 13)]
    assert factors[:4] == [0.25, 0.5, 0.75, 1.0]
    assert factors[3:11] == pytest.approx([1 - i / 7 for i in range(8)])
    assert all(factor > 0 for factor in factors[:10])
    assert factors[10:] == [0, 0]


def test_a_run_shorter_than_its_warm_up_only_rises():
    assert [linear_decay(step, warmup_steps=4, steps=2) for step in (1, 2)] == [0.25, 0.5]


@pytest.mark.parametrize("name", ["step", "warmup_steps", "d_model"])
def test_steps_and_widths_count_from_one(name):
    for value, error in ((0, ValueError), (-1, ValueError), (1.5, TypeError)):
        arguments = {"step": 1, "warmup_steps": 2, "d_model": 3} | {name: value}
        with pytest.raises(error, match=f"{name} must be .*, got {value}"):
            inverse_square_root(**arguments)
