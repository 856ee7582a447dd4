"""What lessons 2 and 3 check in the reader's attention: projections, weights, and the average."""

import math
from itertools import product

import torch
from torch import Tensor, nn

from transformer_course.asking.answer import (
    AnswerError,
    ask,
    close,
    let_wait,
    require_class,
    require_gradients,
    require_module,
    require_shape,
)
from transformer_edu.model.attention import MultiHeadAttention, scaled_dot_product_attention

# Every length is different, so that no axis passes for another.
BATCH, QUERIES, KEYS, D_MODEL, D_HEAD = 2, 3, 5, 12, 4
PROJECTIONS = ("query_projection", "key_projection", "value_projection")


def random_inputs() -> tuple[Tensor, Tensor, Tensor]:
    """Query, key and value of the check's own, the same every time."""
    generator = torch.Generator().manual_seed(2)
    return tuple(
        torch.randn(BATCH, length, D_MODEL, generator=generator) for length in (QUERIES, KEYS, KEYS)
    )


def built_attention(answer: object) -> nn.Module:
    """An object of the reader's class, with the package's weights, unless it has to wait."""
    require_class(answer, "Attention")
    attention = answer(D_MODEL, D_HEAD)
    let_wait(attention, *random_inputs())
    require_projections(attention)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(2)
        package = MultiHeadAttention(d_model=D_MODEL, num_heads=D_MODEL // D_HEAD)
    weights = {name: package.get_submodule(name).weight[:D_HEAD] for name in PROJECTIONS}
    attention.load_state_dict({f"{name}.weight": weight for name, weight in weights.items()})
    if not callable(getattr(attention, "attend", None)):
        raise AnswerError("Write scores, softmax and average in attend, and call it in forward.")
    return attention


def projected_inputs(attention: nn.Module) -> list[Tensor]:
    """Query, key and value as the module's own projections make them."""
    layers = [attention.get_submodule(name) for name in PROJECTIONS]
    return [layer(x).detach() for layer, x in zip(layers, random_inputs(), strict=True)]


def weights_of(attention: nn.Module, *mask: Tensor) -> Tensor:
    """The weights with which attend averages: what it makes of values that are rows of 0 and 1."""
    query, key, _ = projected_inputs(attention)
    values = torch.eye(KEYS).expand(BATCH, KEYS, KEYS)
    weights = require_module(attention.attend, query, key, values, *mask)
    return require_shape(weights, (BATCH, QUERIES, KEYS), "(batch, query, width of value)")


def require_weights(attention: nn.Module) -> None:
    """Refuse an attend whose weights, without a mask, are not the softmax of the scaled scores."""
    query, key, value = projected_inputs(attention)
    let_wait(attention.attend, query, key, value)
    averaged = ask(attention.attend, query, key, value)
    scores = query @ key.mT
    if isinstance(averaged, Tensor) and averaged.shape == (BATCH, QUERIES, KEYS):
        raise AnswerError("attend returns the weights, or scores: multiply the weights by value.")
    averaged = require_shape(averaged, (BATCH, QUERIES, D_HEAD), "(batch, query, d_head)")
    right = (scores / math.sqrt(D_HEAD)).softmax(-1)
    if close(averaged, right @ key):
        raise AnswerError("You averaged the keys: the weights average the values.")
    weights = weights_of(attention)
    if not close(weights, right):
        raise AnswerError(_weights_hint(weights, scores))
    if not close(averaged, right @ value):
        raise AnswerError("The weights are right, their average of the values is not.")


def _weights_hint(weights: Tensor, scores: Tensor) -> str:
    """What is wrong with the weights of every query."""
    sums = weights.sum(dim=-1)
    for axis, what in ((-2, "queries"), (0, "batch")):
        if close(weights.sum(dim=axis), torch.ones(()).expand(weights.sum(dim=axis).shape)):
            return f"The softmax runs over the {what}: every query needs weights that sum to one."
    if close(weights, scores / math.sqrt(D_HEAD)) or close(weights, scores):
        return "The softmax is missing between the scores and the average."
    if (weights < 0).any():
        return f"Some weights are negative, such as {weights.min():.2f}: a softmax gives none."
    if not close(sums, torch.ones_like(sums)):
        return f"The weights of a query must sum to one; a row of yours sums to {sums[0, 0]:.2f}."
    logs, right = (x - x.mean(dim=-1, keepdim=True) for x in (weights.log(), scores))
    factor = float((logs * right).sum() / right.square().sum())
    if close(logs, factor * right):
        wanted = "must divide them by √d_head"
        if abs(factor - 1) < 0.01:
            return f"The scores are not scaled: you {wanted}."
        if abs(factor * D_HEAD - 1) < 0.01:
            return f"You divided the scores by d_head; you {wanted}."
        if abs(factor * math.sqrt(D_MODEL) - 1) < 0.01:
            return f"You divided the scores by √d_model; you {wanted}."
        divisor = f"You divided the scores by {1 / factor:.3g}"
        return f"{divisor}; for d_head = {D_HEAD} that is not √d_head."
    return "The weights are not the softmax of the scaled scores of a query with all keys."


def require_forward(attention: nn.Module) -> None:
    """Refuse a forward that does not project each input with its own layer before it attends."""
    inputs = random_inputs()
    output = require_module(attention, *inputs)
    expected, _ = scaled_dot_product_attention(*projected_inputs(attention))
    if isinstance(output, Tensor) and close(output, expected):
        require_gradients(attention, output)
        return
    layers = [nn.Identity(), *(attention.get_submodule(name) for name in PROJECTIONS)]
    names = ("query", "key", "value")
    for chosen in product(range(4), repeat=3):
        projected = [layers[i](x) for i, x in zip(chosen, inputs, strict=True)]
        if projected[0].size(-1) != projected[1].size(-1):
            continue
        other, _ = scaled_dot_product_attention(*projected)
        if isinstance(output, Tensor) and close(output, other):
            wrong = next(place for place in range(3) if chosen[place] != place + 1)
            layer = PROJECTIONS[chosen[wrong] - 1] if chosen[wrong] else "no layer"
            raise AnswerError(f"attend is right, but forward projects {names[wrong]} with {layer}.")
    require_shape(output, (BATCH, QUERIES, D_HEAD), "(batch, query, d_head)")
    raise AnswerError("attend is right, but forward does not return attend of the projections.")


def require_projections(attention: nn.Module) -> None:
    """Refuse missing projections, biases and wrong widths, each with its hint."""
    for name in PROJECTIONS:
        projection = getattr(attention, name, None)
        if not isinstance(projection, nn.Linear):
            raise AnswerError(f"__init__ must set self.{name} to an nn.Linear.")
        if projection.bias is not None:
            raise AnswerError(f"The paper's projections have no bias: {name} needs bias=False.")
        if (projection.in_features, projection.out_features) != (D_MODEL, D_HEAD):
            got = f"nn.Linear({projection.in_features}, {projection.out_features})"
            raise AnswerError(f"{name} must go from d_model to d_head numbers; yours is {got}.")
