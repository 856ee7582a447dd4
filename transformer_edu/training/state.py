"""A training run: its history, and everything that its next step depends on."""

import hashlib
from dataclasses import dataclass, field
from functools import cached_property

import torch
from torch import nn
from torch.optim import Optimizer

from transformer_edu.data.toy_tasks import Task
from transformer_edu.training.config import TrainingConfig
from transformer_edu.training.evaluation import Evaluation
from transformer_edu.training.machine.device import gradient_scaler
from transformer_edu.training.machine.processes import ALONE, OneProcess


@dataclass(frozen=True)
class StepRecord:
    """One weight update: its number from 1, its batch's loss before it, its learning rate.

    ``tokens`` counts the labels of the batch.
    """

    step: int
    loss: float
    learning_rate: float
    tokens: int = 0


@dataclass
class TrainingRun:
    """The history of a run: one record per step, one per evaluation."""

    steps: list[StepRecord] = field(default_factory=list)
    evaluations: list[Evaluation] = field(default_factory=list)
    interrupted: bool = False


@dataclass
class TrainingState:
    """Everything that the next step depends on: a checkpoint saves and compares it.

    Random states are not part of it. The seed and the number of steps taken determine what
    dropout drops and the order of the pairs, whatever other code draws random numbers.
    """

    model: nn.Module
    task: Task
    config: TrainingConfig
    optimizer: Optimizer
    run: TrainingRun = field(default_factory=TrainingRun)
    scaler: torch.amp.GradScaler = field(init=False)
    processes: OneProcess = ALONE

    def __post_init__(self) -> None:
        """Create the gradient scaler; in precisions other than float16 it does nothing."""
        self.scaler = gradient_scaler(self.model, self.config.precision)

    @cached_property
    def task_fingerprint(self) -> str:
        """A hash that differs if a single token of the training or validation pairs differs."""
        content = (self.task.vocabulary.tokens, self.task.train, self.task.validation)
        return hashlib.sha256(repr(content).encode()).hexdigest()
