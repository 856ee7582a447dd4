"""The loss: how surprised the model is by each true token, in nats per token (paper §5.4).

Met in notebooks/10_training.ipynb.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer_edu.model.refusals import require_probability, require_token_ids
from transformer_edu.model.vocabulary import PADDING_ID


def token_loss(
    logits: Tensor, label_ids: Tensor, *, label_smoothing: float = 0.0, padding_id: int = PADDING_ID
) -> Tensor:
    """Mean cross-entropy over the real tokens; padding adds neither loss nor gradient.

    With label smoothing ε the wanted distribution gives every one of the V tokens ε/V, and the
    true one 1 - ε on top, as in ``F.cross_entropy``.

    Args:
        logits: Shape (batch, target position, vocabulary).
        label_ids: Shape (batch, target position).
        label_smoothing: ε, in [0, 1); the paper uses 0.1.
        padding_id: The label that does not count.

    Returns:
        A scalar in nats per token, at least in float32; zero if there are no real tokens.

    Raises:
        TypeError: If logits are no floating-point tensor or label_ids no whole numbers.
        ValueError: If the shapes do not fit, a label is out of range (read on the CPU only), or
            label_smoothing lies outside [0, 1).
    """
    require_labels(logits, label_ids)
    require_probability("label_smoothing", label_smoothing)
    if label_smoothing == 1:
        raise ValueError(f"label_smoothing must be below 1, got {label_smoothing}")
    wide = torch.promote_types(logits.dtype, torch.float32)
    total = F.cross_entropy(
        logits.flatten(0, 1).to(wide),
        label_ids.flatten().long(),
        ignore_index=padding_id,
        label_smoothing=label_smoothing,
        reduction="sum",
    )
    # clamp: the mean over no tokens would be NaN, and a batch of padding teaches nothing.
    return total / (label_ids != padding_id).sum().clamp(min=1)


def token_accuracy(logits: Tensor, label_ids: Tensor, *, padding_id: int = PADDING_ID) -> Tensor:
    """Share of the real tokens that are the model's first choice, each after a true prefix.

    High accuracy says little about what the model writes alone, where its prefix is its own:
    see greedy exact match (``evaluate``).

    Args:
        logits: Shape (batch, target position, vocabulary).
        label_ids: Shape (batch, target position).
        padding_id: The label that does not count.

    Returns:
        A scalar from 0 to 1; zero if there are no real tokens.

    Raises:
        TypeError, ValueError: As for token_loss.
    """
    require_labels(logits, label_ids)
    real = label_ids != padding_id
    right = (logits.argmax(dim=-1) == label_ids) & real
    return right.sum() / real.sum().clamp(min=1)


def require_labels(logits: Tensor, label_ids: Tensor) -> None:
    """Refuse logits and labels that do not belong together.

    Raises:
        TypeError: If logits are no floating-point tensor or label_ids no whole numbers.
        ValueError: If the shapes do not fit, or a label is out of range (read on the CPU only).
    """
    if not isinstance(logits, Tensor) or not logits.is_floating_point():
        got = logits.dtype if isinstance(logits, Tensor) else type(logits).__name__
        raise TypeError(f"logits must be a tensor of floating-point numbers, got {got}")
    if logits.dim() != 3:
        raise ValueError(
            "logits must have shape (batch, target position, vocabulary), "
            f"got {tuple(logits.shape)}"
        )
    require_token_ids("label_ids", label_ids, logits.size(-1))
    if label_ids.shape != logits.shape[:2]:
        raise ValueError(
            f"label_ids must have shape {tuple(logits.shape[:2])} to fit the logits, "
            f"got {tuple(label_ids.shape)}"
        )
