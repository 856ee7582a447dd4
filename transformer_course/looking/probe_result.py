"""What a probe returns, and what every probe works with."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from transformer_edu.generation.continuation import padding_id_of
from transformer_edu.generation.evaluation_mode import evaluation_mode
from transformer_edu.model.refusals import require_same_batch, require_token_ids
from transformer_edu.training.machine.device import random_state_restored

Model = Callable[[Tensor, Tensor], Tensor]  # (source_ids, target_ids) → logits


@dataclass(frozen=True)
class ProbeResult:
    """The result of one probe.

    Args:
        name: The rule that was tested.
        passed: Whether the model obeys it; None if the probe does not apply to this model.
        measured: What was compared, as a number; None if nothing was.
        sentence: What was found, and what to check if it is wrong.
    """

    name: str
    passed: bool | None
    measured: float | None
    sentence: str

    def __str__(self) -> str:
        """The result in one line."""
        verdict = {True: "passed", False: "FAILED", None: "not applicable"}[self.passed]
        return f"{verdict:14}  {self.name:34}  {self.sentence}"


@contextmanager
def undisturbed(model: Model) -> Iterator[None]:
    """Evaluation mode without gradients; afterwards the model and random state are as before.

    Modes, gradients and buffers are restored, also after an error and for code that trains inside.
    """
    modules = list(model.modules()) if isinstance(model, nn.Module) else []
    tensors = [tensor for module in modules for tensor in module.parameters(recurse=False)]
    gradients = [tensor.grad for tensor in tensors]
    buffers = [buffer for module in modules for buffer in module.buffers(recurse=False)]
    contents = [buffer.clone() for buffer in buffers]
    for tensor in tensors:
        tensor.grad = None
    try:
        with evaluation_mode(model) if modules else torch.no_grad(), random_state_restored():
            yield
    finally:
        for tensor, gradient in zip(tensors, gradients, strict=True):
            tensor.grad = gradient
        with torch.no_grad():
            for buffer, content in zip(buffers, contents, strict=True):
                buffer.copy_(content)


def answer(model: Model, source_ids: Tensor, target_ids: Tensor, *, training: bool) -> Tensor:
    """The model's logits in one mode, dropout always drawn from the same seed.

    Args:
        model: Answers (source_ids, target_ids) with logits.
        source_ids: Shape (batch, source position).
        target_ids: Shape (batch, target position).
        training: Whether the model runs in training mode.

    Returns:
        Logits, shape (batch, target position, vocabulary), with gradients where they are on.

    Raises:
        TypeError: If the model does not answer with floating-point numbers.
        ValueError: If they have another shape.
    """
    if isinstance(model, nn.Module):
        model.train(training)
    torch.manual_seed(0)
    logits = model(source_ids, target_ids)
    if not isinstance(logits, Tensor) or not logits.is_floating_point():
        raise TypeError(f"model must answer with a tensor of logits, got {type(logits).__name__}")
    if logits.dim() != 3 or logits.shape[:2] != target_ids.shape:
        raise ValueError(
            "model must answer with logits of shape (batch, target position, vocabulary), "
            f"got {tuple(logits.shape)} for target_ids {tuple(target_ids.shape)}"
        )
    return logits


def difference(first: Tensor, second: Tensor) -> float:
    """The largest difference, as a share of the largest number (or of 1, if that is more)."""
    largest = max(1.0, first.abs().max().item())
    return (first - second).abs().max().item() / largest


def noise(logits: Tensor) -> float:
    """How far rounding may move numbers of this type."""
    return max(1e-4, 10 * torch.finfo(logits.dtype).eps)


def require_sample(model: Model, source_ids: Tensor, target_ids: Tensor) -> None:
    """Refuse a sample or a model for which a probe would mean nothing.

    Raises:
        TypeError: If model cannot be called, or ids are no tensor of whole numbers.
        ValueError: If there are fewer than two rows or positions, the batches differ, or a row
            holds nothing but padding.
    """
    if not callable(model):
        raise TypeError(f"model must be callable, got {type(model).__name__}")
    for name, token_ids in (("source_ids", source_ids), ("target_ids", target_ids)):
        require_token_ids(name, token_ids)
        if min(token_ids.shape) < 2:
            raise ValueError(
                f"{name} must have at least two rows and two positions, "
                f"got {tuple(token_ids.shape)}"
            )
    require_same_batch("source_ids", source_ids, "target_ids", target_ids)
    for name, token_ids in (("source_ids", source_ids), ("target_ids", target_ids)):
        if (token_ids == padding_id_of(model)).all(dim=1).any():
            raise ValueError(f"{name} must hold a real token in every row, got a row of padding")
