"""A training config refuses what cannot be trained with."""

import math

import pytest

from transformer_edu.training.config import TrainingConfig


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


def test_a_schedule_of_ones_own_is_asked_for_every_step_from_one():
    config = TrainingConfig(schedule=lambda step: 10.0 * step)
    assert config.factor(1) == 10.0


@pytest.mark.parametrize(
    "name",
    ["steps", "batch_size", "warmup_steps", "accumulate", "evaluate_every", "evaluate_on"],
)
def test_counts_are_whole_numbers_of_at_least_one(name):
    for value, error in ((0, ValueError), (-1, ValueError), (2.5, TypeError), (True, TypeError)):
        with pytest.raises(error, match=f"{name} must be .*, got {value}"):
            TrainingConfig(**{name: value})


def test_tokens_are_counted_only_where_that_is_wanted():
    assert TrainingConfig().batch_tokens is None
    assert TrainingConfig(batch_tokens=1).batch_tokens == 1
    with pytest.raises(ValueError, match="batch_tokens must be at least 1, got 0"):
        TrainingConfig(batch_tokens=0)
    with pytest.raises(TypeError, match="batch_tokens must be a whole number, got 4.5"):
        TrainingConfig(batch_tokens=4.5)


@pytest.mark.parametrize("name", ["learning_rate", "largest_gradient"])
def test_rates_are_finite_numbers_above_zero(name):
    for value in (0, -1e-3, math.nan, math.inf):
        with pytest.raises(ValueError, match=f"{name} must be a finite number above 0, got"):
            TrainingConfig(**{name: value})
    with pytest.raises(TypeError, match=f"{name} must be a number above 0, got '0.1'"):
        TrainingConfig(**{name: "0.1"})


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"seed": -1}, ValueError, "seed must be at least 0, got -1"),
        ({"label_smoothing": 1}, ValueError, "label_smoothing must be below 1, got 1"),
        ({"label_smoothing": -0.1}, ValueError, "label_smoothing must be from 0 to 1, got -0.1"),
        ({"schedule": 0.5}, TypeError, "schedule must be a function of the step, got 0.5"),
        ({"progress": 1}, TypeError, "progress must be True or False, got 1"),
        ({"precision": "half"}, ValueError, "precision must be one of auto, .*, got 'half'"),
        ({"precision": None}, ValueError, "precision must be one of auto, .*, got None"),
    ],
)
def test_other_choices_are_checked_too(changes, error, message):
    with pytest.raises(error, match=message):
        TrainingConfig(**changes)
