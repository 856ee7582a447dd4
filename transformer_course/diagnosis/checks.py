"""Checks of lesson 11: diagnosis. Three patients are repaired, and a probe is written."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_course.asking.answer import (
    AnswerError,
    ask,
    close,
    exercise,
    require_class,
    require_number,
    require_shape,
    require_untouched,
)
from transformer_course.breaking.faults import FAULTS
from transformer_course.diagnosis.patients import LOSS, Loss, findings_of
from transformer_edu.data.batches import make_batch
from transformer_edu.model.special_ids import END_ID, PADDING_ID, START_ID
from transformer_edu.model.transformer import Transformer, TransformerConfig

SIZES = {"d_model": 48, "num_heads": 4, "num_layers": 2, "d_ff": 192, "max_length": 64}
VOCABULARY = 20
# The logits that move most are neither in the first row nor in the last.
SAMPLE = [([8, 9], [9, 8]), ([4, 5, 6, 7], [7, 6, 5, 4]), ([4, 4, 11], [11, 4, 4])]
PADDING = 3  # columns that a reader's probe appends
SAME = 1e-5
NARROW, WIDE = 12, 20  # d_model and d_ff of a class that is checked alone
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
    "labels are not shifted": "The decoder reads the tokens that it has to predict.",
    "parameters get no gradient": "forward does not use all of them (a layer norm needs its "
    "gain and its bias), or detach() or no_grad() stops the gradient.",
    "the loss is not the cross-entropy": "The loss wants logits, not probabilities.",
}


@exercise("11.1")
def check_repaired_norm(answer: type[nn.Module]) -> None:
    """Exercise 11.1: Add & Norm, in which each vector is normalized by itself."""
    require_class(answer, "RepairedAddAndNorm")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(11)
        x, added = torch.randn(2, 3, 5, NARROW)
        whole = _built(answer, NARROW, 0.0).eval()
        out = _asked(whole, x, lambda y: added + 0 * y)
        vectors = _centered(x + added)
        if _off(out, vectors / vectors.std(-1, keepdim=True)) > 0.1:
            _refuse_norms(out, x, added)
            _refuse_illness("AddAndNorm", answer)
            raise AnswerError(
                "A vector of the output should have the mean 0 and the standard deviation 1 at "
                "first, over its own d_model numbers."
            )
        drops = _built(answer, NARROW, 0.5).train()
        if all(close(_asked(drops, x, lambda y: added), out) for _ in range(3)):
            raise AnswerError("The sub-layer's output is no longer dropped in training.")
        if not close(_asked(drops, x, torch.zeros_like), _asked(whole, x, torch.zeros_like)):
            raise AnswerError("Dropout removes x, too: it is for the sub-layer's output.")
    if sum(weight.numel() for weight in whole.parameters()) < 2 * NARROW:
        raise AnswerError("A layer norm has a gain and a bias, which training changes: keep them.")
    _refuse_illness("AddAndNorm", answer)


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
            if _makes_dropout(network, x):
                raise AnswerError(
                    "In evaluation mode two calls still differ. Your forward makes a new "
                    "nn.Dropout in every call, and a new module is in training mode."
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
        still = _built(answer, NARROW, WIDE, 0.0).train()
        if not close(_asked(still, x), _asked(still, x)):
            raise AnswerError("With dropout=0.0 numbers are dropped: use the rate that is given.")
        _refuse_other_dropout(_built(answer, NARROW, NARROW, 0.5), x)
    _refuse_illness("FeedForward", answer)


def _makes_dropout(network: nn.Module, x: Tensor) -> bool:
    """Whether forward calls an nn.Dropout that the network does not hold."""
    called: list[nn.Module] = []
    watch = nn.modules.module.register_module_forward_pre_hook
    with watch(lambda part, _: called.append(part)):
        _asked(network, x)
    held = {*network.modules()}
    return any(isinstance(part, nn.Dropout) and part not in held for part in called)


def _refuse_other_dropout(network: nn.Module, x: Tensor) -> None:
    """Refuse a network, as wide inside as outside, that drops anything but its hidden numbers."""
    widen, narrow = (each for each in network.modules() if isinstance(each, nn.Linear))
    nn.init.orthogonal_(narrow.weight)  # so hidden numbers can be read back from the output
    out, whole = _asked(network.train(), x), _asked(network.eval(), x)
    hidden = (out - narrow.bias) @ narrow.weight
    if not _is_dropped(hidden, widen(x).relu()):
        if _is_dropped(out, whole):
            raise AnswerError(
                "Your dropout is behind narrow, so numbers of the output are dropped."
            )
        raise AnswerError("What is dropped in training is not a number of hidden.")


def _is_dropped(numbers: Tensor, whole: Tensor) -> bool:
    """Whether each number is 0 or, as after a dropout of one half, twice as large."""
    return bool((torch.minimum(numbers.abs(), (numbers - 2 * whole).abs()) < 1e-4).all())


@exercise("11.4", sizes="2 rows, 4 labels in each, and a vocabulary of 20")
def check_repaired_loss(answer: Loss) -> None:
    """Exercise 11.4: the cross-entropy of the next tokens, the end token's included."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(11)
        logits = torch.randn(2, 5, VOCABULARY, requires_grad=True)
    model = _Scripted(logits)
    target_ids = torch.tensor([[START_ID, 4, 5, 6, END_ID], [START_ID, 7, END_ID, 0, 0]])
    loss = ask(answer, model, torch.tensor([[4, 5, 6], [7, 8, 0]]), target_ids)
    if not isinstance(loss, Tensor) or loss.dim() or not loss.requires_grad:
        raise AnswerError("The loss is a tensor with a single number, and knows its gradient.")
    labels = target_ids[:, 1:]
    right = F.cross_entropy(logits[:, :4].transpose(1, 2), labels, ignore_index=PADDING_ID)
    if close(loss.detach(), -right.detach()):
        raise AnswerError("Your loss is negative: a training would make the labels less probable.")
    _refuse_illness(LOSS, answer)
    real = int((labels != PADDING_ID).sum())
    if not any(close(loss.detach(), each.detach()) for each in (right, right * real)):
        raise AnswerError(
            "The loss should be the mean of the cross-entropy over all labels but padding."
        )


class _Scripted(nn.Module):
    """Answers any ids with the first of its logits."""

    def __init__(self, logits: Tensor) -> None:
        super().__init__()
        self.logits = logits

    def forward(self, source_ids: Tensor, target_ids: Tensor) -> Tensor:
        return self.logits[:, : target_ids.size(1)]


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
        raise AnswerError(
            f"forward stops: {error}. A mean over the last axis keeps its place with keepdim=True."
        ) from None
    require_untouched([copy], [x])
    return require_shape(answer, tuple(x.shape), AXES).detach()


def _off(out: Tensor, expected: Tensor) -> float:
    """How far two tensors are apart, as a part of the second."""
    return ((out - expected).norm() / expected.norm()).item()


def _refuse_illness(kind: str, answer: type[nn.Module] | Loss) -> None:
    """Raise a hint if a check-up of the repaired patient finds an illness."""
    for found in findings_of(kind, answer):
        if found.illness:
            hint = HINTS.get(found.illness, found.cause)
            raise AnswerError(f"The check-up finds: {found.illness}. {hint}")


@exercise("11.2")
def check_padding_probe(answer: Callable[[nn.Module, Tensor, Tensor], float]) -> None:
    """Exercise 11.2: how far more padding in the source moves the logits."""
    batch = make_batch(SAMPLE)
    sample = (batch.source_ids, batch.decoder_input_ids)
    for name in ("source padding visible", "padding hidden as queries", None):
        model, calls = _probed(name), []
        right = _moved(model, *sample)
        model.register_forward_pre_hook(lambda _, given, seen=calls: seen.append(given))
        got = require_number(ask(answer, model, *(ids.clone() for ids in sample)))
        if not _near(got, right):
            raise AnswerError(_hint(model, sample, got, right))
        if any(len(given) > 1 and given[1].shape != sample[1].shape for given in calls):
            raise AnswerError("You pad the target, too: a probe changes one thing only.")
        if model.training:
            raise AnswerError("Your probe leaves the model in training mode, with its dropout on.")


def _probed(fault: str | None) -> Transformer:
    """A small model in evaluation mode, with this fault or none."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        kind = Transformer if fault is None else FAULTS[fault]
        return kind(TransformerConfig(vocabulary_size=VOCABULARY, **SIZES, dropout=0.0)).eval()


@torch.no_grad()
def _moved(
    model: nn.Module,
    source_ids: Tensor,
    target_ids: Tensor,
    *,
    left: bool = False,
    value: int = 0,
    measure: Callable[[Tensor], Tensor] = lambda change: change.abs().max(),
) -> float:
    """The largest change of a logit; every argument that is set is a mistake."""
    padding = (PADDING, 0) if left else (0, PADDING)
    before = model(source_ids, target_ids)
    return measure(model(F.pad(source_ids, padding, value=value), target_ids) - before).item()


def _near(first: float, second: float) -> bool:
    return abs(first - second) < max(SAME, 1e-3 * abs(second))


def _hint(model: nn.Module, sample: tuple[Tensor, Tensor], got: float, right: float) -> str:
    """What is wrong with an answer."""
    mistakes = {
        "You put the padding before the words, so their positions changed: append it.": {
            "left": True
        },
        "You appended the start token. Padding has the id 0.": {"value": 1},
        "You appended the end token. Padding has the id 0.": {"value": 2},
        "You took the mean, in which changes cancel out.": {"measure": Tensor.mean},
        "You took the mean. A single logit that moves hides in it.": {
            "measure": lambda change: change.abs().mean()
        },
        "A logit that falls has a negative change: your number leaves it out.": {
            "measure": Tensor.max
        },
    }
    for hint, how in mistakes.items():
        if _near(got, _moved(model, *sample, **how)) and not _near(right, got):
            return hint
    if got < SAME:
        return (
            "Your probe finds nothing in a model whose source padding is visible: pad the source, "
            "not the target."
        )
    return (
        f"Your number, {got:.4g}, is not the largest absolute change of a logit: compare the "
        f"model's logits before and after {PADDING} columns of padding were appended."
    )
