"""The loss: how surprised the model is by each true token, in nats per token (paper §5.4).

Met in notebooks/10_training.ipynb.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer_edu.model.vocabulary import PADDING_ID
from transformer_edu.refusals import (
    require_flag,
    require_probability,
    require_token_ids,
    require_whole,
)


def token_loss(
    logits: Tensor, label_ids: Tensor, *, label_smoothing: float = 0.0, padding_id: int = PADDING_ID
) -> Tensor:
    """Mean cross-entropy over the real tokens; padding adds neither loss nor gradient.

    With label smoothing ε the wanted distribution gives every one of the V tokens ε/V, and the
    true one 1 - ε on top, as in ``F.cross_entropy``. No model gets below ``smoothing_floor``.

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


def smoothed_labels(
    label_ids: Tensor,
    *,
    vocabulary_size: int,
    label_smoothing: float,
    among_others: bool = False,
    padding_id: int = PADDING_ID,
) -> Tensor:
    """The distributions that label smoothing wants: almost all on the true token, ε elsewhere.

    There are two customs. Shared by all, every token gets ε/V and the true one 1 - ε more:
    ``F.cross_entropy`` and ``token_loss``. Among others, the true token gets 1 - ε and each of
    the V - 2 that are neither true nor padding gets ε/(V-2): OpenNMT and The Annotated
    Transformer. The paper (§5.4) leaves it open; no probability differs by more than ε/V.

    Args:
        label_ids: Shape (batch, target position).
        vocabulary_size: V.
        label_smoothing: ε, in [0, 1).
        among_others: Whether the true token and padding are left out of the sharing.
        padding_id: The label that does not count.

    Returns:
        Shape (batch, target position, vocabulary); each row sums to one, at padding to zero.

    Raises:
        TypeError: If an argument is of another type.
        ValueError: If a label is out of range, label_smoothing outside [0, 1), or there are
            fewer than three tokens to share among others.
    """
    high, low = _wanted(vocabulary_size, label_smoothing, among_others=among_others)
    require_token_ids("label_ids", label_ids, vocabulary_size)
    wanted = torch.full((*label_ids.shape, vocabulary_size), low, device=label_ids.device)
    if among_others:
        tokens = torch.arange(vocabulary_size, device=label_ids.device)
        wanted = wanted.masked_fill(tokens == padding_id, 0.0)
    wanted.scatter_(-1, label_ids.long().unsqueeze(-1), high)
    return wanted * (label_ids != padding_id).unsqueeze(-1)


def smoothed_loss(logits: Tensor, wanted: Tensor) -> Tensor:
    """Mean cross-entropy with wanted distributions: ``token_loss`` written out, for any custom.

    Args:
        logits: Shape (batch, target position, vocabulary).
        wanted: As made by smoothed_labels, of the same shape; rows of zeros do not count.

    Returns:
        A scalar in nats per token; zero if there are no real tokens.

    Raises:
        TypeError: If an argument is no floating-point tensor.
        ValueError: If their shapes differ or are not of three axes.
    """
    _require_scores("wanted", wanted)
    _require_scores("logits", logits)
    if wanted.shape != logits.shape:
        raise ValueError(
            f"wanted must have shape {tuple(logits.shape)} like the logits, "
            f"got {tuple(wanted.shape)}"
        )
    wide = torch.promote_types(logits.dtype, torch.float32)
    total = -(wanted * logits.to(wide).log_softmax(dim=-1)).sum()
    return total / (wanted.sum(dim=-1) > 0).sum().clamp(min=1)


def smoothing_floor(
    vocabulary_size: int, label_smoothing: float, *, among_others: bool = False
) -> float:
    """The lowest smoothed loss that any model can reach: the entropy of the wanted distribution.

    A model that answers with exactly that distribution has it; being surer costs more. With
    ε 0.1 and 10,000 tokens it is 1.25, and 0 only without smoothing. Programs whose smoothed
    loss does reach 0 have taken this floor off: OpenNMT and The Annotated Transformer compute
    the Kullback-Leibler divergence, the paper's own tensor2tensor subtracts a constant.

    Args:
        vocabulary_size: V.
        label_smoothing: ε, in [0, 1).
        among_others: As for smoothed_labels.

    Returns:
        Nats per token.

    Raises:
        TypeError, ValueError: As for smoothed_labels.
    """
    high, low = _wanted(vocabulary_size, label_smoothing, among_others=among_others)
    others = vocabulary_size - (2 if among_others else 1)
    return sum(
        -many * share * math.log(share) for many, share in ((1, high), (others, low)) if share
    )


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
    _require_scores("logits", logits)
    require_token_ids("label_ids", label_ids, logits.size(-1))
    if label_ids.shape != logits.shape[:2]:
        raise ValueError(
            f"label_ids must have shape {tuple(logits.shape[:2])} to fit the logits, "
            f"got {tuple(label_ids.shape)}"
        )


def require_smoothing(label_smoothing: float) -> None:
    """Refuse what cannot be the ε of label smoothing: it lies in [0, 1).

    Raises:
        TypeError: If it is not a number.
        ValueError: If it lies outside [0, 1).
    """
    require_probability("label_smoothing", label_smoothing)
    if label_smoothing == 1:
        raise ValueError(f"label_smoothing must be below 1, got {label_smoothing}")


def _wanted(
    vocabulary_size: int, label_smoothing: float, *, among_others: bool
) -> tuple[float, float]:
    """What the true token gets, and each token that shares the rest."""
    require_flag("among_others", among_others)
    require_whole("vocabulary_size", vocabulary_size, minimum=3 if among_others else 1)
    require_smoothing(label_smoothing)
    if among_others:
        return 1 - label_smoothing, label_smoothing / (vocabulary_size - 2)
    low = label_smoothing / vocabulary_size
    return 1 - label_smoothing + low, low


def _require_scores(name: str, scores: Tensor) -> None:
    """Refuse what is no floating-point (batch, target position, vocabulary)."""
    if not isinstance(scores, Tensor) or not scores.is_floating_point():
        got = scores.dtype if isinstance(scores, Tensor) else type(scores).__name__
        raise TypeError(f"{name} must be a tensor of floating-point numbers, got {got}")
    if scores.dim() != 3:
        raise ValueError(
            f"{name} must have shape (batch, target position, vocabulary), "
            f"got {tuple(scores.shape)}"
        )
