"""The reader's attention of lessons 2 and 3: what is checked in it, its matrices, its weights."""

import math
from collections.abc import Sequence
from contextlib import suppress
from itertools import combinations, product

import torch
import torch.nn.functional as F
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

# Every length is different, so that no axis passes for another; √d_head is no half and no length.
BATCH, QUERIES, KEYS, D_MODEL, D_HEAD = 2, 3, 5, 12, 6
SIZES = f"batch {BATCH}, {QUERIES} queries, {KEYS} keys, d_model {D_MODEL}, d_head {D_HEAD}"
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
    return attention


def projected_inputs(attention: nn.Module, inputs: Sequence[Tensor] | None = None) -> list[Tensor]:
    """Query, key and value, the check's own when None, as the module's projections make them."""
    layers = [attention.get_submodule(name) for name in PROJECTIONS]
    return [layer(x).detach() for layer, x in zip(layers, inputs or random_inputs(), strict=True)]


def given(kind: type[nn.Module], w_query: Tensor, w_key: Tensor, w_value: Tensor) -> nn.Module:
    """An attention with these matrices.

    Args:
        kind: The reader's class.
        w_query, w_key, w_value: Each (d_model, d_head), on any device.
    """
    shapes = [tuple(matrix.shape) for matrix in (w_query, w_key, w_value)]
    if len(set(shapes)) > 1:
        raise ValueError(f"w_query, w_key and w_value must have one shape, got {shapes}")
    attention = kind(*w_query.shape).to(w_query.device)
    with torch.no_grad():
        for name, matrix in zip(PROJECTIONS, (w_query, w_key, w_value), strict=True):
            attention.get_submodule(name).weight.copy_(matrix.T)  # nn.Linear stores the transpose
    return attention


def weights_of(attention: nn.Module, query: Tensor, key: Tensor, *mask: Tensor) -> Tensor:
    """The weights with which a module averages: what it makes of values that are rows of 0 and 1.

    Args:
        attention: The reader's; its value_projection has other numbers meanwhile.
        query: Shape (batch, query, d_model).
        key: Shape (batch, key, d_model).
        mask: What else forward gets.

    Returns:
        Shape (batch, query, key).
    """
    matrix, keys = attention.value_projection.weight, key.size(-2)
    before, parts = matrix.detach().clone(), []
    with torch.no_grad():
        matrix.copy_(torch.eye(*matrix.shape))
        for rows in torch.eye(keys, device=key.device).split(len(matrix), dim=-1):
            value = F.pad(rows, (0, key.size(-1) - rows.size(-1))).expand_as(key)
            parts.append(ask(attention, query, key, value, *mask)[..., : rows.size(-1)])
        matrix.copy_(before)
    weights = torch.cat(parts, dim=-1)
    require_shape(weights, (len(query), query.size(-2), keys), "(batch, query, key)")
    return weights


def _weights_hint(weights: Tensor, scores: Tensor) -> str:
    """What is wrong with the weights of every query."""
    sums = weights.sum(dim=-1)
    for axis, what in ((-2, "queries"), (0, "batch")):
        if close(weights.sum(dim=axis), torch.ones(()).expand(weights.sum(dim=axis).shape)):
            return f"The softmax runs over the {what}: every query needs weights that sum to one."
    if close(weights, scores / math.sqrt(D_HEAD)) or close(weights, scores):
        return "The softmax is missing between the scores and the average."
    if (weights < 0).any():
        return (
            f"Some weights are negative, such as {weights.min():.2f}: a softmax of all scores of a "
            "query, at the end, gives none."
        )
    if not close(sums, torch.ones_like(sums)):
        return (
            f"A query takes the values with weights that sum to {sums[0, 0]:.2f}: a softmax over "
            "the keys gives each query weights that sum to 1, and they stay so."
        )
    if (weights == 0).any():
        return "Some keys get no weight, but a softmax without a mask gives every key some."
    if close(weights, torch.full_like(weights, 1 / KEYS)):
        return "Every key gets the same weight, whatever its score."
    logs, right = (x - x.mean(dim=-1, keepdim=True) for x in (weights.log(), scores))
    factor = float((logs * right).sum() / right.square().sum())
    if close(logs, factor * right):
        wanted = "must divide them by √d_head"
        if abs(factor - 1) < 0.01:
            return f"The scores are not scaled: you {wanted}."
        if factor > 1:
            return f"Your scores are multiplied by {factor:.3g}; you {wanted}."
        if abs(factor * D_HEAD - 1) < 0.01:
            return f"You divided the scores by d_head; you {wanted}."
        if abs(factor * math.sqrt(D_MODEL) - 1) < 0.01:
            return f"You divided the scores by √d_model; you {wanted}."
        divisor = f"You divided the scores by {1 / factor:.3g}"
        return f"{divisor}; for d_head = {D_HEAD} that is not √d_head."
    return "The weights are not the softmax of the scaled scores of a query with all keys."


def require_attention(attention: nn.Module) -> None:
    """Refuse an output that is not the average of the projected values, each with its hint."""
    inputs = random_inputs()
    received = require_module(attention, *inputs)
    query, key, value = projected_inputs(attention)
    scores = query @ key.mT
    right = (scores / math.sqrt(D_HEAD)).softmax(dim=-1)
    if isinstance(received, Tensor) and close(received, right @ value):
        require_gradients(attention, received)
        _require_other_sizes(attention)
        return
    if isinstance(received, Tensor) and received.shape == (BATCH, QUERIES, KEYS):
        raise AnswerError("That is a table of weights, or of scores: multiply weights by values.")
    if _is_like_attention(received, (query, key, key)):
        raise AnswerError("You averaged the keys: the weights average the values.")
    if _is_like_attention(received, (query, value, value)):
        raise AnswerError("Your scores compare query and value: a query is compared with the keys.")
    if _is_like_attention(received, (query, value, key)):
        raise AnswerError("Your scores compare query and value, and your weights average the keys.")
    _refuse_other_projections(attention, received)
    for each in (scores, scores / math.sqrt(D_HEAD)):
        if isinstance(received, Tensor) and close(received, (each @ value).softmax(dim=-1)):
            raise AnswerError("The softmax is around the product with the values: it comes before.")
    require_shape(received, (BATCH, QUERIES, D_HEAD), "(batch, query, d_head)")
    weights = weights_of(attention, *inputs[:2])
    reshaped = query @ key.reshape(BATCH, D_HEAD, KEYS) / math.sqrt(D_HEAD)
    if close(weights, reshaped.softmax(dim=-1)):
        raise AnswerError("A reshape is no transpose: it mixes the numbers of different keys.")
    if not close(received, weights @ value):
        raise AnswerError(
            "The output is not an average of the projected values: is something added to it, or "
            "changed in the values or after the average?"
        )
    raise AnswerError(_weights_hint(weights, scores))


def _require_other_sizes(attention: nn.Module) -> None:
    """Refuse a class that is right with the sizes of the check only."""
    one, shape = [x[:1, :1] for x in random_inputs()], "an error"
    with suppress(RuntimeError, IndexError):  # of an axis that is lost
        shape = tuple(require_module(attention, *one).shape)
    if shape != (1, 1, D_HEAD):
        raise AnswerError(
            f"One query of one sentence must give the shape (1, 1, {D_HEAD}); yours gives {shape}."
        )
    other = type(attention)(D_HEAD, D_MODEL)
    inputs = [x[..., :D_HEAD] for x in random_inputs()]
    if not _is_attention(other(*inputs), projected_inputs(other, inputs)):
        raise AnswerError(
            f"Right with d_model {D_MODEL} and d_head {D_HEAD}, wrong with d_model {D_HEAD} and "
            f"d_head {D_MODEL}: a size is written as a number."
        )


def _refuse_other_projections(attention: nn.Module, received: object) -> None:
    """Refuse attention of inputs of which one went through the wrong layer, or is another one."""
    if not isinstance(received, Tensor):
        return
    layers = [*(attention.get_submodule(name) for name in PROJECTIONS), nn.Identity()]
    inputs, names = random_inputs(), ("query", "key", "value")
    said = (*(f"projected with {name}" for name in PROJECTIONS), "without a projection")
    for chosen in product(range(4), repeat=3):
        projected = [layers[i](x) for i, x in zip(chosen, inputs, strict=True)]
        if chosen != (0, 1, 2) and _is_like_attention(received, projected):
            wrong = next(place for place in range(3) if chosen[place] != place)
            name, layer = names[wrong], said[chosen[wrong]]
            raise AnswerError(f"Your forward uses {name} {layer}.")
    for chosen in product(range(3), repeat=3):
        projected = [layer(inputs[i]) for layer, i in zip(layers, chosen, strict=False)]
        if chosen != (0, 1, 2) and _is_like_attention(received, projected):
            wrong = next(place for place in range(3) if chosen[place] != place)
            raise AnswerError(f"Your {PROJECTIONS[wrong]} gets {names[chosen[wrong]]}.")


def _is_attention(received: Tensor, projected: Sequence[Tensor]) -> bool:
    """Whether an output is that of attention between these queries, keys and values."""
    query, key, value = projected
    if query.size(-1) != key.size(-1) or key.size(-2) != value.size(-2):
        return False
    return close(received, scaled_dot_product_attention(query, key, value)[0])


def _is_like_attention(received: object, projected: Sequence[Tensor]) -> bool:
    """Whether an output is that of attention between these, with any usual scale or softmax."""
    query, key, value = projected
    if not isinstance(received, Tensor) or query.size(-1) != key.size(-1):
        return False
    scores = query @ key.mT
    return scores.size(-1) == value.size(-2) and any(
        close(received, (scores / divisor).softmax(dim=axis) @ value)
        for divisor in (math.sqrt(D_HEAD), 1, D_HEAD, math.sqrt(D_MODEL))
        for axis in (-1, -2)
    )


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
    names = attention.state_dict()
    if others := [name for name in names if name.partition(".")[0] not in PROJECTIONS]:
        raise AnswerError(f"Attention keeps three matrices; yours also keeps {others[0]}.")
    for one, other in combinations(PROJECTIONS, 2):
        if getattr(attention, one) is getattr(attention, other):
            raise AnswerError(f"{one} and {other} are the same layer: each needs a matrix.")
