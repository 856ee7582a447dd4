"""The training loop: predict, compare, correct, and now and then look (paper §5).

Read line by line in notebooks/10_training.ipynb.
"""

import math
import os
import random
from collections.abc import Callable, Iterable, Iterator

import torch
from torch import nn
from torch.optim import Adam, Optimizer
from torch.optim.lr_scheduler import LambdaLR
from tqdm import tqdm

from transformer_edu.data.batches import Batch, make_batch, plan_batches, plan_token_batches
from transformer_edu.data.toy_tasks import Task
from transformer_edu.generation.continuation import config_field, require_model
from transformer_edu.model.refusals import require_callable
from transformer_edu.model.special_ids import END_ID, PADDING_ID, START_ID
from transformer_edu.training.checkpoint import load_checkpoint, save_checkpoint
from transformer_edu.training.config import TrainingConfig
from transformer_edu.training.evaluation import evaluate
from transformer_edu.training.loss import batch_loss
from transformer_edu.training.machine.atomic_files import require_writable
from transformer_edu.training.machine.device import (
    autocast_for,
    device_of,
    random_state_restored,
    suitable_threads,
)
from transformer_edu.training.machine.failures import enough_memory, postponed_interrupt
from transformer_edu.training.machine.processes import ALONE, OneProcess, process_count
from transformer_edu.training.state import StepRecord, TrainingRun, TrainingState


class NotFiniteError(ValueError):
    """A loss or gradient was not a finite number; ``run`` holds the steps before."""

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
    checkpoint: str | os.PathLike | None = None,
    resume: str | os.PathLike | None = None,
    processes: OneProcess = ALONE,
) -> TrainingRun:
    """Train a model on a task, in place and on its device; leave it in evaluation mode.

    Args:
        model: Turns (source_ids, target_ids) into logits, and has what greedy_search needs.
        task: What to learn from, and what to evaluate on.
        config: The choices of the run; None takes the defaults.
        optimizer: Has its own learning rate, times the config's schedule; None is Adam (§5.3).
        after_step: Called after every step with the run so far; its errors are not caught.
        checkpoint: The file to save to after every evaluation, and when interrupted.
        resume: The checkpoint of this run to continue from, as if it had never stopped.
        processes: Those that share the work, as joined_processes gives them.

    Returns:
        The records of the steps taken; an interrupt (Ctrl-C) ends the run after a whole step.

    Raises:
        TypeError, ValueError: If an argument is of another type, model has no parameters, or
            resume is damaged or of another run; nothing is changed then.
        OSError: If resume cannot be read, or checkpoint not be written.
        NotFiniteError: If a loss or gradient is not finite; the weights are those before it.
        NotEnoughMemoryError: If a step or an evaluation does not fit into the memory.
    """
    config = TrainingConfig() if config is None else config
    require_callable("after_step", after_step)
    _require_inputs(model, task, config)
    if (count := getattr(processes, "count", None)) != process_count():  # each would train alone
        wanted = f"the {process_count()} that joined_processes has connected"
        raise ValueError(f"processes must be {wanted}, got {count}")
    optimizer = paper_adam(model, config.learning_rate) if optimizer is None else optimizer
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"optimizer must be an Optimizer, got {type(optimizer).__name__}")
    moved = {id(weight) for group in optimizer.param_groups for weight in group["params"]}
    if not moved <= set(map(id, model.parameters())):  # it would train another model
        raise ValueError("optimizer must have this model's weights only, got others")
    state = TrainingState(model, task, config, optimizer, processes=processes)
    if checkpoint is not None:
        require_writable("checkpoint", checkpoint)
    if resume is not None:
        load_checkpoint(resume, state)
    tokens = config.batch_tokens
    batch = f"{config.batch_size:,} pairs" if tokens is None else f"{tokens:,} tokens"
    advice = "smaller batches or accumulate above 1 need less"
    needs_memory = enough_memory(f"training on batches of {batch}", advice)
    with needs_memory, torch.enable_grad(), random_state_restored(), suitable_threads(model):
        try:
            take_steps(state, after_step, checkpoint)
        except KeyboardInterrupt:
            state.run.interrupted = True
            if checkpoint is not None and state.run.steps:
                save_checkpoint(checkpoint, state)
        finally:
            model.eval()
            for group in optimizer.param_groups:  # again its own rate, which a caller may change
                group["lr"] = group.pop("initial_lr", group["lr"])
    return state.run


def take_steps(
    state: TrainingState,
    after_step: Callable[[TrainingRun], None] | None = None,
    checkpoint: str | os.PathLike | None = None,
) -> None:
    """The loop: predict, compare, correct, and now and then evaluate and save.

    The state's own steps are not repeated. after_step and checkpoint are those of fit.
    """
    config, run, taken = state.config, state.run, len(state.run.steps)
    schedule = LambdaLR(
        state.optimizer, lambda steps: config.factor(steps + 1), last_epoch=taken - 1
    )
    batches = endless_batches(state.task, config, skip=taken)
    replica = state.processes.replica(state.model)  # of a single process, the model
    evaluate_if_due(state.model, state.task, config, run, state.processes)  # if it was interrupted
    steps: Iterable[int] = range(taken + 1, config.steps + 1)
    if config.progress:
        steps = tqdm(steps, "training", initial=taken, total=config.steps, unit="step")
    for step in steps:
        _seed_dropout(state.model, config.seed, step, state.processes.number)
        batch = next(batches)
        loss = find_gradients(replica, batch, config, run, state.scaler, state.processes)
        tokens = int((batch.label_ids != PADDING_ID).sum())
        with postponed_interrupt():
            run.steps.append(StepRecord(step, loss, schedule.get_last_lr()[0], tokens))
            state.scaler.step(state.optimizer)  # optimizer.step(), unless float16 overflowed
            state.scaler.update()
            schedule.step()
        evaluate_if_due(state.model, state.task, config, run, state.processes)
        if checkpoint is not None and config.is_due(step):
            save_checkpoint(checkpoint, state)  # before after_step makes anything of it
        if after_step is not None:
            after_step(run)


def find_gradients(
    model: nn.Module,
    batch: Batch,
    config: TrainingConfig,
    run: TrainingRun,
    scaler: torch.amp.GradScaler,
    processes: OneProcess = ALONE,
) -> float:
    """Compute the loss of a batch in nats per token, and its gradient by every weight.

    The gradients are left multiplied by the scaler's factor, which is 1 except in float16.

    Raises:
        NotFiniteError: If the loss or a gradient is not finite; ``run`` holds the steps before.
    """
    model.train()
    model.zero_grad()
    loss = 0.0
    for part, weight in processes.parts(batch, config.accumulate):
        part = part.to(device_of(model))
        with autocast_for(model, config.precision):
            part_loss = weight * batch_loss(model, part, label_smoothing=config.label_smoothing)
        scaler.scale(part_loss).backward()
        loss += part_loss.item()
    loss = processes.sum([loss])[0] / processes.count
    scale = scaler.get_scale()  # 1, except in float16
    longest = math.inf if config.largest_gradient is None else scale * config.largest_gradient
    length = nn.utils.clip_grad_norm_(model.parameters(), longest)  # before it was shortened
    # A factor above 1 may make float16 overflow; the scaler then skips the update and halves it.
    watched = {"loss": loss} if scale > 1 else {"loss": loss, "gradient": length.item()}
    for name, value in watched.items():
        if not math.isfinite(value):
            step = len(run.steps) + 1
            raise NotFiniteError(f"{name} must be finite, got {value} at step {step}", run)
    return loss


def endless_batches(task: Task, config: TrainingConfig, *, skip: int = 0) -> Iterator[Batch]:
    """The batches of one epoch after another, each in an order that the seed decides.

    The first ``skip`` batches are left out: those of the steps already taken.
    """
    pairs, generator = task.train, torch.Generator().manual_seed(config.seed)
    while True:
        if config.batch_tokens is None:
            plan = plan_batches(pairs, batch_size=config.batch_size, generator=generator)
        else:
            plan = plan_token_batches(pairs, tokens=config.batch_tokens, generator=generator)
        for rows in plan[skip:]:
            yield make_batch([pairs[row] for row in rows])
        skip = max(0, skip - len(plan))


def paper_adam(model: nn.Module, learning_rate: float) -> Adam:
    """Adam with the paper's settings: β₁ 0.9, β₂ 0.98, ε 1e-9 (§5.3)."""
    return Adam(model.parameters(), lr=learning_rate, betas=(0.9, 0.98), eps=1e-9, fused=True)


def _seed_dropout(model: nn.Module, seed: int, step: int, process: int) -> None:
    """Let seed and step decide what dropout drops: a resumed run drops the same."""
    # Each process drops something else, the first one what a single process would.
    text = f"{seed} {step} {process}" if process else f"{seed} {step}"
    number = random.Random(text).getrandbits(63)
    if device_of(model).type == "cpu":
        torch.default_generator.manual_seed(number)  # 100 times as fast as the line below
    else:
        torch.manual_seed(number)


def evaluate_if_due(
    model: nn.Module, task: Task, config: TrainingConfig, run: TrainingRun, processes: OneProcess
) -> None:
    """Evaluate the model if an evaluation is due after the last step, once."""
    step = len(run.steps)
    if config.is_due(step) and (not run.evaluations or run.evaluations[-1].step < step):
        watched = task.validation[: config.evaluate_on]
        run.evaluations.append(evaluate(model, watched, step=step, processes=processes))


def _require_inputs(model: nn.Module, task: Task, config: TrainingConfig) -> None:
    """Refuse a model, task or config that cannot be trained with."""
    given = {nn.Module: ("model", model), Task: ("task", task), TrainingConfig: ("config", config)}
    for kind, (name, value) in given.items():
        if not isinstance(value, kind):
            raise TypeError(f"{name} must be a {kind.__name__}, got {type(value).__name__}")
    for name, own in (("padding_id", PADDING_ID), ("start_id", START_ID), ("end_id", END_ID)):
        if (got := config_field(model, name, own)) != own:  # batches are made with it
            raise ValueError(f"model's {name} must be {own} to be trained, got {got}")
    device_of(model)
    require_model(model)
    if not any(weight.requires_grad for weight in model.parameters()):
        raise ValueError("model must have a weight with requires_grad to be trained, got none")
