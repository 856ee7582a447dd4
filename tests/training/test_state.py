"""What a run depends on: when the next look is due, and which task it learns."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from transformer_edu.data.toy_tasks import Task, copy_task
from transformer_edu.training.config import TrainingConfig
from transformer_edu.training.state import StepRecord, TrainingRun, TrainingState

TASK = copy_task(num_symbols=5, longest=3, shortest=2, train_size=9, validation_size=3, test_size=2)


def state_after(steps: int, task: Task = TASK, **changes: object) -> TrainingState:
    model = nn.Linear(2, 3)
    config = TrainingConfig(steps=7, evaluate_every=3, **changes)
    run = TrainingRun([StepRecord(step, 1.0, 0.1) for step in range(1, steps + 1)])
    return TrainingState(model, task, config, torch.optim.SGD(model.parameters(), lr=0.1), run)


@pytest.mark.parametrize("part", ["train", "validation"])
def test_a_task_that_differs_in_one_token_is_another(part):
    pairs = [(list(source), list(target)) for source, target in getattr(TASK, part)]
    same = state_after(0, replace(TASK, **{part: pairs})).task_fingerprint
    pairs[-1][1][0] += 1
    other = state_after(0, replace(TASK, **{part: pairs})).task_fingerprint
    assert same == state_after(0).task_fingerprint != other


def test_a_model_without_parameters_is_refused():
    with pytest.raises(ValueError, match="model must have parameters"):
        TrainingState(nn.ReLU(), TASK, TrainingConfig(), None)
