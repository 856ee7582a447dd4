"""The training loop: predict, compare, correct, and now and then look (paper §5).

Read line by line in notebooks/10_training.ipynb.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from torch import nn
from torch.optim import Adam, Optimizer
from torch.optim.lr_scheduler import LambdaLR
from tqdm import tqdm

from transformer_edu.training.batches import Batch, epoch
from transformer_edu.training.config import TrainingConfig
from transformer_edu.training.device import device_of, suitable_threads
from transformer_edu.training.evaluation import Evaluation, evaluate
from transformer_edu.training.interrupt import postponed_interrupt
from transformer_edu.training.loss import token_loss
from transformer_edu.training.tasks import Task


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


class NotFiniteError(ValueError):
    """Training met a loss or gradient that is no finite number; ``run`` holds the steps before."""

    def __init__(self, message: str, run: TrainingRun) -> None:
        super().__init__(message)
        self.run = run


def fit(
    model: nn.Module,
    task: Task,
    config: TrainingConfig | None = None,
    *,
    optimizer: Optimizer | None = None,
    after_step: Callable[[TrainingRun], None] | None = None,
) -> TrainingRun:
    """Train a model on a task, in place and on its device; leave it in evaluation mode.

    Args:
        model: Answers (source_ids, target_ids) with logits, and has what greedy_search needs.
        task: What to learn, and what to be watched by.
        config: The choices of the run; None takes the defaults.
        optimizer: Has its own learning rate, times the config's schedule; None is Adam (§5.3).
        after_step: Called after every step with the run so far; its errors are not caught.

    Returns:
        The records of the steps taken; an interrupt (Ctrl-C) ends the run after a whole step.

    Raises:
        TypeError, ValueError: If an argument is of another type, or model has no parameters.
        NotFiniteError: If a loss or gradient is not finite; the weights are those before it.
    """
    config = TrainingConfig() if config is None else config
    _require_inputs(model, task, config)
    optimizer = paper_adam(model, config.learning_rate) if optimizer is None else optimizer
    schedule = LambdaLR(optimizer, lambda steps_taken: config.factor(steps_taken + 1))
    run = TrainingRun()
    with _surroundings(model, config):
        batches = endless_batches(task, config)
        try:
            for step in tqdm(range(1, config.steps + 1), disable=not config.progress):
                loss = find_gradients(model, next(batches), config, run)
                with postponed_interrupt():
                    run.steps.append(StepRecord(step, loss, schedule.get_last_lr()[0]))
                    optimizer.step()
                    schedule.step()
                if step % config.evaluate_every == 0 or step == config.steps:
                    watched = task.validation[: config.evaluate_on]
                    run.evaluations.append(evaluate(model, watched, step=step))
                if after_step is not None:
                    after_step(run)
        except KeyboardInterrupt:
            run.interrupted = True
    return run


def find_gradients(
    model: nn.Module, batch: Batch, config: TrainingConfig, run: TrainingRun
) -> float:
    """Predict, compare, and find for every weight the direction that lowers the loss.

    Args:
        model: What fit trains; its gradients are replaced.
        batch: What to predict.
        config: The choices of the run.
        run: The steps before this one.

    Returns:
        The loss in nats per token.

    Raises:
        NotFiniteError: If the loss or a gradient is not finite.
    """
    model.train()
    model.zero_grad()
    batch = batch.to(device_of(model))
    logits = model(batch.source_ids, batch.decoder_input_ids)  # (batch, position, vocabulary)
    loss = token_loss(logits, batch.label_ids, label_smoothing=config.label_smoothing)
    loss.backward()
    longest = math.inf if config.largest_gradient is None else config.largest_gradient
    length = nn.utils.clip_grad_norm_(model.parameters(), longest)  # before it was shortened
    for name, value in (("loss", loss.item()), ("gradient", length.item())):
        if not math.isfinite(value):
            step = len(run.steps) + 1
            raise NotFiniteError(f"{name} must be finite, got {value} at step {step}", run)
    return loss.item()


def endless_batches(task: Task, config: TrainingConfig) -> Iterator[Batch]:
    """Epoch after epoch of the training pairs, each in another order that the seed decides."""
    generator = torch.Generator().manual_seed(config.seed)
    while True:
        yield from epoch(task.train, batch_size=config.batch_size, generator=generator)


def paper_adam(model: nn.Module, learning_rate: float) -> Adam:
    """Adam with the paper's settings: β₁ 0.9, β₂ 0.98, ε 1e-9 (§5.3)."""
    return Adam(model.parameters(), lr=learning_rate, betas=(0.9, 0.98), eps=1e-9, fused=True)


@contextmanager
def _surroundings(model: nn.Module, config: TrainingConfig) -> Iterator[None]:
    """Seed what dropout draws from, and give back global state as it was; model to eval mode."""
    gpus = range(torch.cuda.device_count())
    with torch.random.fork_rng(gpus), suitable_threads(model):
        torch.manual_seed(config.seed)
        try:
            yield
        finally:
            model.eval()


def _require_inputs(model: nn.Module, task: Task, config: TrainingConfig) -> None:
    """Refuse what cannot be trained, learned from or followed."""
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be a torch.nn.Module, got {type(model).__name__}")
    if not isinstance(task, Task):
        raise TypeError(f"task must be a Task, got {type(task).__name__}")
    if not isinstance(config, TrainingConfig):
        raise TypeError(f"config must be a TrainingConfig, got {type(config).__name__}")
    device_of(model)
