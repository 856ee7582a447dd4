"""The time that a run will take is measured here, and costs the run nothing."""

import pytest
import torch
from torch import nn

from tests.small_model import same, small_transformer, weights
from transformer_edu.data.toy_tasks import copy_task
from transformer_edu.training import budget, loop
from transformer_edu.training.budget import TRIAL_STEPS, describe_seconds, estimate_seconds
from transformer_edu.training.config import TrainingConfig
from transformer_edu.training.loop import fit

TASK = copy_task(num_symbols=5, longest=3, shortest=2, train_size=9, validation_size=3, test_size=2)


class Clock:
    """Time passes only where a test lets it."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr(budget.time, "perf_counter", lambda: self.now)

    def fit(self, model, task, config, *, after_step):
        """Ten seconds for the first step, 2 for every other, 30 for an evaluation."""
        for step in range(1, config.steps + 1):
            self.now += 10 if step == 1 else 2
            if step % config.evaluate_every == 0:
                self.now += 30
            after_step(None)


@pytest.fixture
def clock(monkeypatch) -> Clock:
    return Clock(monkeypatch)


@pytest.mark.parametrize(
    ("steps", "every", "taken", "seconds"),
    [
        (100, 50, 0, 2 * 100 + 30 * 2),
        (101, 50, 0, 2 * 101 + 30 * 3),
        (100, 50, 60, 2 * 40 + 30 * 1),
        (100, 50, 100, 0),
    ],
)
def test_every_step_and_evaluation_left_is_counted_and_the_first_step_is_not_timed(
    clock, steps, every, taken, seconds
):
    config = TrainingConfig(steps=steps, evaluate_every=every)
    found = estimate_seconds(clock.fit, nn.Linear(2, 3), TASK, config, steps_taken=taken)
    assert found == pytest.approx(seconds)


def test_an_interrupt_of_the_trial_is_an_interrupt(clock):
    def interrupted(model, task, config, *, after_step):
        after_step(None)

    with pytest.raises(KeyboardInterrupt):
        estimate_seconds(interrupted, nn.Linear(2, 3), TASK, TrainingConfig())


def test_steps_taken_must_be_a_whole_number():
    with pytest.raises(ValueError, match="steps_taken must be at least 0, got -1"):
        estimate_seconds(fit, nn.Linear(2, 3), TASK, TrainingConfig(), steps_taken=-1)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "under 1 s here"),
        (3.4, "≈ 3 s here"),
        (39.6, "≈ 40 s here"),
        (95, "≈ 2 min here"),
        (1234, "≈ 21 min here"),
        (9000, "≈ 2 h here"),
        (3600 * 123.4, "≈ 120 h here"),
    ],
)
def test_a_budget_is_said_in_round_numbers(seconds, words):
    assert describe_seconds(seconds) == words


def test_a_bar_says_it_before_the_first_step_and_the_run_is_the_same(capsys, monkeypatch):
    def train(**changes: object):
        return fit(small_transformer(9), TASK, TrainingConfig(steps=8, evaluate_every=4, **changes))

    expected = train()
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(loop, "WORTH_A_BUDGET", 8)
    monkeypatch.setattr(loop, "estimate_seconds", lambda *_, **__: 39.0)
    assert train(progress=True) == expected
    assert capsys.readouterr().err.startswith("\r≈ 39 s here:   0%")
    monkeypatch.undo()
    monkeypatch.setattr(loop, "WORTH_A_BUDGET", 8)
    assert train(progress=True) == expected
    assert " s here:   0%" in capsys.readouterr().err


def test_the_trial_leaves_the_model_as_it_was():
    model = small_transformer(9)
    before = weights(model)
    state = torch.get_rng_state()
    config = TrainingConfig(steps=TRIAL_STEPS, evaluate_every=TRIAL_STEPS)
    assert estimate_seconds(fit, model, TASK, config) > 0
    assert torch.get_rng_state().equal(state)
    assert model.training
    assert same(weights(model), before)
