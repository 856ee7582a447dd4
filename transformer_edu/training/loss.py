"""The loss: the cross-entropy with the true tokens, in nats per token (paper §5.4).

Met in notebooks/10_training.ipynb.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer_edu.model.vocabulary import PADDING_ID
from transformer_edu.refusals import require_probability, require_token_ids, require_whole


def token_loss(
    logits: Tensor, label_ids: Tensor, *, label_smoothing: float = 0.0, padding_id: int = PADDING_ID
) -> Tensor:
    """Mean cross-entropy over the real tokens; padding adds neither loss nor gradient.

    With label smoothing ε the target distribution gives each of the V tokens ε/V, and the true
    token 1 - ε on top, as in ``F.cross_entropy``. No model gets below ``smoothing_floor``.

    Args:
        logits: Shape (batch, target position, vocabulary).
        label_ids: Shape (batch, target position).
        label_smoothing: ε, in [0, 1); the paper uses 0.1.
        padding_id: The label that does not count.

    Returns:
        A scalar in nats per token, at least in float32; zero if there are no real tokens.

    Raises:
        TypeError: If logits is not a floating-point tensor, or label_ids not whole numbers.
        ValueError: If the shapes do not fit, a label is out of range (read on the CPU only), or
            label_smoothing lies outside [0, 1).
    """
    require_labels(logits, label_ids)
    require_smoothing(label_smoothing)
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


def smoothing_floor(
    vocabulary_size: int, label_smoothing: float, *, among_others: bool = False
) -> float:
    """The lowest smoothed loss that any model can reach: the entropy of the target distribution.

    A model that predicts exactly that distribution reaches it; more confidence costs more. With
    ε 0.1 and 10,000 tokens the floor is 1.25 nats; without smoothing it is 0. Programs whose
    smoothed loss does reach 0 subtract the floor: OpenNMT and The Annotated Transformer compute
    the Kullback-Leibler divergence, the paper's own tensor2tensor subtracts a constant.

    The paper (§5.4) does not say how ε is distributed. ``F.cross_entropy`` and ``token_loss`` give
    every token ε/V, and the true token 1 - ε on top. OpenNMT and The Annotated Transformer
    (``among_others``) give the true token 1 - ε, and ε/(V-2) to each token that is neither the true
    token nor padding.

    Args:
        vocabulary_size: V.
        label_smoothing: ε, in [0, 1).
        among_others: Whether the true token and padding get no part of ε.

    Returns:
        Nats per token.

    Raises:
        TypeError, ValueError: If vocabulary_size is not a whole number of at least 1 (at least 3
            among others), or label_smoothing does not lie in [0, 1).
    """
    require_whole("vocabulary_size", vocabulary_size, minimum=3 if among_others else 1)
    require_smoothing(label_smoothing)
    others = vocabulary_size - (2 if among_others else 1)
    each = label_smoothing / (others if among_others else vocabulary_size)
    true = 1 - label_smoothing + (0 if among_others else each)
    return sum(-n * part * math.log(part) for n, part in ((1, true), (others, each)) if part)


def token_accuracy(logits: Tensor, label_ids: Tensor, *, padding_id: int = PADDING_ID) -> Tensor:
    """Fraction of the real tokens that are the model's first choice, with teacher forcing.

    High accuracy says little about what the model generates on its own, where each prefix is its
    own output: see exact match (``evaluate``).

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
        TypeError: If logits is not a floating-point tensor, or label_ids not whole numbers.
        ValueError: If the shapes do not fit, or a label is out of range (read on the CPU only).
    """
    if not isinstance(logits, Tensor) or not logits.is_floating_point():
        got = logits.dtype if isinstance(logits, Tensor) else type(logits).__name__
        raise TypeError(f"logits must be a tensor of floating-point numbers, got {got}")
    if logits.dim() != 3:
        raise ValueError(
            f"logits must have shape (batch, target position, vocabulary), "
            f"got {tuple(logits.shape)}"
        )
    require_token_ids("label_ids", label_ids, logits.size(-1))
    if label_ids.shape != logits.shape[:2]:
        raise ValueError(
            f"label_ids must have shape {tuple(logits.shape[:2])} to fit the logits, "
            f"got {tuple(label_ids.shape)}"
        )


def require_smoothing(label_smoothing: float) -> None:
    """Refuse an ε of label smoothing outside [0, 1).

    Raises:
        TypeError: If it is not a number.
        ValueError: If it lies outside [0, 1).
    """
    require_probability("label_smoothing", label_smoothing)
    if label_smoothing == 1:
        raise ValueError(f"label_smoothing must be below 1, got {label_smoothing}")
