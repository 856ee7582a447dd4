"""Is it the same run? Every choice that a run depends on, by name, to compare with a saved one."""

import json
import os
from dataclasses import fields, is_dataclass

from torch import Tensor, nn
from torch.optim import Optimizer

from transformer_edu.training.checkpoint_file import CheckpointError
from transformer_edu.training.state import TrainingRun, TrainingState


def choices(state: TrainingState) -> dict:
    """All that must be the same for a run to go on as if it had never stopped, as JSON has it."""
    training = _fields(state.config) | {"schedule": state.config.schedule is not None}
    training["loss_scaling"] = state.scaler.is_enabled()
    del training["progress"]  # changes nothing
    chosen = {
        "model": model_choices(state.model),
        "tied": distinct_weights(state.model)[1],
        "training": training,
        "task": {"name": state.task.name, "fingerprint": state.task_fingerprint},
        "optimizer": {"class": type(state.optimizer).__qualname__} | _groups(state.optimizer),
    }
    return json.loads(json.dumps(chosen, default=repr))


def model_choices(model: nn.Module) -> dict[str, object]:
    """The model's class, and the fields of its config if it has one."""
    config = getattr(model, "config", None)
    kind = {"class": type(model).__qualname__}
    return kind | (_fields(config) if is_dataclass(config) else {})


def distinct_weights(model: nn.Module) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Every tensor of a model once, by its first name; and for every other name its first."""
    distinct: dict[str, Tensor] = {}
    tied: dict[str, str] = {}
    first_names: dict[int, str] = {}
    for name, tensor in model.state_dict(keep_vars=True).items():
        first = first_names.setdefault(id(tensor), name)
        if first == name:
            distinct[name] = tensor
        else:
            tied[name] = first
    return distinct, tied


def learning_rate(group: dict) -> float:
    """The learning rate of an optimizer's group before the schedule multiplies it."""
    return group.get("initial_lr", group["lr"])


def require_same(path: str | os.PathLike, saved: dict, own: dict, prefix: str) -> None:
    """Refuse, with a CheckpointError, another choice than the saved one; the first is named."""
    for name in saved | own:
        before, now = saved.get(name), own.get(name)
        if isinstance(before, dict) and isinstance(now, dict):
            require_same(path, before, now, f"{prefix}{name}.")
        elif json.dumps(before) != json.dumps(now):  # in JSON even nan equals nan
            raise CheckpointError(f"{prefix}{name} must be {before} as in {path}, got {now}")


def require_same_weights(
    path: str | os.PathLike, saved: dict[str, Tensor], model: nn.Module
) -> None:
    """Refuse, with a CheckpointError, weights of other names, shapes or types than the model's."""
    own = distinct_weights(model)[0]
    require_same(path, _kinds(saved), _kinds(own), "weights.")


def require_same_schedule(path: str | os.PathLike, run: TrainingRun, state: TrainingState) -> None:
    """Refuse, with a CheckpointError, a schedule that would have given other learning rates.

    A schedule is a function, which is not saved: what it gave is, with the history.
    """
    base = learning_rate(state.optimizer.param_groups[0])
    for record in run.steps:
        rate = base * state.config.factor(record.step)
        if rate != record.learning_rate:
            raise CheckpointError(
                f"training.schedule must give the learning rates of {path}, "
                f"{record.learning_rate} at step {record.step}, got {rate}"
            )


def _fields(config: object) -> dict[str, object]:
    return {field.name: getattr(config, field.name) for field in fields(config)}


def _groups(optimizer: Optimizer) -> dict[str, dict]:
    """The settings of each group of weights."""
    groups = {}
    for number, group in enumerate(optimizer.param_groups):
        settings = {name: value for name, value in group.items() if name != "initial_lr"}
        own = {"lr": learning_rate(group), "params": len(group["params"])}
        groups[f"group {number}"] = settings | own
    return groups


def _kinds(tensors: dict[str, Tensor]) -> dict[str, str]:
    return {name: f"{tensor.dtype} {tuple(tensor.shape)}" for name, tensor in tensors.items()}
