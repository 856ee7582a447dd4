"""Checks of lesson 10: training."""

import math
from collections.abc import Callable, Iterator

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.teaching.checks.answer import (
    AnswerError,
    ask,
    exercise,
    refuse_mistakes,
    refuse_numbers,
    require_number,
)
from transformer_edu.training.config import inverse_square_root
from transformer_edu.training.data.batches import Batch, make_batch
from transformer_edu.training.loss import token_loss

VOCABULARY_SIZE = 37_000
SIZES = {"vocabulary_size": 20, "d_model": 16, "num_heads": 2, "num_layers": 2, "d_ff": 32}
STALE = 0.3  # gradients left over from a previous step
RATE = 0.5

# Of step, d_model and warmup_steps.
MISTAKEN_RATES: tuple[tuple[Callable[[float, float, float], float], str], ...] = (
    (
        lambda s, d, w: d**-0.5 * max(s**-0.5, s * w**-1.5),
        "Yours is the larger of the two: before the warm-up ends the rising line is the smaller "
        "one, so take min.",
    ),
    (
        lambda s, d, w: d**0.5 * min(s**-0.5, s * w**-1.5),
        "Wide models learn in smaller steps: d_model to the power of minus one half.",
    ),
    (
        lambda s, d, w: min(s**-0.5, s * w**-1.5),
        "The width is missing: the whole is multiplied by d_model to the power of -1/2.",
    ),
    (
        lambda s, d, w: d**-0.5 * min(s**-0.5, s * w**-0.5),
        "The two lines must meet at the end of the warm-up: the rising one is step times "
        "warmup_steps to the power of -3/2.",
    ),
    (
        lambda s, d, w: d**-0.5 * min(w**-0.5, s * w**-1.5),
        "Your rate rises and then stays: after the warm-up it falls as one over the root of the "
        "step.",
    ),
    (
        lambda s, d, w: d**-0.5 * s**-0.5,
        "Your rate only falls: it must rise during the warm-up.",
    ),
)


@exercise("10.1")
def check_uniform_loss(answer: float) -> None:
    """Exercise 10.1: the loss of a model that gives 37,000 tokens the same chance each."""
    answer = require_number(answer)
    size = VOCABULARY_SIZE
    hints = {
        math.log2(size): "That is in bits. The course counts in nats: natural logarithm.",
        math.log10(size): "That is the logarithm to base 10. Loss uses the natural one.",
        -math.log(size): "A probability has a negative logarithm, and the loss is minus that.",
        1 / size: "That is the probability of each token. The loss is minus its logarithm.",
        math.log(20): "That was for 20 tokens. Now there are 37,000.",
    }
    for wrong, hint in hints.items():
        refuse_numbers(answer, {wrong: hint}, within=0.01 * abs(wrong))
    if not math.isclose(answer, math.log(size), abs_tol=0.06):
        raise AnswerError("Every token has the probability 1/37,000. Minus its logarithm is?")


@exercise("10.2")
def check_learning_rate(answer: Callable[[int, int, int], float]) -> None:
    """Exercise 10.2: the paper's rate, a function of step, d_model and warmup_steps."""
    points = [(1, 64, 10), (9, 64, 10), (10, 64, 10), (90, 64, 10), (5, 512, 4000)]
    got = [require_number(ask(answer, *point)) for point in points]
    for mistake, hint in MISTAKEN_RATES:
        if _agree(got, [mistake(*point) for point in points]):
            raise AnswerError(hint)
    right = [inverse_square_root(s, d_model=d, warmup_steps=w) for s, d, w in points]
    if not _agree(got, right):
        step, d_model, warmup_steps = points[0]
        raise AnswerError(
            f"For step {step}, d_model {d_model} and warm-up {warmup_steps} the paper's rate is "
            f"{right[0]:.4f}; yours is {got[0]:.4f}."
        )


@exercise("10.3")
def check_repaired_step(
    answer: Callable[[nn.Module, Batch, torch.optim.Optimizer], object],
) -> None:
    """Exercise 10.3: one training step, free of the friend's mistakes."""
    pairs = [([4, 5, 6], [7, 8, 9]), ([9, 4], [5]), ([6, 6, 7, 8], [8, 7, 6, 6])]
    batch = make_batch(pairs)
    model = _fresh_model()
    seen: list[bool] = []
    model.register_forward_hook(lambda module, *_: seen.append(module.training))
    before = _weights(model)
    for parameter in model.parameters():
        parameter.grad = torch.full_like(parameter, STALE)
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    try:
        loss = ask(answer, model, batch, optimizer)
    except RuntimeError as error:
        if "inplace operation" in str(error):
            raise AnswerError(
                "step() has changed the weights before backward() had used them: first "
                "backward(), then step()."
            ) from None
        raise
    after = _weights(model)
    if not seen:
        raise AnswerError("Your step never calls the model: the call gives the logits.")
    if _same(after, before):
        raise AnswerError(
            "No weight has changed: backward() computes the gradients, step() uses them."
        )
    refuse_mistakes(after, dict(_mistaken_steps(batch)), same=_same)
    if not _same(after, _stepped(batch, _right_loss)):
        raise AnswerError(
            "The weights changed, but not correctly: read decoder_input_ids, pass the logits "
            "to the loss, skip the padding of label_ids, clear the old gradients."
        )
    if not all(seen):
        raise AnswerError("The model is in evaluation mode while it learns: call model.train().")
    if not math.isclose(
        require_number(loss), _right_loss(_fresh_model(), batch).item(), rel_tol=1e-4
    ):
        raise AnswerError("The step is correct. Return its loss, too.")


def _fresh_model() -> Transformer:
    """The same small model every time, in evaluation mode."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        return Transformer(TransformerConfig(**SIZES, dropout=0.0, max_length=16)).eval()


def _weights(model: nn.Module) -> list[Tensor]:
    return [weight.detach().clone() for weight in model.parameters()]


def _same(first: list[Tensor], second: list[Tensor]) -> bool:
    return all(torch.allclose(a, b, atol=1e-5) for a, b in zip(first, second, strict=True))


def _right_loss(model: nn.Module, batch: Batch) -> Tensor:
    return token_loss(model(batch.source_ids, batch.decoder_input_ids), batch.label_ids)


def _softmaxed_loss(model: nn.Module, batch: Batch) -> Tensor:
    logits = model(batch.source_ids, batch.decoder_input_ids)
    return token_loss(logits.softmax(dim=-1), batch.label_ids)


def _unshifted_loss(model: nn.Module, batch: Batch) -> Tensor:
    return token_loss(model(batch.source_ids, batch.label_ids), batch.label_ids)


def _padded_loss(model: nn.Module, batch: Batch) -> Tensor:
    logits = model(batch.source_ids, batch.decoder_input_ids)
    return F.cross_entropy(logits.flatten(0, 1), batch.label_ids.flatten())


def _stepped(
    batch: Batch, loss_of: Callable[[nn.Module, Batch], Tensor], *, stale: float = 0.0
) -> list[Tensor]:
    """The weights after one step with this loss, on top of what was left of old gradients."""
    model = _fresh_model()
    loss_of(model, batch).backward()
    return [weight.detach() - RATE * (weight.grad + stale) for weight in model.parameters()]


def _mistaken_steps(batch: Batch) -> Iterator[tuple[str, list[Tensor]]]:
    """For each typical mistake its hint, and the weights that it leads to."""
    for loss_of, hint in (
        (_softmaxed_loss, "The loss already has a softmax inside: give it the logits as they are."),
        (_unshifted_loss, "The model reads the labels: give it decoder_input_ids."),
        (_padded_loss, "The loss includes padding: skip its labels, as token_loss does."),
    ):
        yield hint, _stepped(batch, loss_of)
        yield f"{hint} And old gradients are still there.", _stepped(batch, loss_of, stale=STALE)
    yield (
        "The gradients of the previous step are still there, and new ones are "
        "added: zero_grad() first.",
        _stepped(batch, _right_loss, stale=STALE),
    )


def _agree(got: list[float], expected: list[float]) -> bool:
    return all(math.isclose(a, b, rel_tol=1e-4) for a, b in zip(got, expected, strict=True))
