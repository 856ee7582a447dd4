"""Published bugs of training steps and of scores, in a few lines each.

All of them run without an error. The broken models are in transformer_course/breaking.
"""

from collections.abc import Callable, Sequence
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.optim import Optimizer

from transformer_edu.data.batches import Batch, make_batch, pad
from transformer_edu.data.toy_tasks import Pair
from transformer_edu.generation.evaluation_mode import evaluation_mode
from transformer_edu.generation.greedy import greedy_search
from transformer_edu.model.special_ids import END_ID, PADDING_ID
from transformer_edu.training.machine.device import device_of

Step = Callable[[nn.Module, Batch, Optimizer], float]


def training_step(
    model: nn.Module, batch: Batch, optimizer: Optimizer, *, fault: str | None = None
) -> float:
    """One training step, as it should be or with one published fault.

    Args:
        model: Answers (source_ids, target_ids) with logits.
        batch: What to predict, on the model's device.
        optimizer: Of the model's parameters.
        fault: A name in STEP_FAULTS; None for the right step.

    Returns:
        The loss.
    """
    model.train(fault != "training in evaluation mode")
    if fault != "gradients never cleared":
        optimizer.zero_grad()
    inputs = batch.label_ids if fault == "labels as input" else batch.decoder_input_ids
    labels = batch.label_ids
    if fault == "end token not trained":
        labels = labels.masked_fill(labels == END_ID, PADDING_ID)
    ignored = -100 if fault == "padding in the loss" else PADDING_ID
    parts = 2 if fault == "accumulated but not divided" else 1
    total = 0.0
    for rows in torch.arange(len(labels), device=labels.device).chunk(parts):
        logits = model(batch.source_ids[rows], inputs[rows]).flatten(0, 1)
        scores = logits.softmax(dim=-1) if fault == "softmax before the loss" else logits
        loss = F.cross_entropy(scores, labels[rows].flatten(), ignore_index=ignored)
        loss.backward()
        total += loss.item()
    optimizer.step()
    return total


STEP_FAULTS: dict[str, Step] = {
    name: partial(training_step, fault=name)
    for name in (
        "labels as input",  # github.com/IpsumDominum/Pytorch-Simple-Transformer/issues/3
        "softmax before the loss",  # karpathy.github.io/2019/04/25/recipe, as the next
        "gradients never cleared",
        "padding in the loss",
        "end token not trained",  # github.com/verl-project/verl/issues/535
        "training in evaluation mode",
        "accumulated but not divided",  # huggingface.co/blog/gradient_accumulation
    )
}


def score_teacher_forced(model: nn.Module, pairs: Sequence[Pair]) -> float:
    """Calls it exact match, but every token is predicted after the correct previous tokens."""
    predicted, labels = _forced(model, pairs)
    right = (predicted == labels) | (labels == PADDING_ID)
    return right.all(dim=1).float().mean().item()


def score_with_zip(model: nn.Module, pairs: Sequence[Pair]) -> float:
    """Compares by zip, which ends with the shorter sequence: a beginning counts as correct."""
    source_ids = pad([source for source, _ in pairs]).to(device_of(model))
    written = greedy_search(model, source_ids, max_length=max(len(t) for _, t in pairs) + 1)
    both = zip(written, [target for _, target in pairs], strict=True)
    right = [all(a == b for a, b in zip(ids, target, strict=False)) for ids, target in both]
    return sum(right) / len(pairs)


SCORE_FAULTS: dict[str, Callable[[nn.Module, Sequence[Pair]], float]] = {
    "teacher forcing": score_teacher_forced,
    "zip": score_with_zip,
}


def _forced(model: nn.Module, pairs: Sequence[Pair]) -> tuple[Tensor, Tensor]:
    """The tokens predicted with teacher forcing, and the labels, (batch, target position)."""
    batch = make_batch(pairs).to(device_of(model))
    with evaluation_mode(model):
        return model(batch.source_ids, batch.decoder_input_ids).argmax(dim=-1), batch.label_ids
