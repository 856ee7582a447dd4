"""Four changes to what a model reads, and which of its answers move: what stands behind a name."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_edu.generation.evaluation_mode import evaluation_mode
from transformer_edu.training.machine.device import device_of

# What is changed, by a short name, as it is told.
CHANGES = {
    "last word": "The last target word was replaced.",
    "padding": "Padding was appended to the source.",
    "order": "Two words of the source changed places.",
    "alone": "The row was read without the other rows.",
}
Observations = dict[str, list[bool]]  # by the change: whether the answer of each position moved
SOURCE_IDS = torch.tensor([[4, 5, 6, 7, 8, 9], [9, 8, 7, 6, 5, 4], [5, 7, 9, 4, 6, 8]])
TARGET_IDS = torch.tensor([[1, 9, 8, 7, 6, 5], [1, 4, 5, 6, 7, 8], [1, 8, 6, 4, 9, 7]])
OTHER_WORD = 10
MOVED = 1e-3  # far above rounding, and far below what a fault does


def observe(model: nn.Module) -> Observations:
    """Change what the model reads, once in each way, and see which logits of its last row move.

    Args:
        model: Answers (source_ids, target_ids) with logits.

    Returns:
        For every change in CHANGES, whether the answer of each target position moved.
    """
    replaced, swapped = TARGET_IDS.clone(), SOURCE_IDS.clone()
    replaced[-1, -1] = OTHER_WORD
    swapped[-1, [1, 2]] = SOURCE_IDS[-1, [2, 1]]
    read = {
        "last word": (SOURCE_IDS, replaced),
        "padding": (F.pad(SOURCE_IDS, (0, 3)), TARGET_IDS),
        "order": (swapped, TARGET_IDS),
        "alone": (SOURCE_IDS[-1:], TARGET_IDS[-1:]),
    }
    with evaluation_mode(model), torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        before = _last_row(model, SOURCE_IDS, TARGET_IDS)
        return {
            name: ((_last_row(model, *ids) - before).abs().amax(dim=-1) > MOVED).tolist()
            for name, ids in read.items()
        }


def _last_row(model: nn.Module, source_ids: Tensor, target_ids: Tensor) -> Tensor:
    device = device_of(model)
    return model(source_ids.to(device), target_ids.to(device))[-1]
