"""Checks of lesson 6: feed-forward and Add & Norm."""

import contextlib
from collections.abc import Callable

import torch
from torch import Tensor, nn

from transformer_course.asking.answer import (
    AnswerError,
    ask,
    close,
    exercise,
    refuse_mistakes,
    require_class,
    require_shape,
)
from transformer_course.my_transformer import keep
from transformer_edu.model.add_and_norm import AddAndNorm
from transformer_edu.model.feed_forward import FeedForward

SHAPE = (2, 3, 5)  # batch, position, d_model: every length another
D_MODEL, D_FF = 5, 7
AXES = "(batch, position, d_model)"


@exercise("6.1")
def check_feed_forward(answer: type[nn.Module]) -> None:
    """Exercise 6.1: a class FeedForward(d_model, d_ff), which gets the package's weights.

    It is kept in the reader's own file.
    """
    require_class(answer, "FeedForward")
    x, package = _random_input(), _random_weights(FeedForward(d_model=D_MODEL, d_ff=D_FF))
    network = answer(D_MODEL, D_FF)
    _require_answered(network, x)
    _require_linear(network, "widen", D_MODEL, D_FF)
    _require_linear(network, "narrow", D_FF, D_MODEL)
    _load(network, package)
    with torch.no_grad():
        received = require_shape(ask(network, x), SHAPE, AXES)
        wide = package.widen(x)
        known_mistakes = {
            "The ReLU is missing between the two layers.": package.narrow(wide),
            "The ReLU belongs between the two layers, not after the second.": (
                package.narrow(wide).relu()
            ),
            "There is one ReLU only, between the two layers: the output may be negative.": (
                package.narrow(wide.relu()).relu()
            ),
            "The feed-forward network does not add x: AddAndNorm will.": (
                x + package.narrow(wide.relu())
            ),
            "That is GELU. The paper uses ReLU.": package.narrow(nn.functional.gelu(wide)),
            "That is a sigmoid. The paper uses ReLU.": package.narrow(wide.sigmoid()),
            "You return x itself: call self.widen, ReLU and self.narrow.": x,
        }
        refuse_mistakes(received, known_mistakes)
        if not close(received, package(x)):
            raise AnswerError(
                "The shape is right, the numbers are not: widen, then ReLU, then narrow."
            )
    keep(answer)


@exercise("6.2")
def check_add_and_norm(answer: type[nn.Module]) -> None:
    """Exercise 6.2: a class AddAndNorm(d_model, dropout=0.1), which gets the package's weights.

    It is kept in the reader's own file.
    """
    require_class(answer, "AddAndNorm")
    package = _random_weights(AddAndNorm(d_model=D_MODEL, dropout=0.5)).eval()
    around = answer(D_MODEL, dropout=0.5)
    x, norm, sublayer = 3 * _random_input(), package.norm, _a_sublayer()
    _require_answered(around, x, sublayer)
    if not isinstance(getattr(around, "norm", None), nn.LayerNorm):
        raise AnswerError("__init__ must set self.norm to an nn.LayerNorm(d_model).")
    if not isinstance(getattr(around, "dropout", None), nn.Dropout):
        raise AnswerError("__init__ must set self.dropout to an nn.Dropout(dropout).")
    if around.dropout.p != 0.5:
        raise AnswerError("nn.Dropout must get the argument dropout, whatever it is.")
    _load(around, package)
    with torch.no_grad():
        received = require_shape(ask(around.eval(), x, sublayer), SHAPE, AXES)
        known_mistakes = {
            "The residual connection is missing: add x before the norm.": norm(sublayer(x)),
            "The norm is missing: normalize the sum.": x + sublayer(x),
            "You normalized the sub-layer's output. Post-norm normalizes the sum.": (
                x + norm(sublayer(x))
            ),
            "That is pre-norm. The paper normalizes after the addition.": x + sublayer(norm(x)),
            "You normalized before the sub-layer, too. One norm is enough, after the addition.": (
                norm(x + sublayer(norm(x)))
            ),
            "The sub-layer is never called: add sublayer(x).": norm(x),
        }
        refuse_mistakes(received, known_mistakes)
        if not close(received, package(x, sublayer)):
            raise AnswerError(
                "The shape is right, the numbers are not: LayerNorm(x + Dropout(Sublayer(x)))."
            )
        _require_dropout(around.train(), x, sublayer)
    keep(answer)


def _require_dropout(around: nn.Module, x: Tensor, sublayer: nn.Module) -> None:
    """Refuse a module that drops nothing in training, or parts of the residual path."""
    around.dropout.p = 1.0  # everything is dropped: only x is left
    kept = ask(around, x, sublayer)
    if close(kept, around.norm(x)):
        return
    if close(kept, around.norm(x + sublayer(x))):
        raise AnswerError("Dropout is never used: apply self.dropout to the sub-layer's output.")
    if close(kept, around.norm(torch.zeros_like(x))):
        raise AnswerError(
            "Dropout removes x, too. Apply it to the sub-layer's output before the addition."
        )
    raise AnswerError("Dropout is at another place: LayerNorm(x + Dropout(Sublayer(x))).")


@exercise("6.3")
def check_erased(answer: Callable[[Tensor], Tensor]) -> None:
    """Exercise 6.3: a sub-layer after which a fresh Add & Norm gives only zeros."""
    x = 3 * _random_input()
    around = AddAndNorm(d_model=D_MODEL).eval()
    with torch.no_grad():
        removed = require_shape(ask(answer, x.clone()), SHAPE, AXES)
        if close(removed, torch.zeros_like(x)):
            raise AnswerError(
                "Zeros change nothing: x + 0 is x. That is the strength of the residual "
                "connection. Which output cancels x?"
            )
        if close(removed, x):
            raise AnswerError("x + x is 2x, and the norm makes it the same as x. Cancel x.")
        if around(x, lambda _: removed).abs().max() > 1e-2:  # equal numbers leave rounding errors
            raise AnswerError("Something of x is left after the norm: x + sublayer(x) must be 0.")


@exercise("6.4")
def check_pre_norm(answer: Callable[[Tensor, nn.Module, nn.Module], Tensor]) -> None:
    """Exercise 6.4: x + sublayer(norm(x))."""
    x, sublayer = 3 * _random_input(), _a_sublayer()
    norm = _random_weights(nn.LayerNorm(D_MODEL))
    with torch.no_grad():
        result = require_shape(ask(answer, x, norm, sublayer), SHAPE, "(batch, position, d_model)")
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
        }
        refuse_mistakes(result, known_mistakes)
        if not close(result, x + sublayer(norm(x))):
            raise AnswerError("Normalize the input of the sub-layer, and add its output to x.")


def _require_answered(module: nn.Module, *inputs: object) -> None:
    """Wait for a forward that still returns three dots; what fails is named by later checks."""
    with contextlib.suppress(RuntimeError, AttributeError):
        ask(module, *inputs)


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
    more = answer.state_dict().keys() - package.state_dict().keys()
    if more:
        raise AnswerError(f"Your module has weights that it does not need: {sorted(more)[0]}.")
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
