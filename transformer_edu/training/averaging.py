"""The average of the last weights of a run, by which the paper translates (§6.1)."""

import os
from collections.abc import Sequence

import torch

from transformer_edu.model.transformer import Transformer
from transformer_edu.training.checkpoint import load_model
from transformer_edu.training.machine.whole_file import CheckpointError


def average_models(paths: Sequence[str | os.PathLike]) -> Transformer:
    """The Transformer in which every weight is the mean of that weight in several files (§6.1).

    A learning rate that never falls to zero leaves the weights moving around a minimum; their mean
    is nearer to it. The paper averages the last 5 checkpoints of its base model, 20 of big.

    Args:
        paths: What save_model or save_checkpoint wrote, of one model at different steps.

    Returns:
        A new model on the CPU, in evaluation mode.

    Raises:
        ValueError: If there are no paths.
        OSError: If a file cannot be read.
        CheckpointError: If a file is damaged, or holds a different model than the first.
    """
    if len(paths) == 0:
        raise ValueError("paths must hold at least one path, got none")
    average = load_model(paths[0])
    sums = [weight.detach().double() for weight in average.parameters()]
    for path in paths[1:]:
        model = load_model(path)
        if model.config != average.config:
            raise CheckpointError(f"{path} must hold the model of {paths[0]}, got another config")
        for total, weight in zip(sums, model.parameters(), strict=True):
            total += weight.detach()
    with torch.no_grad():
        for weight, total in zip(average.parameters(), sums, strict=True):
            weight.copy_(total / len(paths))
    return average
