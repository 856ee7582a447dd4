"""Checks of lesson 19: RMSNorm, rotary positions with neighbors as pairs, the size of a cache."""

import torch
from torch import Tensor, nn

from transformer_course.asking.answer import (
    AnswerError,
    ask,
    close,
    exercise,
    refuse_mistakes,
    refuse_numbers,
    require_gradients,
    require_module,
    require_number,
    require_shape,
)
from transformer_edu.model.embeddings import sinusoidal_positions

BATCH, HEADS, LENGTH, D_MODEL, D_HEAD = 2, 3, 5, 12, 8


@exercise("19.1")
def check_rms_norm(answer: type[nn.Module]) -> None:
    """Exercise 19.1: a class RMSNorm(d_model, eps=1e-5) with a learned weight."""
    if not (isinstance(answer, type) and issubclass(answer, nn.Module)):
        raise AnswerError("The answer is the class RMSNorm itself, a subclass of nn.Module.")
    norm, x = answer(D_MODEL), random_vectors(D_MODEL) + 1  # with a mean that is not 0
    received = require_module(norm, x)
    received = require_shape(received, tuple(x.shape), "(batch, position, d_model)")
    weights = dict(norm.named_parameters())
    if [(name, tuple(each.shape)) for name, each in weights.items()] != [("weight", (D_MODEL,))]:
        got = ", ".join(f"{name} {tuple(each.shape)}" for name, each in weights.items()) or "none"
        raise AnswerError(
            "The class learns one parameter: self.weight = nn.Parameter(torch.ones(d_model)). "
            f"Yours: {got}."
        )
    if not close(weights["weight"], torch.ones(D_MODEL)):
        raise AnswerError("The weight begins with ones, so that a new norm changes no scale.")
    square = x.pow(2)
    mean = square.mean(-1, keepdim=True)
    centered = x - x.mean(-1, keepdim=True)
    refuse_mistakes(
        received,
        {
            "You subtract the mean: that is LayerNorm. RMSNorm only divides.": (
                nn.functional.layer_norm(x, (D_MODEL,))
            ),
            "You divide by the standard deviation, which subtracts the mean. Use the mean of x².": (
                x * (centered.pow(2).mean(-1, keepdim=True) + 1e-5).rsqrt()
            ),
            "You divide by the mean of the squares; divide by its root.": x / (mean + 1e-5),
            "You divide by the root of the sum of the squares; take their mean.": (
                x * (square.sum(-1, keepdim=True) + 1e-5).rsqrt()
            ),
            "You multiply by the root; divide by it.": x * (mean + 1e-5).sqrt(),
            "The mean runs over the positions: use dim=-1.": (
                x * (square.mean(1, keepdim=True) + 1e-5).rsqrt()
            ),
            "The mean runs over the whole batch: use dim=-1 and keepdim=True.": (
                x * (square.mean() + 1e-5).rsqrt()
            ),
        },
    )
    expected = nn.RMSNorm(D_MODEL, eps=1e-5)
    if not close(received, expected(x)):
        raise AnswerError("Divide x by the root of (the mean of its squares + eps), over dim=-1.")
    with torch.no_grad():
        weights["weight"].copy_(torch.arange(1.0, D_MODEL + 1))
        expected.weight.copy_(weights["weight"])
    if not close(ask(norm, x), expected(x)):
        raise AnswerError("At the end, multiply by self.weight, number by number.")
    require_gradients(norm, ask(norm, x))
    if not close(ask(norm, x / 1000), expected(x / 1000)):
        raise AnswerError("Small vectors come out wrong: add eps=1e-5 inside the root.")
    x = x[:1, 1:, 1:]  # other sizes, too
    if not close(ask(answer(D_MODEL - 1, 0.5), x), nn.RMSNorm(D_MODEL - 1, eps=0.5)(x)):
        raise AnswerError("With eps=0.5 the numbers stay as with 1e-5: use the eps that is given.")


@exercise("19.2")
def check_rotate_neighbors(answer: object) -> None:
    """Exercise 19.2: rotary positions that pair number 2i with number 2i + 1."""
    x = random_vectors(D_HEAD, HEADS)
    received = require_module(answer, x)
    received = require_shape(received, tuple(x.shape), "(batch, head, position, d_head)")
    sine, cosine = sinusoidal_positions(LENGTH, D_HEAD, order="halves").chunk(2, dim=-1)
    even, odd = x[..., ::2], x[..., 1::2]
    first, second = x.chunk(2, dim=-1)
    turned = even * cosine - odd * sine, odd * cosine + even * sine
    sine_1, cosine_1 = sinusoidal_positions(LENGTH + 1, D_HEAD, order="halves")[1:].chunk(2, dim=-1)
    slow = torch.arange(LENGTH).unsqueeze(1) / 10_000 ** (torch.arange(D_HEAD // 2) / D_HEAD)
    across = sinusoidal_positions(HEADS, D_HEAD, order="halves").unsqueeze(1).chunk(2, dim=-1)
    refuse_mistakes(
        received,
        {
            "Nothing has turned.": x,
            "You pair number i with number i + d_head/2, as the lesson does. Here number 2i is "
            "paired with number 2i + 1: x[..., ::2] and x[..., 1::2].": torch.cat(
                [first * cosine - second * sine, second * cosine + first * sine], dim=-1
            ),
            "The pairs are turned correctly, but they come out as two halves. Put them back where "
            "they were: torch.stack(…, dim=-1).flatten(-2).": torch.cat(turned, dim=-1),
            "You turn in the other direction: exchange the signs of the two sines.": _paired(
                even * cosine + odd * sine, odd * cosine - even * sine
            ),
            "Both lines have the same sign. A rotation has a minus in one of them.": _paired(
                even * cosine + odd * sine, odd * cosine + even * sine
            ),
            "Positions count from 0: the first vector does not turn.": _paired(
                even * cosine_1 - odd * sine_1, odd * cosine_1 + even * sine_1
            ),
            "The angle of pair i is p / 10000^(2i/d_head); yours has i/d_head.": _paired(
                even * slow.cos() - odd * slow.sin(), odd * slow.cos() + even * slow.sin()
            ),
            "You turn by the number of the head. The position is the axis before the last.": (
                _paired(even * across[1] - odd * across[0], odd * across[1] + even * across[0])
            ),
            "This is the second number of each pair in the place of the first.": _paired(
                turned[1], turned[0]
            ),
        },
    )
    if not close(received.norm(dim=-1), x.norm(dim=-1)):
        raise AnswerError("A rotation keeps the length of every vector, and yours does not.")
    if not close(received, _paired(*turned)):
        raise AnswerError(
            "The lengths are right, the angles are not: pair i at position p turns by "
            "p / 10000^(2i/d_head)."
        )
    other = x[:1, 1:, 1:, 2:]
    sine, cosine = sinusoidal_positions(LENGTH - 1, D_HEAD - 2, order="halves").chunk(2, dim=-1)
    even, odd = other[..., ::2], other[..., 1::2]
    turned = even * cosine - odd * sine, odd * cosine + even * sine
    if not close(ask(answer, other.clone()), _paired(*turned)):
        raise AnswerError(
            f"Right for x of shape {tuple(x.shape)} and wrong for {tuple(other.shape)}: every "
            "size comes from x."
        )


@exercise("19.3")
def check_cache_size(answer: float) -> None:
    """Exercise 19.3: the key/value cache of Llama 3 8B for 8,192 tokens, in GiB."""
    size = require_number(answer)
    refuse_numbers(
        size,
        {
            4: "That is with 32 heads of keys and values. This model has 8.",
            0.5: "You count the keys or the values. The cache keeps both.",
            2: "That is with 4 bytes for each number. bfloat16 takes 2.",
            1 / 32: "That is one layer. There are 32.",
            2**30: "That is in bytes. Divide by 2**30.",
            2**17: "That is for one token, in bytes.",
        },
        within=1e-6,
    )
    if abs(size - 2**30 / 1e9) < 0.005:  # 1.07 too
        raise AnswerError("That is in units of 10⁹ bytes. One GiB has 2**30 bytes.")
    if abs(size - 1) > 1e-6:
        raise AnswerError(
            "Multiply: keys and values (2), layers, their heads, width of a head, bytes, tokens."
        )


def random_vectors(width: int, *heads: int) -> Tensor:
    """Numbers of the check's own, always the same, shape ``(batch, *heads, position, width)``."""
    generator = torch.Generator().manual_seed(19)
    return torch.randn(BATCH, *heads, LENGTH, width, generator=generator)


def _paired(even: Tensor, odd: Tensor) -> Tensor:
    return torch.stack([even, odd], dim=-1).flatten(-2)
