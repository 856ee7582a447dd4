"""Checks of lesson 6: feed-forward and Add & Norm."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from transformer_edu.teaching.checks.answer import (
    AnswerError,
    ask,
    close,
    exercise,
    refuse_mistakes,
    refuse_numbers,
    require_number,
    require_shape,
)

D_MODEL, D_FF = 1024, 4096  # the paper's big model
SHAPE = (2, 3, 5)  # batch, position, d_model: every length another
EPS = 1e-5


@exercise("6.1")
def check_feed_forward_size(answer: int) -> None:
    """Exercise 6.1: the parameters of a feed-forward network of 1024 and 4096."""
    one_matrix = D_MODEL * D_FF
    hints = {
        2 * one_matrix: "Those are the two matrices; now the two biases.",
        one_matrix: "That is one matrix. The way back to d_model needs another, and biases.",
        2 * one_matrix + 2 * D_FF: (
            "A bias is as long as the output of its layer: the second layer gives d_model numbers."
        ),
        2 * one_matrix + 2 * D_MODEL: (
            "A bias is as long as the output of its layer: the first layer gives d_ff numbers."
        ),
        2 * 512 * 2048 + 2048 + 512: "That is the base model. The big one has 1024 and 4096.",
    }
    answer = require_number(answer, whole=True)
    refuse_numbers(answer, hints)
    if answer != 2 * one_matrix + D_FF + D_MODEL:
        raise AnswerError("Count two matrices, d_model × d_ff and back, and a bias for each.")


@exercise("6.2")
def check_absolute_value(answer: tuple[Tensor, Tensor]) -> None:
    """Exercise 6.2: (w_1, w_2) with which (t @ w_1).relu() @ w_2 is the absolute value of t."""
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        raise AnswerError("The answer is a pair of tensors, (w_1, w_2).")
    w_1 = require_shape(answer[0], (1, 2), "of w_1").float()
    w_2 = require_shape(answer[1], (2, 1), "of w_2").float()
    t = torch.linspace(-3, 3, 13).unsqueeze(1)
    computed = (t @ w_1).relu() @ w_2
    if close(computed, t.abs()):
        return
    if close(computed, t):
        raise AnswerError(
            "Your network gives back t: add the second ReLU unit, do not subtract it."
        )
    if (w_1 >= 0).all() or (w_1 <= 0).all():
        raise AnswerError(
            "Both ReLU units are active on the same side, so the other half stays at 0. Give one "
            "of them a negative weight in w_1."
        )
    if close(computed, -t.abs()):
        raise AnswerError("The sign is wrong: w_2 must add the outputs of the ReLU units.")
    raise AnswerError(
        f"At -3 your network gives {computed[0].item():.2f}, at 3 {computed[-1].item():.2f}; both "
        "should be 3."
    )


@exercise("6.3")
def check_normalize(answer: Callable[[Tensor], Tensor]) -> None:
    """Exercise 6.3: layer normalization over the last axis, ε inside the root."""
    x = 2 * torch.randn(SHAPE, generator=torch.Generator().manual_seed(6)) + 1
    x[0, 0] *= 1e-3  # so small that the place of ε matters
    normed = require_shape(ask(answer, x.clone()), SHAPE, "(batch, position, d_model)")
    centered = x - x.mean(dim=-1, keepdim=True)
    std = centered.square().mean(dim=-1, keepdim=True).sqrt()
    if close(normed, centered / (std.square() + EPS).sqrt()):
        return
    unbiased = x.std(dim=-1, keepdim=True)
    known_mistakes = {
        "Your variance divides by n - 1; divide by n: correction=0.": (
            centered / (unbiased.square() + EPS).sqrt()
        ),
        "Two things: divide the variance by n (correction=0), and put ε inside the root.": (
            centered / (unbiased + EPS)
        ),
        "ε belongs inside the root: √(variance + ε). A small vector shows the difference.": (
            centered / (std + EPS)
        ),
        "You divided by the variance; divide by its root.": centered / (std.square() + EPS),
        "ε is missing: a vector of equal numbers would give 0/0.": centered / std,
        "The mean is still there: subtract it before you divide.": x / (std.square() + EPS).sqrt(),
        "Nothing was divided: the standard deviation must become 1.": centered,
    }
    refuse_mistakes(normed, known_mistakes)
    _require_last_axis(x, normed)
    raise AnswerError("Subtract each vector's own mean, then divide by √(its variance + ε).")


def _require_last_axis(x: Tensor, normed: Tensor) -> None:
    """Refuse a normalization over other axes than the last."""
    places = {"the positions": (1,), "the batch": (0,), "the whole tensor": (0, 1, 2)}
    for correction in (0, 1):
        for words, axes in places.items():
            spread = (x.var(dim=axes, keepdim=True, correction=correction) + EPS).sqrt()
            if torch.allclose(normed, (x - x.mean(dim=axes, keepdim=True)) / spread, atol=1e-3):
                raise AnswerError(
                    f"You normalized over {words}. Each position is normalized "
                    f"independently: use dim=-1."
                )


@exercise("6.4")
def check_pre_norm(answer: Callable[[Tensor, nn.Module, nn.Module], Tensor]) -> None:
    """Exercise 6.4: x + sublayer(norm(x))."""
    x, norm, sublayer = _a_sublayer()
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


def _a_sublayer() -> tuple[Tensor, nn.Module, nn.Module]:
    """A stream, a norm whose weights are not 1 and 0, and a sub-layer; the same every time."""
    generator = torch.Generator().manual_seed(6)
    norm, sublayer = nn.LayerNorm(SHAPE[-1]), nn.Linear(SHAPE[-1], SHAPE[-1])
    with torch.no_grad():
        for parameter in (*norm.parameters(), *sublayer.parameters()):
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
    return 3 * torch.randn(SHAPE, generator=generator), norm, sublayer
