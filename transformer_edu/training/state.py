"""What a training run is made of: its history, and everything that its next step depends on."""

import hashlib
from dataclasses import dataclass, field
from functools import cached_property

import torch
from torch import nn
from torch.optim import Optimizer

from transformer_edu.training.config import TrainingConfig
from transformer_edu.training.data.toy_tasks import Task
from transformer_edu.training.evaluation import Evaluation
from transformer_edu.training.machine.device import gradient_scaler
from transformer_edu.training.machine.one_process import ALONE, OneProcess


@dataclass(frozen=True)
class StepRecord:
    """One weight update: its number from 1, its batch's loss before it, its learning rate."""

    step: int
    loss: float
    learning_rate: float


@dataclass
class TrainingRun:
    """What happened in a run: one record for each step taken, one for each evaluation."""

    steps: list[StepRecord] = field(default_factory=list)
    evaluations: list[Evaluation] = field(default_factory=list)
    interrupted: bool = False


@dataclass
class TrainingState:
    """Everything that the next step depends on: what a checkpoint saves and compares.

    Random states are not among it. What dropout drops and the order of the pairs follow from
    the seed and the number of steps taken, whatever else draws random numbers meanwhile.

    Args:
        model: What is trained.
        task: What it learns.
        config: The choices of the run.
        optimizer: What changes the weights.
        run: The steps taken so far.
        processes: Those that share the work.

    Raises:
        ValueError: If model has no parameters.
    """

    model: nn.Module
    task: Task
    config: TrainingConfig
    optimizer: Optimizer
    run: TrainingRun = field(default_factory=TrainingRun)
    scaler: torch.amp.GradScaler = field(init=False)
    processes: OneProcess = ALONE

    def __post_init__(self) -> None:
        """Make what keeps float16's gradients large enough; in other precisions it does nothing."""
        self.scaler = gradient_scaler(self.model, self.config.precision)

    @property
    def is_due(self) -> bool:
        """Whether the model is to be evaluated, and the state saved, after the last step."""
        step = len(self.run.steps)
        return step > 0 and (step % self.config.evaluate_every == 0 or step == self.config.steps)

    @cached_property
    def task_fingerprint(self) -> str:
        """Tells apart tasks that differ in a single token of what is learned or watched."""
        content = (self.task.vocabulary.tokens, self.task.train, self.task.validation)
        return hashlib.sha256(repr(content).encode()).hexdigest()
