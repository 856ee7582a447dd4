"""Checkpoints: a run that stops and continues later gives the same bits as one without a break.

A checkpoint holds the weights, the optimizer's state, the history (steps and evaluations), the
choices of the run and the format's version. A saved model holds the weights and its config only.
"""

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, astuple, fields, is_dataclass

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from transformer_edu.model.refusals import require_choice
from transformer_edu.model.transformer import Transformer, TransformerConfig, without_numbers
from transformer_edu.training.checkpoint_file import (
    CheckpointError,
    read_checkpoint_file,
    write_checkpoint_file,
)
from transformer_edu.training.evaluation import Evaluation
from transformer_edu.training.machine.failures import enough_memory
from transformer_edu.training.state import StepRecord, TrainingRun, TrainingState

FORMAT_VERSION = 1
HISTORY = {"steps": StepRecord, "evaluations": Evaluation}
STORED_TYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
MISSING_PART = (KeyError, TypeError, AttributeError, IndexError)  # errors of such a record


def save_checkpoint(path: str | os.PathLike, state: TrainingState) -> None:
    """Save a run so that it can continue from here. At any moment the file is whole, old or new.

    Raises:
        TypeError: If the optimizer has a value that JSON cannot hold.
        OSError: If the file cannot be written; the old one stays.
    """
    weights = distinct_weights(state.model)[0]
    tensors = {f"weights.{name}": tensor for name, tensor in weights.items()}
    numbers: dict[str, object] = {}
    for index, kept in state.optimizer.state_dict()["state"].items():
        for name, value in kept.items():
            place = tensors if isinstance(value, Tensor) else numbers
            place[f"optimizer.{index}.{name}"] = value
    for name in HISTORY:  # a row for each record, in float64, which keeps every bit of a float
        rows = list(map(astuple, getattr(state.run, name)))
        tensors[f"history.{name}"] = torch.tensor(rows, dtype=torch.float64, device="cpu")
    record = {
        "format_version": FORMAT_VERSION,
        "choices": choices(state),
        "numbers": numbers,
        "scaler": state.scaler.state_dict(),
    }
    write_checkpoint_file(path, tensors, record)


def load_checkpoint(path: str | os.PathLike, state: TrainingState) -> None:
    """Put a saved run into the state: weights, optimizer, history. All of it, or nothing.

    Args:
        path: A file of save_checkpoint.
        state: A run of the same model, task, configs and kind of optimizer; changed in place.

    Raises:
        OSError: If the file cannot be read.
        CheckpointError: If the file is not a checkpoint, is damaged, or belongs to a different
            run: the message names the first choice that differs. The state does not change then.
    """
    tensors, record = _read(path)
    try:
        if isinstance(state.model, Transformer):  # the file may be older than a field of the config
            later = {field.name: field.default for field in fields(TransformerConfig)}
            record["choices"]["model"] = later | record["choices"]["model"]
        require_same(path, record["choices"], choices(state), "")
        weights = _part(tensors, "weights.")
        _require_same_weights(path, weights, state.model)
        run = _history(tensors)
        _require_same_schedule(path, run, state)
        kept: dict[int, dict[str, object]] = {}  # by the number of the weight
        for place, value in _part(tensors | record["numbers"], "optimizer.").items():
            index, name = place.split(".", 1)
            kept.setdefault(int(index), {})[name] = value
        scaler = dict(record["scaler"])
    except MISSING_PART as error:
        got = "one with a part missing"
        raise CheckpointError(f"{path} must be a checkpoint, got {got}") from error
    # Everything is checked. Only from here on does anything change.
    state.model.load_state_dict(weights, strict=False)  # not under the other names of tied ones
    groups = state.optimizer.state_dict()["param_groups"]
    for group in groups:
        group["initial_lr"] = group["lr"] = _learning_rate(group)
    state.optimizer.load_state_dict({"state": kept, "param_groups": groups})
    if state.scaler.is_enabled():
        state.scaler.load_state_dict(scaler)
    state.run = run


def load_history(path: str | os.PathLike) -> TrainingRun:
    """The history in a file of save_checkpoint.

    Raises:
        OSError, CheckpointError: As for load_checkpoint.
    """
    try:
        return _history(_read(path)[0])
    except MISSING_PART as error:
        raise CheckpointError(f"{path} must hold a history, got none") from error


def save_model(
    path: str | os.PathLike, model: Transformer, *, dtype: torch.dtype | None = None
) -> None:
    """Save a Transformer for later use, without the state of training.

    Args:
        path: The file to make or to replace, for load_model.
        model: It is not changed.
        dtype: One of STORED_TYPES; None is the model's own. float16 halves the file and keeps
            about four digits of seven.

    Raises:
        TypeError: If model is not a Transformer, or a subclass.
        ValueError: If load_model could not read the weights: of another type, or not its config's.
        OSError: If the file cannot be written; the old one stays.
    """
    if type(model) is not Transformer:
        raise TypeError(f"model must be a Transformer, got {type(model).__name__}")
    weights, tied = distinct_weights(model)
    for kind in {weight.dtype for weight in weights.values()} if dtype is None else [dtype]:
        require_choice("dtype", kind, STORED_TYPES)
    shapes = {name: weight.to("meta", torch.float32) for name, weight in weights.items()}
    _require_fit("this model", shapes, model.config, torch.float32)
    if others := tied.keys() ^ distinct_weights(without_numbers(model.config))[1].keys():
        raise ValueError(f"model must share the weights that its config does, got {min(others)}")
    tensors = {f"weights.{name}": weight.to(dtype) for name, weight in weights.items()}
    record = {"format_version": FORMAT_VERSION, "choices": {"model": _model_choices(model)}}
    write_checkpoint_file(path, tensors, record)


def load_model(path: str | os.PathLike) -> Transformer:
    """Load the trained Transformer in a file, on the CPU and in evaluation mode.

    Its weights are float32, or float64 if all of the file's are: half precision is for storage
    only.

    Args:
        path: A file of save_checkpoint or save_model.

    Raises:
        OSError: If the file cannot be read.
        CheckpointError: If the file is not a checkpoint, is damaged, or holds a different kind of
            model.
        NotEnoughMemoryError: If the model does not fit into the memory.
    """
    with enough_memory(f"the model in {path}"):
        tensors, record = _read(path)
        weights = _part(tensors, "weights.")
        is_double = all(tensor.dtype == torch.float64 for tensor in weights.values())
        dtype = torch.float64 if is_double else torch.float32
        weights = {n: t.to(dtype) if t.dtype in STORED_TYPES else t for n, t in weights.items()}
        try:
            sizes = dict(record["choices"]["model"])
            require_choice("its class", sizes.pop("class"), [Transformer.__qualname__])
            config = TransformerConfig(**sizes)
            _require_fit(path, weights, config, dtype)
        except (ValueError, *MISSING_PART) as error:
            raise CheckpointError(f"{path} must hold a Transformer, got none: {error}") from error
        # The random weights are replaced at once.
        with torch.random.fork_rng([]), torch.device("cpu"):
            model = Transformer(config).to(dtype)
        model.load_state_dict(weights, strict=False)
    return model.eval()


@torch.no_grad()
def average_models(paths: Iterable[str | os.PathLike]) -> Transformer:
    """The Transformer in which every weight is the mean of that weight in several files (§6.1).

    A learning rate that never falls to zero leaves the weights moving around a minimum; their mean
    is nearer to it. The paper averages the last 5 checkpoints of its base model, 20 of big.

    Raises:
        TypeError, ValueError: If paths is a single path, or holds none.
        OSError, CheckpointError: As for load_model, or if the files hold different models.
    """
    if isinstance(paths, str | os.PathLike):
        raise TypeError(f"paths must be several paths, got {paths!r}")
    if not (paths := list(paths)):
        raise ValueError("paths must hold at least one path, got none")
    average = load_model(paths[0])
    sums = [weight.double() for weight in average.parameters()]
    for path in paths[1:]:
        model = load_model(path)
        if model.config != average.config:
            raise CheckpointError(f"{path} must hold the model of {paths[0]}, got another config")
        for total, weight in zip(sums, model.parameters(), strict=True):
            total += weight
    for weight, total in zip(average.parameters(), sums, strict=True):
        weight.copy_(total / len(paths))
    return average


def choices(state: TrainingState) -> dict:
    """Everything that must stay the same for a run to continue, in the types of JSON."""
    training = asdict(state.config) | {"loss_scaling": state.scaler.is_enabled()}
    if callable(state.config.schedule):
        training["schedule"] = "a function"
    del training["progress"]  # changes nothing
    chosen = {
        "model": _model_choices(state.model),
        "tied": distinct_weights(state.model)[1],
        "training": training,
        "task": {"name": state.task.name, "fingerprint": state.task_fingerprint},
        "optimizer": {"class": type(state.optimizer).__qualname__} | _groups(state.optimizer),
    }
    return json.loads(json.dumps(chosen, default=repr))


def distinct_weights(model: nn.Module) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Every tensor of a model once, by its first name; and for every other name its first."""
    tensors = model.state_dict(keep_vars=True)
    first_names = {id(tensor): name for name, tensor in reversed(tensors.items())}
    firsts = {name: first_names[id(tensor)] for name, tensor in tensors.items()}
    tied = {name: first for name, first in firsts.items() if name != first}
    return {name: tensor for name, tensor in tensors.items() if name not in tied}, tied


def require_same(path: str | os.PathLike, saved: dict, own: dict, prefix: str) -> None:
    """Raise a CheckpointError that names the first choice that differs from the saved one."""
    for name in saved | own:
        before, now = saved.get(name), own.get(name)
        if isinstance(before, dict) and isinstance(now, dict):
            require_same(path, before, now, f"{prefix}{name}.")
        elif json.dumps(before) != json.dumps(now):  # in JSON even nan equals nan
            if name == "fingerprint":
                wanted = f"the texts that {path} has learned from"
                raise CheckpointError(f"task must have {wanted}, got changed ones")
            raise CheckpointError(f"{prefix}{name} must be {before} as in {path}, got {now}")


def _require_same_weights(
    path: str | os.PathLike, saved: dict[str, Tensor], model: nn.Module
) -> None:
    """Raise a CheckpointError if names, shapes or types differ from those of the model."""
    both = saved, distinct_weights(model)[0]
    kinds = ({n: f"{t.dtype} {tuple(t.shape)}" for n, t in tensors.items()} for tensors in both)
    require_same(path, *kinds, "weights.")


def _require_same_schedule(path: str | os.PathLike, run: TrainingRun, state: TrainingState) -> None:
    """Raise a CheckpointError if the schedule gives different learning rates for past steps.

    A function is not saved, but the history holds the rates that it gave.
    """
    base = _learning_rate(state.optimizer.param_groups[0])
    for record in run.steps:
        if (rate := base * state.config.factor(record.step)) != record.learning_rate:
            wanted = f"the learning rates of {path}, {record.learning_rate} at step {record.step}"
            raise CheckpointError(f"training.schedule must give {wanted}, got {rate}")


def _require_fit(
    path: str | os.PathLike,
    weights: dict[str, Tensor],
    config: TransformerConfig,
    dtype: torch.dtype,
) -> None:
    """Refuse weights of a different model before a model of that config takes memory."""
    num_layers, most = max(config.num_layers, config.decoder_depth), len(weights)
    if num_layers > most:
        wanted = f"at most {most}, the number of its tensors"
        raise CheckpointError(f"num_layers of {path} must be {wanted}, got {num_layers}")
    with torch.device("meta"):  # the table of positions is computed again for another type
        _require_same_weights(path, weights, without_numbers(config).to(dtype))


def _read(path: str | os.PathLike) -> tuple[dict[str, Tensor], dict]:
    """The tensors and the record of a file of our format version."""
    tensors, record = read_checkpoint_file(path)
    if (version := record.get("format_version")) != FORMAT_VERSION:
        raise CheckpointError(f"format_version of {path} must be {FORMAT_VERSION}, got {version}")
    return tensors, record


def _part(named: dict[str, object], prefix: str) -> dict[str, object]:
    """The entries whose names begin with prefix, under the rest of the name."""
    return {
        name.removeprefix(prefix): value for name, value in named.items() if name.startswith(prefix)
    }


def _history(tensors: dict[str, Tensor]) -> TrainingRun:
    """The records from their rows; the first number of a row is a step."""
    rows = ((kind, tensors[f"history.{name}"].tolist()) for name, kind in HISTORY.items())
    return TrainingRun(*([kind(int(step), *rest) for step, *rest in each] for kind, each in rows))


def _model_choices(model: nn.Module) -> dict[str, object]:
    """The model's class, and the fields of its config if it has one."""
    config = getattr(model, "config", None)
    return {"class": type(model).__qualname__} | (asdict(config) if is_dataclass(config) else {})


def _learning_rate(group: dict) -> float:
    """The learning rate of an optimizer's group before the schedule multiplies it."""
    return group.get("initial_lr", group["lr"])


def _groups(optimizer: Optimizer) -> dict[str, dict]:
    """The settings of each group of weights."""
    groups = {}
    for number, group in enumerate(optimizer.param_groups):
        own = {"lr": _learning_rate(group), "params": len(group["params"])}
        chosen = (group | own).items()
        groups[f"group {number}"] = {name: value for name, value in chosen if name != "initial_lr"}
    return groups
