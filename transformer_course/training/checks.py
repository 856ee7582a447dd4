"""Checks of lesson 10: training."""

import math
from collections.abc import Callable
from itertools import combinations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_course.asking.answer import (
    AnswerError,
    ask,
    exercise,
    refuse_numbers,
    require_number,
)
from transformer_edu.data.batches import Batch, make_batch
from transformer_edu.model.special_ids import PADDING_ID
from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.training.config import inverse_square_root

VOCABULARY_SIZE, SMOOTHING = 37_000, 0.1
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
    (
        lambda s, d, w: d**-0.5 * min((s + 1) ** -0.5, (s + 1) * w**-1.5),
        "You are one step ahead: the step counts from 1 already.",
    ),
)

MISTAKEN_STEPS = {
    "softmaxed": "The loss already has a softmax inside: give it the logits as they are.",
    "unshifted": "The model reads the labels, which are what it should predict.",
    "padded": "The loss includes padding, whose id is 0.",
    "stale": "The gradients of the previous step are still there, and new ones are added.",
}


def smoothing_floor(vocabulary_size: int, label_smoothing: float) -> float:
    """The lowest smoothed loss that any model can reach: the entropy of the target distribution.

    The distribution gives every token ε/V, and the true token 1 - ε on top.

    Args:
        vocabulary_size: V.
        label_smoothing: ε, in [0, 1).

    Returns:
        Nats per token.
    """
    each = label_smoothing / vocabulary_size
    true = 1 - label_smoothing + each
    others = (vocabulary_size - 1) * each * math.log(each) if each else 0.0
    return -true * math.log(true) - others


@exercise("10.1")
def check_smoothing_floor(answer: float) -> None:
    """Exercise 10.1: the lowest smoothed loss with 37,000 tokens and ε = 0.1."""
    answer = require_number(answer)
    right = smoothing_floor(VOCABULARY_SIZE, SMOOTHING)
    each = SMOOTHING / VOCABULARY_SIZE
    true = 1 - SMOOTHING + each
    hints = {
        right / math.log(2): "That is in bits. The course counts in nats: natural logarithm.",
        right / math.log(10): "That is the logarithm to base 10. Loss uses the natural one.",
        -right: "A probability has a negative logarithm, and the loss is minus that.",
        -math.log(true): "That is the cost of the correct token. Weigh it by the probability that "
        "is wanted for it, and add the other tokens.",
        -true * math.log(true): "That is the correct token's part. All other tokens add theirs.",
        right + true * math.log(true): "The correct token's part is missing.",
        math.log(VOCABULARY_SIZE): "That is the loss of a model that knows nothing.",
        smoothing_floor(64, SMOOTHING): "That is the floor for 64 tokens. Here are 37,000.",
        0.0: "To reach 0, a model must give the correct token probability 1. Smoothing wants less.",
    }
    for wrong, hint in hints.items():
        refuse_numbers(answer, {wrong: hint}, within=0.005)
    if not math.isclose(answer, right, abs_tol=0.06):
        raise AnswerError(
            "Write down the wanted distribution: one large probability and 36,999 small ones. "
            "Each costs minus its logarithm, weighted by itself."
        )


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
        wrong = [n for n in range(len(points)) if not _agree([got[n]], [right[n]])]
        far = max(wrong[:2])  # at step 1 many formulas agree: a later step says more
        step, d_model, warmup_steps = points[far]
        raise AnswerError(
            f"For step {step}, d_model {d_model} and warm-up {warmup_steps} the paper's rate is "
            f"{right[far]:.4g}; yours is {got[far]:.4g}."
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
    _require_no_mistake(after, batch)
    if not _same(after, _stepped(batch)):
        raise AnswerError(
            "The weights change in another way than they should. Compare your step with train, "
            "line by line."
        )
    if not all(seen):
        raise AnswerError("The model is in evaluation mode while it learns: call model.train().")
    if not math.isclose(require_number(loss), _loss(_fresh_model(), batch).item(), rel_tol=1e-4):
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


def _loss(
    model: nn.Module,
    batch: Batch,
    *,
    softmaxed: bool = False,
    unshifted: bool = False,
    padded: bool = False,
) -> Tensor:
    """The loss of a step; every setting is one of the friend's mistakes."""
    logits = model(batch.source_ids, batch.label_ids if unshifted else batch.decoder_input_ids)
    return F.cross_entropy(
        (logits.softmax(dim=-1) if softmaxed else logits).flatten(0, 1),
        batch.label_ids.flatten(),
        ignore_index=-100 if padded else PADDING_ID,
    )


def _stepped(batch: Batch, *, stale: bool = False, **mistakes: bool) -> list[Tensor]:
    """The weights after one step; stale adds it to what is left of old gradients."""
    model = _fresh_model()
    _loss(model, batch, **mistakes).backward()
    left = STALE if stale else 0.0
    return [weight.detach() - RATE * (weight.grad + left) for weight in model.parameters()]


def _require_no_mistake(after: list[Tensor], batch: Batch) -> None:
    """Raise a hint if one or more of the friend's mistakes lead to these weights."""
    for count in range(1, len(MISTAKEN_STEPS) + 1):
        for chosen in combinations(MISTAKEN_STEPS, count):
            if _same(after, _stepped(batch, **dict.fromkeys(chosen, True))):
                several = f"{count} mistakes are left. One of them: " if count > 1 else ""
                raise AnswerError(several + MISTAKEN_STEPS[chosen[0]])


def _agree(got: list[float], expected: list[float]) -> bool:
    return all(math.isclose(a, b, rel_tol=1e-4) for a, b in zip(got, expected, strict=True))
