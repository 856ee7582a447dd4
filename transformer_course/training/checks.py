"""Checks of lesson 10: training."""

import math
from collections.abc import Callable, Collection
from contextlib import redirect_stdout, suppress
from io import StringIO
from itertools import combinations, pairwise

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
RATE = 0.5
BATCHES = (
    [([4, 5, 6], [7, 8, 9]), ([9, 4], [5]), ([6, 6, 7, 8], [8, 7, 6, 6])],
    [([7, 5], [5, 7, 7, 9]), ([8, 8, 4], [6]), ([5], [9, 4])],
)

# Of step, d_model and warmup_steps.
MISTAKEN_RATES: tuple[tuple[Callable[[float, float, float], float], str], ...] = (
    (
        lambda s, d, w: d**-0.5 * max(s**-0.5, s * w**-1.5),
        "Yours is the larger of the two: before the warm-up ends, the rising line is smaller.",
    ),
    (
        lambda s, d, w: min(d**-0.5 * s**-0.5, s * w**-1.5),
        "d_model^−0.5 is a factor of both, outside of min: look at the parentheses.",
    ),
    (
        lambda s, d, w: d**0.5 * min(s**-0.5, s * w**-1.5),
        "Wide models learn in smaller steps. Look at the sign of the exponent of d_model.",
    ),
    (
        lambda s, d, w: min(s**-0.5, s * w**-1.5),
        "The width is missing: your rate is the same for every d_model.",
    ),
    *(
        (
            lambda s, d, w, power=power: d**-0.5 * min(s**-0.5, s * w**power),
            "The two lines must meet where the warm-up ends: look at the power of warmup_steps.",
        )
        for power in (-0.5, -1, -2)
    ),
    (
        lambda s, d, w: d**-0.5 * min(s**-1, s * w**-1.5),
        "The falling line is too low: it must meet the rising one at the end of the warm-up.",
    ),
    (
        lambda s, d, w: d**-0.5 * min(w**-0.5, s * w**-1.5),
        "Your rate rises and then stays: after the warm-up it must fall, as step^−0.5.",
    ),
    (
        lambda s, d, w: d**-0.5 * s * w**-1.5,
        "Your rate never falls: after the warm-up it must fall, as step^−0.5.",
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
    "unsmoothed": "The loss is not smoothed: hand `smoothing` on, as the friend does.",
    "summed": "The loss is a sum. The mean does not depend on how long the targets are.",
}


def our_step(
    model: nn.Module, batch: Batch, optimizer: torch.optim.Optimizer, smoothing: float = 0.0
) -> Tensor:
    """One step of a training: predict, compare, correct; the loss."""
    model.train()
    loss = _loss(model, batch, smoothing)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


def our_rate(step: int, d_model: int, warmup_steps: int) -> float:
    """The paper's learning rate (§5.3, equation 3)."""
    return inverse_square_root(step, d_model=d_model, warmup_steps=warmup_steps)


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


@exercise("10.3")
def check_smoothing_floor(answer: float) -> None:
    """Exercise 10.3: the lowest smoothed loss with 37,000 tokens and ε = 0.1."""
    answer = require_number(answer)
    right = smoothing_floor(VOCABULARY_SIZE, SMOOTHING)
    each = SMOOTHING / VOCABULARY_SIZE
    true = 1 - SMOOTHING + each
    part = -true * math.log(true)
    hints = {
        right / math.log(2): "That is in bits. The course counts in nats: natural logarithm.",
        right / math.log(10): "That is the logarithm to base 10. Loss uses the natural one.",
        -right: "A probability has a negative logarithm, and the loss is minus that.",
        -math.log(true): "That is the cost of the correct token. Weigh it by the probability that "
        "is wanted for it, and add the other tokens.",
        right - (1 - true) * math.log(true): "The correct token's cost counts in full: weigh it, "
        "too, by the probability that is wanted for it.",
        part: "That is hardly more than the correct token's part: 36,999 other tokens add theirs.",
        right - part: "The correct token's part is missing.",
        math.log(VOCABULARY_SIZE): "That is the loss of a model that knows nothing.",
        part - SMOOTHING * math.log(SMOOTHING): "All other tokens share ε: each "
        "costs −ln of its own small part.",
        0.0: "To reach 0, a model must give the correct token probability 1. Smoothing wants less.",
    }
    if math.isclose(answer, right / VOCABULARY_SIZE, rel_tol=0.01):
        raise AnswerError("That is a mean over the tokens. The weights sum to 1 already: add up.")
    refuse_numbers(answer, hints, within=0.005)
    if 0.69 <= answer < 0.74:
        raise AnswerError("That is the floor of section 3, for 64 tokens. Here are 37,000.")
    if not math.isclose(answer, right, abs_tol=0.06):
        raise AnswerError(
            f"{answer:.4g} is too {'large' if answer > right else 'small'}. Write down the wanted "
            "distribution: one large probability and 36,999 small ones. "
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
        raise AnswerError(_rate_hint(got, right))


def _rate_hint(got: list[float], right: list[float]) -> str:
    """What is wrong: the rise from step 1 to 9, the fall from 10 to 90, or how high they are."""
    for start, part in ((0, "rise: from step 1 to 9"), (2, "fall: from step 10 to 90")):
        (first, last), factor = got[start : start + 2], right[start + 1] / right[start]
        if not (last and math.isclose(last, factor * first, rel_tol=1e-4)):
            return (
                f"With 10 steps of warm-up, look at the {part}, the rate must become {factor:.3g} "
                f"times as large. Yours goes from {first:.3g} to {last:.3g}."
            )
    if not _agree(got[:4], right[:4]):
        return (
            "The rise and the fall are right, their height is not: for d_model 64 and 10 steps of "
            f"warm-up, your rate is {got[0] / right[0]:.3g} times the paper's during the warm-up, "
            f"and {got[2] / right[2]:.3g} times after it."
        )
    return (
        f"For step 5, d_model 512 and a warm-up of 4000, the paper's rate is {right[4]:.4g}; yours "
        f"is {got[4]:.4g}."
    )


def _agree(got: list[float], expected: list[float]) -> bool:
    return all(math.isclose(a, b, rel_tol=1e-4) for a, b in zip(got, expected, strict=True))


@exercise("10.1")
def check_repaired_step(answer: Callable[..., object]) -> None:
    """Exercise 10.1: one training step, free of the friend's mistakes."""
    batches = [make_batch(pairs) for pairs in BATCHES]
    model, modes, steps, fed = _fresh_model(), [], [], []

    def see(module: nn.Module, args: tuple, kwargs: dict, _: Tensor) -> None:
        modes.append(all(part.training for part in module.modules()))
        right = (batch.source_ids, batch.decoder_input_ids)
        fed.append(all(map(torch.equal, [*args, *kwargs.values()], right)))

    model.register_forward_hook(see, with_kwargs=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    optimizer.register_step_post_hook(lambda *_: steps.append(1))
    path, losses = [_weights(model)], []
    for batch in batches:
        losses.append(_taken(answer, model, batch, optimizer))
        path.append(_weights(model))
    if not modes:
        raise AnswerError("Your step never calls the model: the call gives the logits.")
    if not steps and not _same(path[0], path[-1]):
        raise AnswerError(
            "The weights change, but the optimizer that your function gets never takes a step."
        )
    _require_right_path(path, batches, is_training=all(modes), is_fed=all(fed))
    if not all(modes):
        raise AnswerError(
            "The logits are computed in evaluation mode: model.train() comes after them, too late "
            "for this step."
            if all(part.training for part in model.modules())
            else "The model learns in evaluation mode: nothing in your step switches dropout on."
        )
    if not math.isclose(
        require_number(losses[0]), _loss(_fresh_model(), batches[0], SMOOTHING).item(), rel_tol=1e-4
    ):
        raise AnswerError("The weights are right. Return the loss, too.")
    model = _fresh_model()
    plain, optimizer = _loss(model, batches[0], 0.0).item(), torch.optim.SGD(model.parameters())
    unsmoothed = require_number(_taken(answer, model, batches[0], optimizer, 0.0))
    if not math.isclose(unsmoothed, plain, rel_tol=1e-4):
        raise AnswerError("Right with smoothing=0.1, wrong with smoothing=0: hand `smoothing` on.")


def _taken(
    answer: object,
    model: nn.Module,
    batch: Batch,
    optimizer: torch.optim.Optimizer,
    smoothing: float = SMOOTHING,
) -> object:
    """What the reader's step returns; it changes the model."""
    try:
        return ask(answer, model, batch, optimizer, smoothing)
    except RuntimeError as error:
        if "inplace operation" in str(error):
            raise AnswerError(
                "step() has changed the weights before backward() had used them."
            ) from None
        raise


def _require_right_path(
    path: list[list[Tensor]], batches: list[Batch], *, is_training: bool, is_fed: bool
) -> None:
    """Raise a hint unless the weights move as they should, or by a gradient of another length."""
    if all(_same(*pair) for pair in zip(path, _path(batches), strict=True)):
        return
    if _same(path[1], path[0]):
        if _same(path[2], path[0]):
            raise AnswerError(
                "No weight has changed. First backward() computes the gradients, then step() uses "
                "them; in between they must not be forgotten."
            )
        raise AnswerError("step() uses gradients of the step before: backward() comes first.")
    factors = [
        _factor(before, after, _gradients(batch, before))
        for before, after, batch in zip(path[:-1], path[1:], batches, strict=True)
    ]
    if None not in factors and _is_clipped(factors, path):
        return
    for count in range(1, len(MISTAKEN_STEPS) + 1):
        for chosen in combinations(MISTAKEN_STEPS, count):
            if _same(path[-1], _path(batches, chosen)[-1]):
                left = count + (not is_training)
                several = f"{left} mistakes are left. One of them: " if left > 1 else ""
                raise AnswerError(several + MISTAKEN_STEPS[chosen[0]])
    if None not in factors:
        raise AnswerError(
            f"In the first step, the weights move {factors[0]:.3g} times as far as they should. Is "
            "the loss the mean over all labels but padding, and is there one step()?"
        )
    raise AnswerError(
        "The model gets the right tensors, but the gradients are others: what is the loss computed "
        "from, and with which settings?"
        if is_fed
        else "The model gets other tensors than it should: the source, and the tokens before each "
        "label."
    )


def _factor(before: list[Tensor], after: list[Tensor], gradient: list[Tensor]) -> float | None:
    """By which multiple of RATE and the gradient the weights have moved; None if by another way."""
    moved, way = (
        torch.cat([each.flatten() for each in some])
        for some in ([a - b for a, b in zip(before, after, strict=True)], gradient)
    )
    factor = (moved @ way / (RATE * way @ way)).item()
    is_along = torch.allclose(moved, factor * RATE * way, atol=1e-5)
    return factor if is_along and factor > 0 else None


def _is_clipped(factors: list[float], path: list[list[Tensor]]) -> bool:
    """Whether each gradient that was shortened got the same length, and no other is longer."""
    lengths = [
        torch.cat([(b - a).flatten() for a, b in zip(*pair, strict=True)]).norm().item()
        for pair in pairwise(path)
    ]
    shortened = [n for n, factor in enumerate(factors) if factor < 0.999]
    return max(factors) < 1.001 and all(
        math.isclose(lengths[n], max(lengths), rel_tol=1e-3) for n in shortened
    )


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
    model: nn.Module, batch: Batch, smoothing: float, mistakes: Collection[str] = ()
) -> Tensor:
    """The loss of a step, with some of MISTAKEN_STEPS."""
    reads = batch.label_ids if "unshifted" in mistakes else batch.decoder_input_ids
    logits = model(batch.source_ids, reads)
    return F.cross_entropy(
        (logits.softmax(dim=-1) if "softmaxed" in mistakes else logits).flatten(0, 1),
        batch.label_ids.flatten(),
        ignore_index=-100 if "padded" in mistakes else PADDING_ID,
        label_smoothing=0.0 if "unsmoothed" in mistakes else smoothing,
        reduction="sum" if "summed" in mistakes else "mean",
    )


def _gradients(batch: Batch, weights: list[Tensor], mistakes: Collection[str] = ()) -> list[Tensor]:
    """The gradients of a model with these weights."""
    model = _fresh_model()
    with torch.no_grad():
        for weight, value in zip(model.parameters(), weights, strict=True):
            weight.copy_(value)
    _loss(model, batch, SMOOTHING, mistakes).backward()
    return [weight.grad for weight in model.parameters()]


def _path(batches: list[Batch], mistakes: Collection[str] = ()) -> list[list[Tensor]]:
    """The weights before the first step and after each one, with some of MISTAKEN_STEPS."""
    path, before = [_weights(_fresh_model())], None
    for batch in batches:
        gradients = _gradients(batch, path[-1], mistakes)
        if "stale" in mistakes and before is not None:
            gradients = [new + old for new, old in zip(gradients, before, strict=True)]
        moved = zip(path[-1], gradients, strict=True)
        path.append([weight - RATE * gradient for weight, gradient in moved])
        before = gradients
    return path


def finished_step(answer: object) -> Callable[..., float]:
    """The reader's training step, or the course's where it is not right: this is printed.

    What is returned takes the same and gives the loss as a plain number.
    """
    step = _yours_or_ours(answer, our_step, check_repaired_step, "training step")
    return lambda *given: torch.as_tensor(step(*given)).item()


def finished_rate(answer: object) -> Callable[..., float]:
    """The reader's learning rate, or the course's where it is not right: this is printed."""
    return _yours_or_ours(answer, our_rate, check_learning_rate, "learning rate")


def _yours_or_ours(
    answer: object, ours: Callable, check: Callable[[object], None], name: str
) -> Callable:
    said = StringIO()
    with redirect_stdout(said), suppress(AnswerError):
        check(answer)
    if "is correct" in said.getvalue():
        print(f"Your {name}.")
        return answer
    print(f"The course's {name}, because yours is not right yet.")
    return ours
