"""Checks of lesson 11: diagnosis. Three patients are repaired."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_course.asking.answer import (
    AnswerError,
    ask,
    close,
    exercise,
    refuse_mistakes,
    require_class,
    require_gradients,
    require_shape,
    require_true_gradient,
    require_untouched,
)
from transformer_course.diagnosis.patients import LOSS, Loss, findings_of
from transformer_edu.model.special_ids import END_ID, PADDING_ID, START_ID

VOCABULARY = 20
SAME = 1e-5
NARROW, WIDE = 12, 20  # d_model and d_ff of a class that is checked alone
RATE = 0.1  # of dropout; with one half, numbers that are kept and dropped would not differ
AXES = "(batch, position, d_model)"
# What to think about when a repair leaves an illness, or brings one.
HINTS = {
    "the future leaks around the mask": "A number that all positions share still goes into each "
    "vector. Over which axis is each mean taken?",
    "a row sees its neighbors": "The rows of the batch share numbers: a mean runs over axis 0, or "
    "over all axes.",
    "padding has a loss": "The labels that are padding still have a gradient.",
    "the end token is not trained": "The end token's label still has no gradient: a model trained "
    "with this loss never learns to stop.",
    "labels come from elsewhere": "By its gradient, this loss does not train the words of a row: "
    "look at the labels, and at what becomes of the logits.",
    "labels are shifted twice": "The decoder reads a token and is trained to say the one after the "
    "next.",
    "labels are not shifted": "The decoder reads the tokens that it has to predict.",
    "parameters get no gradient": "forward does not use all of them, or detach() or "
    "no_grad() stops the gradient.",
    "the loss is not the cross-entropy": "The loss wants logits, not probabilities.",
    "the loss has no softmax": "F.nll_loss wants log_softmax; F.cross_entropy has both.",
}


@exercise("11.1")
def check_repaired_norm(answer: type[nn.Module]) -> None:
    """Exercise 11.1: Add & Norm, in which each vector is normalized by itself."""
    require_class(answer, "RepairedAddAndNorm")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(11)
        x, added = torch.randn(2, 3, 5, NARROW)
        x += 3  # a mean that is not 0
        whole, calls = _built(answer, NARROW, 0.0).eval(), []
        out = _asked(whole, x, lambda y: calls.append(y) or added + 0 * y)
        if len(calls) > 1:
            raise AnswerError(f"The sub-layer runs {len(calls)} times: call it once.")
        if calls and not close(calls[0], x):
            raise AnswerError("The sub-layer must get x itself.")
        vectors = _centered(x + added)
        if _off(out, vectors / vectors.std(-1, keepdim=True)) > 0.1:
            _refuse_norms(out, x, added)
            if out.std(-1).min() > 10:  # a division by nearly 0, of which a check-up says much else
                raise AnswerError(_statistics_hint(out))
            _refuse_illness("AddAndNorm", answer, explained=True)
            raise AnswerError(_statistics_hint(out))
        small = _asked(whole, x / 10, lambda y: added / 10 + 0 * y)
        if _off(small, out) > 0.1:
            raise AnswerError(
                "Numbers a tenth as large should give nearly the same output; yours has the "
                f"standard deviation {small.std(-1).mean():.2f}, not 1. Is your epsilon small?"
            )
        if not close(
            _asked(whole.train(), x, lambda y: added), _asked(whole.eval(), x, lambda y: added)
        ):
            raise AnswerError("With dropout=0.0 numbers are dropped: use the rate that is given.")
        drops = _built(answer, NARROW, 0.5).train()
        if all(close(_asked(drops, x, lambda y: added), out) for _ in range(3)):
            raise AnswerError("The sub-layer's output is no longer dropped in training.")
        if not close(_asked(drops.eval(), x, lambda y: added), out):
            raise AnswerError("In evaluation mode, numbers of the sub-layer are dropped, too.")
        drops.train()
        if not close(_asked(drops, x, torch.zeros_like), _asked(whole, x, torch.zeros_like)):
            raise AnswerError("Dropout removes x, too: it is for the sub-layer's output.")
    if sum(weight.numel() for weight in whole.parameters()) < 2 * NARROW:
        raise AnswerError("A layer norm has a gain and a bias, which training changes: keep them.")
    require_gradients(whole, ask(whole, x, lambda y: added + 0 * y))
    require_true_gradient(whole, [x, lambda y: added + 0 * y])
    _refuse_illness("AddAndNorm", answer)
    gain, bias = ([p for p in whole.parameters() if (p == start).all()] for start in (1, 0))
    if len(gain) == len(bias) == 1:
        with torch.no_grad():
            gain[0].copy_(torch.linspace(0.5, 2, NARROW).view_as(gain[0]))
            bias[0].copy_(torch.linspace(3, 1, NARROW).view_as(bias[0]))
        expected = F.layer_norm(x + added, (NARROW,), gain[0].flatten(), bias[0].flatten())
        if _off(_asked(whole, x, lambda y: added + 0 * y), expected.detach()) > 0.1:
            raise AnswerError(
                "After training, when the gain is not 1 and the bias is not 0, the output is not "
                "gain times the normalized vector, plus bias."
            )


def _statistics_hint(out: Tensor) -> str:
    """What is said of vectors that are not those of a fresh norm(x + sublayer(x))."""
    means, spreads = out.mean(-1).flatten(), out.std(-1).flatten()
    worst = (means.abs() + (spreads - 1).abs()).argmax()
    mean, spread = round(means[worst].item(), 2) + 0.0, spreads[worst].item()  # + 0: no -0
    if abs(mean) + abs(spread - 1) < 0.1:
        return "The output is normalized, but its vectors are not those of x + sublayer(x)."
    return (
        "A vector of the output should have the mean 0 and the standard deviation 1 at first, over "
        f"its own d_model numbers; one of yours has {mean:.2f} and {spread:.2f}."
    )


def _refuse_norms(out: Tensor, x: Tensor, added: Tensor) -> None:
    """Raise the hint of what was done instead of norm(x + sublayer(x))."""

    def normed(vectors: Tensor) -> Tensor:
        return _centered(vectors) / vectors.std(-1, keepdim=True)

    mistakes = {
        "The residual is gone: add x to the sub-layer's output.": normed(added),
        "The sub-layer's output is not added to x.": normed(x),
        "The sum leaves the class as it is: the norm comes last, around x + sublayer(x).": x
        + added,
        "You divided by the variance. Its square root is the standard deviation.": (
            _centered(x + added) / _centered(x + added).square().mean(-1, keepdim=True)
        ),
        "The norm comes after the addition, around both: this is post-norm.": x + normed(added),
        "You add x again, after the norm.": x + normed(x + added),
    }
    for hint, mistake in mistakes.items():
        if _off(out, mistake) < 0.1:
            raise AnswerError(hint)


def _centered(vectors: Tensor) -> Tensor:
    """Each vector minus its own mean."""
    return vectors - vectors.mean(-1, keepdim=True)


@exercise("11.3")
def check_repaired_feed_forward(answer: type[nn.Module]) -> None:
    """Exercise 11.3: a feed-forward network that drops numbers in training only."""
    require_class(answer, "RepairedFeedForward")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(11)
        x = torch.randn(3, 5, NARROW)
        network = _built(answer, NARROW, WIDE, 0.5).eval()
        linear = [each for each in network.modules() if isinstance(each, nn.Linear)]
        if [each.out_features for each in linear] != [WIDE, NARROW]:
            raise AnswerError("Keep the two linear layers: from d_model to d_ff, and back.")
        widen, narrow = linear
        out = _asked(network, x)
        if not close(_asked(network, x), out):
            if network.training:
                raise AnswerError("Your forward changes the mode of the module, which eval() set.")
            if _makes_dropout(network, x):
                raise AnswerError(
                    "In evaluation mode two calls still differ. A new nn.Dropout is in training "
                    "mode, and eval() does not reach one that forward makes."
                )
            network.train()
            if close(_asked(network, x), _asked(network, x)):
                raise AnswerError(
                    "It is the other way round: numbers are dropped in evaluation, and in training "
                    "two calls agree."
                )
            raise AnswerError(
                "In evaluation mode two calls still differ. F.dropout does not know the mode of "
                "your module, unless you tell it: look at its argument `training`."
            )
        if not close(out, narrow(widen(x).relu())):
            raise AnswerError("Without dropout it should compute narrow(relu(widen(x))).")
        network.train()
        calls = torch.stack([_asked(network, x) for _ in range(400)])
        if close(calls[0], calls[1]) and not close(calls[0], out):
            raise AnswerError(
                "In training the output is always the same, and not that of evaluation. The second "
                "argument of F.dropout is the rate."
            )
        if close(calls[0], calls[1]):
            raise AnswerError("In training nothing is dropped any more: repair it, and keep it.")
        mean, full = calls.mean(dim=0) - narrow.bias, out - narrow.bias
        if (mean * full).sum() / full.square().sum() < 0.8:
            raise AnswerError(
                "In training the output is too small on average: what remains must be divided by "
                "1 − p, as nn.Dropout and F.dropout do."
            )
        _refuse_other_dropout(_built(answer, NARROW, NARROW, RATE), x)
        still = _built(answer, NARROW, WIDE, 0.0)
        if not close(_asked(still.train(), x), _asked(still.eval(), x)):
            raise AnswerError("With dropout=0.0 numbers are dropped: use the rate that is given.")
        require_gradients(network, ask(network.train(), x))
    _refuse_illness("FeedForward", answer)


def _makes_dropout(network: nn.Module, x: Tensor) -> bool:
    """Whether forward calls an nn.Dropout in training mode, although the network is not."""
    called: list[nn.Module] = []
    watch = nn.modules.module.register_module_forward_pre_hook
    with watch(lambda part, _: called.append(part)):
        _asked(network, x)
    return any(isinstance(part, nn.Dropout) and part.training for part in called)


def _refuse_other_dropout(network: nn.Module, x: Tensor) -> None:
    """Refuse a network, as wide inside as outside, that drops other numbers or another rate."""
    widen, narrow = (each for each in network.modules() if isinstance(each, nn.Linear))
    nn.init.orthogonal_(narrow.weight)  # so hidden numbers can be read back from the output
    out, whole = _asked(network.train(), x), _asked(network.eval(), x)
    hidden = (out - narrow.bias) @ narrow.weight
    if not _is_dropped(hidden, widen(x).relu()):
        if _is_dropped(out, whole):
            raise AnswerError(
                "Your dropout is behind narrow, so numbers of the output are dropped."
            )
        raise AnswerError(
            "In training, something else than numbers of hidden is dropped, or something more."
        )
    network.train()
    calls = torch.stack([(_asked(network, x) - narrow.bias) @ narrow.weight for _ in range(100)])
    is_on = widen(x) > 1e-3
    is_dropped = (calls.abs() < 1e-4) & is_on
    if (~is_dropped.any(dim=-1) | (is_dropped == is_on).all(dim=-1)).all():
        raise AnswerError("All numbers of a position are dropped together: drop each by itself.")
    rate = is_dropped[:, is_on].float().mean().item()
    if abs(rate - RATE) > 0.03:
        raise AnswerError(
            f"With dropout={RATE}, about {rate:.0%} of the hidden numbers are dropped in "
            "training: use the rate that is given."
        )


def _is_dropped(numbers: Tensor, whole: Tensor) -> bool:
    """Whether each number is 0, or larger by a factor that all of them share."""
    kept = numbers.abs() > 1e-4
    factor = (numbers * whole)[kept].sum() / whole[kept].square().sum()
    return bool((torch.minimum(numbers.abs(), (numbers - factor * whole).abs()) < 1e-3).all())


@exercise("11.4", sizes="2 rows, 4 labels in each, and a vocabulary of 20")
def check_repaired_loss(answer: Loss) -> None:
    """Exercise 11.4: the cross-entropy of the next tokens, the end token's included."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(11)
        logits = torch.randn(2, 5, VOCABULARY, requires_grad=True)
    model = _Scripted(logits)
    target_ids = torch.tensor([[START_ID, 4, 5, 6, END_ID], [START_ID, 7, END_ID, 0, 0]])
    given = target_ids.clone()
    source_ids = torch.tensor([[4, 5, 6], [7, 8, 0]])
    loss = ask(answer, model, source_ids.clone(), given)
    require_untouched([given], [target_ids])
    if not isinstance(loss, Tensor) or loss.dim():
        got = f"shape {tuple(loss.shape)}" if isinstance(loss, Tensor) else type(loss).__name__
        raise AnswerError(f"The loss must be a tensor with a single number; yours is of {got}.")
    if not loss.requires_grad:
        raise AnswerError("Your loss has no gradient (requires_grad is False): nothing is trained.")
    if not model.source.equal(source_ids):
        raise AnswerError("The model's first argument is the source; yours gives it other ids.")
    labels = target_ids[:, 1:]
    right = F.cross_entropy(logits[:, :4].transpose(1, 2), labels, ignore_index=PADDING_ID)
    if close(loss.detach(), -right.detach()):
        raise AnswerError("Your loss is negative: a training would make the labels less probable.")
    behind = F.cross_entropy(logits[:, :4].transpose(1, 2), target_ids[:, :-1], ignore_index=0)
    if close(loss.detach(), behind.detach()):
        said = "Your decoder reads a token and is trained to say the one before it."
        if target_ids[:, :-1].equal(model.read):
            said = "Your decoder is trained to say the token that it reads, not the next one."
        raise AnswerError(said)
    _refuse_other_order(loss, right, logits, model.read)
    _refuse_illness(LOSS, answer)
    costs = F.cross_entropy(logits[:, :4].transpose(1, 2), labels, reduction="none")
    costs, is_label = costs * (labels != PADDING_ID), labels != PADDING_ID
    known_mistakes = {
        "Your loss is a sum over the labels: take their mean.": costs.sum(),
        "Your mean also counts the labels that are padding.": costs.mean(),
        "Your loss is the mean of one mean for each row: every label counts the same.": (
            costs.sum(dim=1) / is_label.sum(dim=1)
        ).mean(),
    }
    refuse_mistakes(loss.detach(), {hint: each.detach() for hint, each in known_mistakes.items()})
    if not close(loss.detach(), right.detach()):
        raise AnswerError(
            "The loss should be the mean of the cross-entropy over all labels but padding."
        )


def _refuse_other_order(loss: Tensor, right: Tensor, logits: Tensor, read: Tensor) -> None:
    """Refuse a loss that does not bring each position together with its own label."""
    (wanted,) = torch.autograd.grad(right, logits, retain_graph=True)
    (found,) = torch.autograd.grad(loss, logits, create_graph=True, allow_unused=True)
    if found is None or not found.requires_grad:
        return  # an illness: nothing is trained, or there is no softmax
    first = found[0, 0] @ torch.arange(1.0, 1 + VOCABULARY)
    (joined,) = torch.autograd.grad(first, logits, retain_graph=True)
    if joined.flatten(0, 1)[1:].abs().max() > SAME:
        raise AnswerError(
            "The softmax must run over the vocabulary of a single position; yours joins logits of "
            "several positions. (A reshape is no transpose.)"
        )
    raised, right_ones = ((gradient < 0).nonzero() for gradient in (found, wanted))
    tokens, right_tokens = (places[:, 2].sort().values for places in (raised, right_ones))
    if tokens.equal(right_tokens) and not raised.equal(right_ones):
        if all(read[row, place] == token for row, place, token in raised.tolist()):
            return  # an illness: the labels are read
        raise AnswerError("The right tokens are trained, but at each other's positions.")


class _Scripted(nn.Module):
    """Answers any ids with the first of its logits."""

    def __init__(self, logits: Tensor) -> None:
        super().__init__()
        self.logits, self.source, self.read = logits, torch.empty(0), torch.empty(0)

    def forward(self, source_ids: Tensor, target_ids: Tensor) -> Tensor:
        self.source, self.read = source_ids, target_ids
        return 1 * self.logits[:, : target_ids.size(1)]


def _built(answer: type[nn.Module], *sizes: float) -> nn.Module:
    try:
        return answer(*sizes)
    except TypeError as error:
        raise AnswerError(f"Keep the arguments of the friend's __init__: {error}.") from None


def _asked(module: nn.Module, *given: Tensor | Callable[[Tensor], Tensor]) -> Tensor:
    """What a repaired class answers, of the input's shape."""
    x, *others = given
    copy = x.clone()
    try:
        answer = ask(module, copy, *others)
    except RuntimeError as error:
        if not others or "must match the size" not in str(error):
            raise
        raise AnswerError(
            f"forward stops: {error}. Has a mean lost its axis (keepdim=True keeps it), or "
            "are axes exchanged?"
        ) from None
    require_untouched([copy], [x])
    return require_shape(answer, tuple(x.shape), AXES).detach()


def _off(out: Tensor, expected: Tensor) -> float:
    """How far two tensors are apart, as a part of the second."""
    return ((out - expected).norm() / expected.norm()).item()


def _refuse_illness(kind: str, answer: type[nn.Module] | Loss, *, explained: bool = False) -> None:
    """Raise a hint if a check-up of the repaired patient finds an illness, or one of HINTS."""
    for found in findings_of(kind, answer):
        if found.illness and (not explained or found.illness in HINTS):
            hint = HINTS.get(found.illness, found.cause)
            raise AnswerError(f"The check-up finds: {found.illness}. {hint}")
