"""Checks of lesson 6: feed-forward and Add & Norm."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from transformer_course.asking.answer import (
    AnswerError,
    ask,
    close,
    exercise,
    let_wait,
    refuse_mistakes,
    require_class,
    require_gradients,
    require_module,
    require_shape,
    require_untouched,
)
from transformer_course.my_transformer import keep
from transformer_edu.model.add_and_norm import AddAndNorm
from transformer_edu.model.feed_forward import FeedForward

SHAPE = (2, 3, 5)  # batch, position, d_model: every length another
D_MODEL, D_FF, DROPOUT = 5, 7, 0.25
AXES = "(batch, position, d_model)"


@exercise("6.1")
def check_feed_forward(answer: type[nn.Module]) -> None:
    """Exercise 6.1: a class FeedForward(d_model, d_ff), which gets the package's weights.

    It is kept in the reader's own file.
    """
    require_class(answer, "FeedForward")
    x, package = _random_input(), _random_weights(FeedForward(d_model=D_MODEL, d_ff=D_FF))
    network = answer(D_MODEL, D_FF)
    let_wait(network, x)
    _require_linear(network, "widen", D_MODEL, D_FF)
    _require_linear(network, "narrow", D_FF, D_MODEL)
    _load(network, package)
    received = require_shape(require_module(network, x), SHAPE, AXES)
    require_gradients(network, received)
    with torch.no_grad():
        if not close(received, package(x)):
            raise AnswerError(_feed_forward_hint(network, package, received, x))
        if not close(network(100 * x), package(100 * x)):
            raise AnswerError("Right for small numbers, wrong for large ones: a ReLU has no limit.")
        try:
            alone = network(x[0])
        except (RuntimeError, ValueError, IndexError) as error:
            raise AnswerError(
                "Right for a batch; for a sentence alone, (position, d_model), forward stops: "
                f"{error}. Use the last axis only, and it takes both."
            ) from None
        if not close(alone, received[0]):
            raise AnswerError("Right for a batch, wrong for a sentence alone, (position, d_model).")
    keep(answer)


def _feed_forward_hint(
    network: nn.Module, package: FeedForward, received: Tensor, x: Tensor
) -> str:
    """What an output of the right shape with wrong numbers comes from."""
    wide = package.widen(x)
    known_mistakes = {
        "The ReLU is missing between the two layers.": package.narrow(wide),
        "The ReLU belongs between the two layers, not after the second.": (
            package.narrow(wide).relu()
        ),
        "There is one ReLU only, between the two layers: the output may be negative.": (
            package.narrow(wide.relu()).relu()
        ),
        "The feed-forward network does not add x: AddAndNorm will.": x + package(x),
        "You return x itself.": x,
        "The ReLU acts on x; it belongs between the two layers.": package.narrow(
            package.widen(x.relu())
        ),
    }
    for hint, mistake in known_mistakes.items():
        if close(received, mistake):
            return hint
    others = x.roll(1, dims=1)
    others[:, 0] = x[:, 0]
    if not close(network(others)[:, 0], received[:, 0]):
        return "The output of a word changes with the other words: each word must go alone."
    for layer in (network.widen, network.narrow):  # the first numbers pass through both layers
        nn.init.eye_(layer.weight)
        nn.init.zeros_(layer.bias)
    values = [float(network(torch.full((1, 1, D_MODEL), v))[0, 0, 0]) for v in (1.0, -1.0)]
    if not close(torch.tensor(values), torch.tensor([1.0, 0.0])):
        return (
            f"When both layers only pass numbers on, your network makes {values[0]:.2f} of 1 and "
            f"{values[1]:.2f} of -1. A ReLU makes 1 and 0."
        )
    return "The ReLU is right. What else happens to its input, or after it?"


@exercise("6.2")
def check_add_and_norm(answer: type[nn.Module]) -> None:
    """Exercise 6.2: a class AddAndNorm(d_model, dropout=0.1), which gets the package's weights.

    It is kept in the reader's own file.
    """
    require_class(answer, "AddAndNorm")
    package = _random_weights(AddAndNorm(d_model=D_MODEL)).eval()
    around = answer(D_MODEL, DROPOUT).eval()
    x, sublayer = 3 * _random_input(), _a_sublayer()
    let_wait(around, x, sublayer)
    if not isinstance(getattr(around, "norm", None), nn.LayerNorm):
        raise AnswerError("__init__ must set self.norm to an nn.LayerNorm(d_model).")
    if not isinstance(getattr(around, "dropout", None), nn.Dropout):
        raise AnswerError("__init__ must set self.dropout to an nn.Dropout(dropout).")
    if around.dropout.p != DROPOUT:
        raise AnswerError("nn.Dropout must get the argument dropout, whatever it is.")
    if around.norm.bias is None or around.norm.weight is None:
        raise AnswerError("The norm of the paper has a γ and a β: nn.LayerNorm(d_model) has both.")
    if around.norm.normalized_shape != (D_MODEL,):
        raise AnswerError(
            "A norm acts on the d_model numbers of one word; yours has the shape "
            f"{tuple(around.norm.normalized_shape)}."
        )
    _load(around, package)
    received = require_shape(require_module(around, x, sublayer), SHAPE, AXES)
    require_gradients(around, received)
    with torch.no_grad():
        if not close(received, package(x, sublayer)):
            raise AnswerError(_sum_hint(around, package.norm, received, x))
        _require_dropout(around.train(), x, sublayer)
        _require_amount(answer)
    keep(answer)


def _sum_hint(around: nn.Module, norm: nn.LayerNorm, received: Tensor, x: Tensor) -> str:
    """What an output of the right shape with wrong numbers comes from."""
    sublayer, given = _a_sublayer(), []

    def record(y: Tensor) -> Tensor:
        given.append(y)
        return sublayer(y)

    around(x, record)
    if len(given) != 1:
        return f"The sub-layer must be called once; yours is called {len(given)} times."
    if close(received, norm(x + sublayer(norm(x)))):
        return "The sub-layer must get x itself; yours gets norm(x)."
    if close(given[0], norm(x)):
        return "That is pre-norm: the sub-layer gets norm(x). The paper normalizes the sum."
    if not close(given[0], x):
        return "The sub-layer must get x itself."
    known_mistakes = {
        "The residual connection is missing: x is not added.": norm(sublayer(x)),
        "The norm is missing: normalize the sum.": x + sublayer(x),
        "You normalized the sub-layer's output. Post-norm normalizes the sum.": (
            x + norm(sublayer(x))
        ),
        "You normalized x alone. Post-norm normalizes the sum.": norm(x) + sublayer(x),
        "You normalized x and the sub-layer's output apart. Post-norm normalizes their sum.": (
            norm(x) + norm(sublayer(x))
        ),
        "x is normalized twice: once alone, and once in the sum.": norm(norm(x) + sublayer(x)),
        "The sub-layer's output is lost: the norm gets x alone, or x twice.": norm(x),
        "The sum is normalized twice.": norm(norm(x + sublayer(x))),
    }
    for hint, mistake in known_mistakes.items():
        if close(received, mistake):
            return hint
    if not close(around(x, torch.zeros_like), norm(x)):
        return (
            "If the sub-layer returns zeros, norm(x) must remain. (The check gives γ and β numbers "
            "of its own.) Yours is different."
        )
    return "The sub-layer's output and x must be added as they are."


def _require_dropout(around: nn.Module, x: Tensor, sublayer: nn.Module) -> None:
    """Refuse a module that drops nothing in training, or parts of the residual path."""
    around.dropout.p = 1.0  # everything is dropped: only x is left
    kept = ask(around, x, sublayer)
    if close(kept, around.norm(x)):
        return
    if close(kept, around.norm(x + sublayer(x))):
        raise AnswerError("Dropout is never used: apply self.dropout to the sub-layer's output.")
    if close(kept, around.norm(torch.zeros_like(x))):
        raise AnswerError("Dropout removes x, too; the paper drops only the sub-layer's output.")
    raise AnswerError(
        "Dropout is at another place, or drops another fraction: in training, self.dropout must "
        "act on the sub-layer's output, and on nothing else."
    )


def _require_amount(answer: type[nn.Module]) -> None:
    """Refuse a module that drops another fraction of the sub-layer's output than it should."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(6)
        around = answer(4000, DROPOUT).train()
        kept = around(torch.zeros(1, 1, 4000), lambda x: x + 1) > 0  # the mean of the others is 0
    dropped = 1 - float(kept.float().mean())
    if abs(dropped - DROPOUT) > 0.05:
        raise AnswerError(
            f"With dropout={DROPOUT}, {dropped:.0%} of the sub-layer's output are dropped: use "
            "self.dropout once."
        )


@exercise("6.3")
def check_erased(answer: Callable[[Tensor], Tensor]) -> None:
    """Exercise 6.3: a sub-layer after which a fresh Add & Norm gives only zeros."""
    x = 3 * _random_input().double()  # in 32 bits, a huge number would erase x by rounding
    around = AddAndNorm(d_model=D_MODEL).double().eval()
    with torch.no_grad():
        given = x.clone()
        removed = require_shape(ask(answer, given), SHAPE, AXES)
        require_untouched([given], [x])
        if close(removed, torch.zeros_like(x)):
            raise AnswerError("Zeros change nothing: x + 0 is x, and the norm of x is not zero.")
        if close(removed, x):
            raise AnswerError("x + x is 2x, and the norm of 2x is that of x.")
        if not removed.abs().max() < 1e12:
            raise AnswerError("A number as large as yours hides x by rounding, or gives NaN.")
        if around(x, lambda _: removed).abs().max() > 1e-2:  # equal numbers leave rounding errors
            left = x + removed
            raise AnswerError(
                "The norm does not return zeros: the numbers of x + erase(x) in one position still "
                f"differ, by up to {(left.amax(-1) - left.amin(-1)).max():.3g}. The norm removes "
                "only what all numbers of a position have in common."
            )


@exercise("6.4")
def check_pre_norm(answer: Callable[[Tensor, nn.Module, nn.Module], Tensor]) -> None:
    """Exercise 6.4: x + sublayer(norm(x))."""
    x, sublayer = 3 * _random_input(), _a_sublayer()
    norm = _random_weights(nn.LayerNorm(D_MODEL))
    with torch.no_grad():
        given = x.clone()
        result = require_shape(ask(answer, given, norm, sublayer), SHAPE, AXES)
        require_untouched([given], [x])
        known_mistakes = {
            "That is the friend's version: add the unchanged x to the branch.": (
                norm(x) + sublayer(norm(x))
            ),
            "That is post-norm: the norm is on the residual stream, after the addition.": (
                norm(x + sublayer(x))
            ),
            "The residual connection is missing: add x itself.": sublayer(norm(x)),
            "The norm is at the wrong end of the branch: it comes before the sub-layer.": (
                x + norm(sublayer(x))
            ),
            "The norm is missing: the sub-layer should get norm(x).": x + sublayer(x),
            "One norm is too many: the output of the sub-layer goes to the sum as it is.": (
                x + norm(sublayer(norm(x)))
            ),
            "One norm is too many: there is none after the addition.": (
                norm(x + sublayer(norm(x)))
            ),
        }
        refuse_mistakes(result, known_mistakes)
        if not close(result, x + sublayer(norm(x))):
            got: list[Tensor] = []
            if close(ask(answer, x, norm, lambda v: torch.zeros_like(got.append(v) or v)), x):
                if any(close(each, norm(x)) for each in got):
                    raise AnswerError("The sub-layer's output is added to x as it is, once.")
                raise AnswerError("The sub-layer does not get norm(x).")
            raise AnswerError("If the sub-layer returns zeros, x must come out unchanged.")


def _require_linear(network: nn.Module, name: str, width_in: int, width_out: int) -> None:
    """Refuse a missing layer, one without bias, and wrong widths, each with its hint."""
    layer = getattr(network, name, None)
    if not isinstance(layer, nn.Linear):
        raise AnswerError(f"__init__ must set self.{name} to an nn.Linear.")
    if (layer.in_features, layer.out_features) != (width_in, width_out):
        raise AnswerError(
            f"{name} must go from {width_in} to {width_out} numbers here; yours is "
            f"nn.Linear({layer.in_features}, {layer.out_features})."
        )
    if layer.bias is None:
        raise AnswerError(f"The paper's feed-forward network has biases: {name} needs one.")


def _load(answer: nn.Module, package: nn.Module) -> None:
    """Carry the package's weights into the reader's module."""
    more = sorted(answer.state_dict().keys() - package.state_dict().keys())
    if more and len(answer.state_dict()) > len([*answer.parameters(), *answer.buffers()]):
        raise AnswerError(
            f"A layer has two names, one of them in {more[0]}. Lesson 9 finds your layers by name: "
            "give each one only."
        )
    if more:
        raise AnswerError(f"Your module has weights that it does not need: {more[0]}.")
    answer.load_state_dict(package.state_dict())


def _random_weights(module: nn.Module) -> nn.Module:
    """The module with random numbers in all weights, biases too; the same every time."""
    generator = torch.Generator().manual_seed(6)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
    return module


def _random_input() -> Tensor:
    return torch.randn(SHAPE, generator=torch.Generator().manual_seed(7))


def _a_sublayer() -> nn.Module:
    return _random_weights(nn.Linear(D_MODEL, D_MODEL))
