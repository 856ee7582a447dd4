"""The loss: the cross-entropy with the true tokens, in nats per token (paper §5.4).

Met in notebooks/10_training.ipynb.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.function import FunctionCtx, once_differentiable

from transformer_edu.data.batches import Batch
from transformer_edu.generation.continuation import padding_id_of
from transformer_edu.model.refusals import require_probability, require_token_ids
from transformer_edu.model.special_ids import PADDING_ID
from transformer_edu.model.transformer import Transformer

LARGE_VOCABULARY = 1000  # tokens; from here on projected_loss is faster than logits in one piece


def batch_loss(model: nn.Module, batch: Batch, *, label_smoothing: float = 0.0) -> Tensor:
    """Predict and compare: ``token_loss`` of the model's logits.

    In a single process a Transformer with a large vocabulary takes ``projected_loss``, which gives
    the same number and gradients. It calls neither the model nor its output projection, so their
    hooks don't run.

    Args:
        model: Answers (source_ids, target_ids) with logits.
        batch: What to predict; on the model's device.
        label_smoothing: ε, in [0, 1).

    Returns:
        A scalar in nats per token.
    """
    if not isinstance(batch, Batch):
        raise TypeError(f"batch must be a Batch, got {type(batch).__name__}")
    how = {"label_smoothing": label_smoothing, "padding_id": padding_id_of(model)}
    if not _uses_projected_loss(model):
        logits = model(batch.source_ids, batch.decoder_input_ids)  # (batch, position, vocabulary)
        return token_loss(logits, batch.label_ids, **how)
    memory, mask = model.encode(batch.source_ids), model.source_mask(batch.source_ids)
    decoded = model.decode(batch.decoder_input_ids, memory, source_mask=mask)
    return projected_loss(decoded, model.output_projection, batch.label_ids, **how)


def _uses_projected_loss(model: nn.Module) -> bool:
    """Whether the model has a large vocabulary, and computes its logits as Transformer does."""
    return (
        isinstance(model, Transformer)
        and type(model).forward is Transformer.forward
        and type(model).project is Transformer.project
        and not {"forward", "project"} & vars(model).keys()
        and type(model.output_projection) is nn.Linear
        and model.output_projection.bias is not None
        and model.config.output_size >= LARGE_VOCABULARY
    )


def token_loss(
    logits: Tensor, label_ids: Tensor, *, label_smoothing: float = 0.0, padding_id: int = PADDING_ID
) -> Tensor:
    """Mean cross-entropy over the real tokens; padding adds neither loss nor gradient.

    With label smoothing ε the target distribution gives each of the V tokens ε/V, and the true
    token 1 - ε on top, as in ``F.cross_entropy``. No model gets below the entropy of that
    distribution: with ε 0.1 and 10,000 tokens it is 1.25 nats. Programs whose smoothed loss does
    reach 0, such as OpenNMT, subtract the entropy.

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
    require_probability("label_smoothing", label_smoothing, below_one=True)
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


def projected_loss(
    decoded: Tensor,
    projection: nn.Linear,
    label_ids: Tensor,
    *,
    label_smoothing: float = 0.0,
    padding_id: int = PADDING_ID,
) -> Tensor:
    """``token_loss(projection(decoded), label_ids)`` without all logits at once.

    The logits of a large vocabulary are by far the largest tensor of a training step, and reading
    them again and again takes longer than computing them. So the gradient of a chunk of positions
    is computed before the next chunk begins. Padding is left out.

    Args:
        decoded: What the decoder returned, shape (batch, target position, d_model).
        projection: From d_model to the vocabulary, with a bias.

    Returns:
        As for token_loss, with first derivatives only; backward works once.
    """
    _require_label_ids(label_ids, decoded.shape[:2], projection.out_features)
    require_probability("label_smoothing", label_smoothing, below_one=True)
    real, kind = label_ids != padding_id, decoded.device.type
    decoded, weight, bias = decoded[real], projection.weight, projection.bias
    if torch.is_autocast_enabled(kind):
        narrow = torch.get_autocast_dtype(kind)
        decoded, weight, bias = (x.to(narrow) for x in (decoded, weight, bias))
    given = decoded, weight, bias, label_ids[real].long(), label_smoothing
    total = _ChunkedCrossEntropy.apply(*given)
    return total / real.sum().clamp(min=1)


class _ChunkedCrossEntropy(torch.autograd.Function):
    """The sum of the positions' cross-entropies; the forward pass computes its gradient.

    The derivative by the logits is what the model predicts minus what it should: softmax(logits)
    - target, where the target gives ε/V to each token and 1 - ε on top to the true one.
    """

    @staticmethod
    def forward(
        ctx: FunctionCtx,
        decoded: Tensor,
        weight: Tensor,
        bias: Tensor,
        label_ids: Tensor,
        epsilon: float,
    ) -> Tensor:
        """From vectors (position, d_model) and labels (position,) to a scalar."""
        wide = torch.promote_types(decoded.dtype, torch.float32)
        vocabulary_size, chunk = weight.shape  # a chunk's logits are as many as the weights
        by_decoded = torch.zeros_like(decoded)
        # Sums over many chunks: in half precision their rounding would add up.
        by_weight, by_bias = (torch.zeros_like(each, dtype=wide) for each in (weight, bias))
        total = decoded.new_zeros((), dtype=wide)
        for start in range(0, len(decoded), chunk):
            rows = slice(start, start + chunk)
            vectors, true = decoded[rows], label_ids[rows].unsqueeze(1)
            scores = F.linear(vectors, weight, bias).to(wide)
            scores -= scores.amax(dim=-1, keepdim=True)  # the softmax stays, exp cannot overflow
            total -= (1 - epsilon) * scores.gather(1, true).sum()
            if epsilon > 0:  # 0 times the score -inf would be NaN
                total -= epsilon * scores.mean(dim=-1).sum()
            sums = scores.exp_().sum(dim=-1, keepdim=True)
            total += sums.log().sum()
            by_logits = scores.div_(sums).sub_(epsilon / vocabulary_size)
            by_logits.scatter_add_(1, true, by_logits.new_full(true.shape, epsilon - 1))
            by_bias += by_logits.sum(dim=0)
            by_logits = by_logits.to(weight.dtype)
            torch.mm(by_logits, weight, out=by_decoded[rows])
            if weight.dtype == wide:
                by_weight.addmm_(by_logits.T, vectors)
            else:
                by_weight += by_logits.T @ vectors
        ctx.save_for_backward(by_decoded, by_weight.to(weight.dtype), by_bias.to(bias.dtype))
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: FunctionCtx, by_total: Tensor) -> tuple[Tensor | None, ...]:
        """The chain rule's last step: multiply by the derivative by the sum, in place."""
        return *(found.mul_(by_total) for found in ctx.saved_tensors), None, None


def token_accuracy(logits: Tensor, label_ids: Tensor, *, padding_id: int = PADDING_ID) -> Tensor:
    """Fraction of the real tokens that are the model's first choice, with teacher forcing.

    High accuracy says little about what the model generates on its own, where each prefix is its
    own output: see exact match (``evaluate``). Arguments and errors are those of token_loss.

    Returns:
        A scalar from 0 to 1; zero if there are no real tokens.
    """
    require_labels(logits, label_ids)
    real = label_ids != padding_id
    return ((logits.argmax(dim=-1) == label_ids) & real).sum() / real.sum().clamp(min=1)


def require_labels(logits: Tensor, label_ids: Tensor) -> None:
    """Refuse logits and labels that do not belong together."""
    if not isinstance(logits, Tensor) or not logits.is_floating_point():
        got = logits.dtype if isinstance(logits, Tensor) else type(logits).__name__
        raise TypeError(f"logits must be a tensor of floating-point numbers, got {got}")
    if logits.dim() != 3:
        wanted = "(batch, target position, vocabulary)"
        raise ValueError(f"logits must have shape {wanted}, got {tuple(logits.shape)}")
    _require_label_ids(label_ids, logits.shape[:2], logits.size(-1))


def _require_label_ids(label_ids: Tensor, shape: torch.Size, vocabulary_size: int) -> None:
    """Refuse labels that are not a token of the vocabulary for each position."""
    if (got := getattr(label_ids, "shape", shape)) != shape:
        wanted = f"{tuple(shape)} to fit the logits"
        raise ValueError(f"label_ids must have shape {wanted}, got {tuple(got)}")
    require_token_ids("label_ids", label_ids, vocabulary_size)
