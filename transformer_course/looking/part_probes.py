"""Three probes of a model's parts: its attention weights, its parameters and its tied weights."""

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_course.looking.probe_result import (
    Model,
    ProbeResult,
    answer,
    noise,
    require_sample,
    undisturbed,
)
from transformer_course.looking.recording import record_attention
from transformer_edu.model.attention import MultiHeadAttention


def probe_attention_rows(model: Model, source_ids: Tensor, target_ids: Tensor) -> ProbeResult:
    """Sum every row of attention weights: it must be one, in training mode too.

    Fails with a softmax over another axis, and when weights are read after dropout. A query
    that may attend to nothing has a row of zeros. Applies to models with MultiHeadAttention.

    Args:
        model: Answers (source_ids, target_ids) with logits.
        source_ids: Shape (batch, source position), two rows or more.
        target_ids: Shape (batch, target position), two rows or more.

    Raises:
        TypeError, ValueError: If the sample shows nothing or the model gives no logits.
    """
    require_sample(model, source_ids, target_ids)
    name = "attention rows sum to one"
    modules = model.modules() if isinstance(model, nn.Module) else ()
    if not any(isinstance(module, MultiHeadAttention) for module in modules):
        sentence = "The model has no MultiHeadAttention whose weights could be read."
        return ProbeResult(name, None, None, sentence)
    worst = 0.0
    with undisturbed(model):
        for training in (False, True):
            with record_attention(model) as recorded:
                answer(model, source_ids, target_ids, training=training)
            for layer, weights in recorded.items():
                sums = weights.sum(dim=-1)
                off = (sums - 1).abs().masked_fill(sums == 0, 0.0).max().item()
                if not off <= noise(weights):
                    sentence = (
                        f"A row of {layer} is off one by {off:.2g}: "
                        "look at the softmax's axis, and read the weights before dropout."
                    )
                    return ProbeResult(name, False, off, sentence)
                worst = max(worst, off)
    return ProbeResult(name, True, worst, "Every row of weights sums to one.")


def probe_parameters(model: Model, source_ids: Tensor, target_ids: Tensor) -> ProbeResult:
    """Look for weights that an optimizer, ``.to`` or ``state_dict`` would miss.

    Every layer and tensor must be registered, every parameter must get a gradient. Fails for
    layers in a plain list and for a tensor that is no buffer. Applies to torch.nn.Modules.

    Args:
        model: Answers (source_ids, target_ids) with logits.
        source_ids: Shape (batch, source position), two rows or more.
        target_ids: Shape (batch, target position), two rows or more.

    Raises:
        TypeError, ValueError: If the sample shows nothing or the model gives no logits.
    """
    require_sample(model, source_ids, target_ids)
    name = "every weight is registered"
    if not isinstance(model, nn.Module):
        return ProbeResult(name, None, None, "The model is not a torch.nn.Module.")
    missed = list(_unregistered(model))
    if missed:
        sentence = (
            f"{missed[0]} is not registered, and will neither learn nor move nor be saved: "
            "use nn.ModuleList, nn.Parameter or register_buffer."
        )
        return ProbeResult(name, False, float(len(missed)), sentence)
    saved = model.state_dict()
    weights = dict(model.named_parameters(remove_duplicate=False))
    unsaved = [weight for weight in weights if weight not in saved]
    if unsaved:
        sentence = f"{unsaved[0]} is missing in state_dict, and will not be saved."
        return ProbeResult(name, False, float(len(unsaved)), sentence)
    idle = _idle(model, source_ids, target_ids)
    if idle or not weights:
        sentence = f"{idle[0]} gets no gradient." if idle else "The model has no weights at all."
        return ProbeResult(name, False, float(len(idle)), f"{sentence[:-1]}, and cannot learn.")
    return ProbeResult(name, True, 0.0, "Every weight is registered, saved and gets a gradient.")


def probe_tied_weights(model: Model, source_ids: Tensor, target_ids: Tensor) -> ProbeResult:
    """Look for tied weights that are two tensors: equal now, and different after the first step.

    Fails for matrices that hold equal numbers in two places, and for a Transformer whose config
    ties its embeddings while they are separate tensors. Arguments and errors are those of
    probe_parameters.
    """
    require_sample(model, source_ids, target_ids)
    name = "tied weights are one tensor"
    if not isinstance(model, nn.Module):
        return ProbeResult(name, None, None, "The model is not a torch.nn.Module.")
    apart = _equal_but_two(model) or _promised_but_two(model)
    if apart:
        first, second = apart
        sentence = (
            f"{first} and {second} are two tensors but should be one: "
            "assign the parameter itself, not a copy of its numbers."
        )
        return ProbeResult(name, False, 2.0, sentence)
    names = [name for name, _ in model.named_parameters(remove_duplicate=False)]
    shared = len(names) - sum(1 for _ in model.parameters())
    if shared == 0:
        return ProbeResult(name, None, 0.0, "The model ties no weights.")
    counted = sum(weight.numel() for weight in model.parameters())
    sentence = f"Tied weights share their storage and count once among {counted:,}."
    return ProbeResult(name, True, float(shared), sentence)


def _unregistered(model: nn.Module) -> Iterator[str]:
    """Names of modules and tensors that stand in a module's plain attributes."""
    for path, module in model.named_modules():
        registered = {id(thing) for thing in (*module.parameters(), *module.buffers())}
        registered |= {id(thing) for thing in module.modules()}
        for attribute, value in vars(module).items():
            if attribute in ("_parameters", "_buffers", "_modules"):
                continue
            held = value if isinstance(value, (list, tuple)) else [value]
            held = value.values() if isinstance(value, dict) else held
            if any(isinstance(x, (nn.Module, Tensor)) and id(x) not in registered for x in held):
                yield f"{path}.{attribute}".lstrip(".")


def _idle(model: nn.Module, source_ids: Tensor, target_ids: Tensor) -> list[str]:
    """Names of the parameters that a loss on the next tokens gives no gradient."""
    with undisturbed(model), torch.enable_grad():
        logits = answer(model, source_ids, target_ids, training=True)
        if not logits.requires_grad:
            return [name for name, weight in model.named_parameters() if weight.requires_grad]
        labels = target_ids.long().flatten() % logits.size(-1)
        F.cross_entropy(logits.flatten(0, 1).float(), labels).backward()
        return [
            name
            for name, weight in model.named_parameters()
            if weight.requires_grad and (weight.grad is None or not _moves(weight.grad))
        ]


def _moves(gradient: Tensor) -> bool:
    """Whether it is finite and, for a matrix, not zero (some biases truly have none)."""
    return bool(gradient.isfinite().all()) and (gradient.dim() < 2 or bool(gradient.any()))


def _equal_but_two(model: nn.Module) -> tuple[str, str] | None:
    """Two different matrices that hold the same numbers, not all of them alike."""
    matrices = [(name, weight) for name, weight in model.named_parameters() if weight.dim() > 1]
    for i, (first_name, first) in enumerate(matrices):
        for second_name, second in matrices[:i]:
            if first.shape == second.shape and first.data_ptr() != second.data_ptr():
                alike = bool((first == first.flatten()[0]).all())
                if not alike and first.equal(second):
                    return second_name, first_name
    return None


def _promised_but_two(model: nn.Module) -> tuple[str, str] | None:
    """A Transformer's output and target tables, if its config ties them and they are two."""
    if not getattr(getattr(model, "config", None), "tie_embeddings", False):
        return None
    tables = ("output_projection.weight", "target_embedding.table.weight")
    weights = dict(model.named_parameters(remove_duplicate=False))
    first, second = (weights.get(name) for name in tables)
    return tables if first is not None and second is not None and first is not second else None
