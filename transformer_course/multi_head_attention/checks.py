"""The checks of exercises 4.2 and 4.3; that of 4.1 has a module of its own."""

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from itertools import combinations, permutations, product

import torch
from torch import Tensor, nn, softmax

from transformer_course.asking.answer import (
    NAN,
    NOTHING_ALLOWED,
    AnswerError,
    ask,
    close,
    exercise,
    let_wait,
    refuse_mistakes,
    require_class,
    require_gradients,
    require_half,
    require_module,
    require_shape,
)
from transformer_course.multi_head_attention.list_checks import (
    BATCH,
    D_MODEL,
    KEYS,
    NUM_HEADS,
    OTHER_SIZES,
    OWN_MASKS,
    QUERIES,
    SIZES,
    inputs_and_mask,
    require_joined,
)
from transformer_course.multi_head_attention.list_of_heads import different_masks
from transformer_course.my_transformer import keep
from transformer_edu.model.attention import (
    MultiHeadAttention,
    merge_heads,
    scaled_dot_product_attention,
    split_heads,
)

D_HEAD = 16  # of exercise 4.3
TRANSPOSED = "nn.Linear stores the transpose of its matrix: call the layer itself."

# Of the check, for an error about sizes.
AXES = f"{SIZES}; where {QUERIES} must match {KEYS}, positions are not the last axis but one"


@exercise("4.2", sizes=AXES)
def check_multi_head_attention(answer: type[nn.Module]) -> None:
    """Exercise 4.2: a class MultiHeadAttention(d_model, num_heads), given the package's weights.

    It is kept in the reader's own file.
    """
    require_class(answer, "MultiHeadAttention")
    inputs, mask = inputs_and_mask()
    attention, package = answer(D_MODEL, NUM_HEADS), _package(NUM_HEADS)
    let_wait(attention, *inputs)
    _require_projections(attention)
    require_joined(attention, inputs)
    attention.load_state_dict(package.state_dict())
    expected, received = package(*inputs), require_module(attention, *inputs)
    if isinstance(received, Tensor) and received.dim() == 4:
        raise AnswerError(
            f"The heads are not joined: the result has the shape {tuple(received.shape)}."
        )
    received = require_shape(received, tuple(expected.shape), "(batch, query, d_model)")
    if not close(received, expected):
        raise AnswerError(_numbers_hint(answer, attention, received, package, inputs))
    require_gradients(attention, received)
    flat, late = tuple(mask[0, 0].shape), "Hide scores before the softmax, not weights after it."
    if torch.isnan(ask(attention, *inputs, mask[0, 0])).any():
        raise AnswerError(f"{NAN} {late}")
    masked = require_module(attention, *inputs, mask[0, 0])
    hints = {
        "The mask changes nothing: the softmax still gets every score. (If you call masked_fill: "
        "it returns a new tensor.)": expected,
        "The polarity is inverted: where mask is True, a query *may attend*.": package(
            *inputs, mask=~mask
        ),
    }

    layers = package.query_projection, package.key_projection, package.value_projection
    query, key, value = (
        split_heads(layer(x), NUM_HEADS) for layer, x in zip(layers, inputs, strict=True)
    )
    _, weights = scaled_dot_product_attention(query, key, value)
    hints[late] = package.output_projection(merge_heads((weights * mask[0, 0]) @ value))

    def is_right_with(each: Tensor) -> bool:
        with suppress(Exception):  # what stops here may run with a mask of fewer axes
            return close(attention(*inputs, each), package(*inputs, mask=each))
        return False

    different = different_masks(BATCH, NUM_HEADS, QUERIES, KEYS)
    if not close(masked, package(*inputs, mask=mask)):
        for each in (mask, different):
            if is_right_with(each):
                right = f"Right with a mask {tuple(each.shape)}"
                raise AnswerError(f"{right}, wrong with a mask {flat}: it broadcasts.")
        refuse_mistakes(masked, hints)
        raise AnswerError(
            "Right without a mask, wrong with one: before the softmax, hidden scores become so low "
            "that nothing is left of their weights, and nothing else changes."
        )
    whole = mask.expand(BATCH, NUM_HEADS, QUERIES, KEYS)
    for each in (mask, whole, different[:, :1], different, different[0, 0]):
        if not is_right_with(each):
            if each.dim() == 4 and each is not mask and is_right_with(whole):
                raise AnswerError(OWN_MASKS)
            raise AnswerError(
                f"Right with a mask {flat}, wrong with a mask {tuple(each.shape)}: as it is, it "
                "broadcasts to scores (batch, head, query, key)."
            )
    for allowed in (mask, torch.arange(KEYS).view(mask.shape) == 0):  # one key's score may be low
        hidden = torch.where(allowed[0, 0].mT, 1.0, 1e30)  # of a value: the least weight shows
        large = 100 * inputs[0], inputs[1], inputs[2] * hidden
        if not close(ask(attention, *large, allowed), package(*large, mask=allowed)):
            raise AnswerError(
                "Where scores are large, hidden keys get some weight: hide them lower."
            )
    if not ask(attention, *inputs, torch.zeros_like(mask)).isfinite().all():
        raise AnswerError(NOTHING_ALLOWED)
    require_half(attention, *inputs, mask)
    one = require_module(attention, *(x[:1, 1:] for x in inputs))
    require_shape(one, (1, QUERIES - 1, D_MODEL), "one sentence: (1, query, d_model)")
    _require_other_sizes(answer)
    keep(answer)


def _require_other_sizes(answer: type[nn.Module]) -> None:
    """Refuse a class that is right with the sizes of the check only."""
    d_model, num_heads = OTHER_SIZES
    inputs = [x[:1, 1:, :d_model] for x in inputs_and_mask()[0]]
    with suppress(Exception):  # a fixed size often stops
        other, package = answer(d_model, num_heads), _package(num_heads, d_model)
        other.load_state_dict(package.state_dict())
        if close(other(*inputs), package(*inputs)):
            return
    raise AnswerError(
        f"Right with d_model {D_MODEL} and {NUM_HEADS} heads, wrong with d_model {d_model}, "
        f"{num_heads} heads and other lengths: some size in your code is fixed."
    )


def _package(num_heads: int, d_model: int = D_MODEL) -> MultiHeadAttention:
    """The package's module, with the same weights every time."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(4)
        return MultiHeadAttention(d_model=d_model, num_heads=num_heads)


def _require_projections(attention: nn.Module) -> None:
    """Refuse missing projections, biases and wrong widths, each with its hint."""
    for name in ("query", "key", "value", "output"):
        projection = getattr(attention, f"{name}_projection", None)
        if not isinstance(projection, nn.Linear):
            raise AnswerError(
                f"self.{name}_projection must be an nn.Linear: query, key, value and output have "
                "one each."
            )
        if projection.bias is not None:
            raise AnswerError(f"The paper has no bias here: {name}_projection needs bias=False.")
        if tuple(projection.weight.shape) != (D_MODEL, D_MODEL):
            got = f"nn.Linear({projection.in_features}, {projection.out_features})"
            raise AnswerError(
                f"{name}_projection is for all heads side by side, nn.Linear(d_model, d_model); "
                f"yours is {got}."
            )
    if others := [
        name for name in attention.state_dict() if not name.endswith("_projection.weight")
    ]:
        raise AnswerError(f"The class keeps four matrices; yours also keeps {others[0]}.")


def _numbers_hint(
    answer: type[nn.Module],
    attention: nn.Module,
    received: Tensor,
    package: MultiHeadAttention,
    inputs: Sequence[Tensor],
) -> str:
    """What an output of the right shape with wrong numbers comes from."""
    stages = _stages(package, inputs)
    for slips in (*combinations(stages, 1), *combinations(stages, 2)):
        ways = [stage[1:] if stage in slips else stage[:1] for stage in stages]
        for way in product(*ways):
            hints, (projected, split, turn, factor, weigh, join, end) = zip(*way, strict=True)
            with suppress(RuntimeError):  # two slips that do not fit each other
                query, key, value = map(split, projected)
                if close(received, end(join(weigh(factor * query @ turn(key)) @ value))):
                    return next(filter(None, hints))
    for heads in (2, 4, 6, 8, 12):
        if close(received, _package(heads)(*inputs)):
            return f"With num_heads={NUM_HEADS} your class cuts {heads} heads."
    require_gradients(attention, received)
    one, ours = answer(D_MODEL, 1), _package(1)
    one.load_state_dict(ours.state_dict())
    if close(one(*inputs), ours(*inputs)):
        return (
            f"With num_heads=1 your class is right, with {NUM_HEADS} it is not: look at where the "
            "heads are split, averaged and joined."
        )
    return (
        "Already with num_heads=1 the numbers are wrong: try this case first. It is lesson 3's "
        "attention, and then output_projection."
    )


def _stages(package: MultiHeadAttention, inputs: Sequence[Tensor]) -> list[list[tuple]]:
    """The stages of the computation: of each the right way, then slips, each with its hint."""
    d_head = D_MODEL // NUM_HEADS
    splits = [
        ("", lambda x: split_heads(x, NUM_HEADS)),
        (
            "view and reshape cut in the order of memory: a head needs a part of every word.",
            lambda x: x.reshape(BATCH, NUM_HEADS, x.size(1), -1),
        ),
        (
            "A head must be one piece of d_head numbers; yours takes every third number.",
            lambda x: x.unflatten(-1, (-1, NUM_HEADS)).permute(0, 3, 1, 2),
        ),
        (
            f"With num_heads={NUM_HEADS} your class cuts {d_head} heads.",
            lambda x: split_heads(x, d_head),
        ),
        (
            "That is attention with one head: the last axis is not split, or scores are mixed.",
            lambda x: x.unsqueeze(1),
        ),
    ]
    turns = [
        ("", lambda key: key.mT),
        (
            "A reshape is no transpose: exchange the last two axes of the keys.",
            lambda key: key.reshape(*key.shape[:2], key.size(3), key.size(2)),
        ),
    ]
    factors = [
        ("", d_head**-0.5),
        ("The scores are divided by √d_model; each head has d_head numbers.", D_MODEL**-0.5),
        ("The scores are not divided by √d_head.", 1.0),
        ("The scores are multiplied by √d_head: divide them.", d_head**0.5),
        ("The scores are divided by d_head: take its square root.", 1 / d_head),
    ]
    factors += [
        (f"The scores are divided by √{other}; that is not √d_head.", other**-0.5)
        for other in (NUM_HEADS, QUERIES, KEYS)
    ]
    weights = [
        ("", lambda scores: scores.softmax(dim=-1)),
        ("The softmax is missing between the scores and the average.", lambda scores: scores),
        (
            "The scale belongs to the scores, before the softmax: it shrinks your averages.",
            lambda scores: (scores * d_head**0.5).softmax(dim=-1) / d_head**0.5,
        ),
    ]
    weights += [
        (
            f"The softmax runs over the {what}: the keys are the last axis.",
            partial(softmax, dim=axis),
        )
        for axis, what in ((2, "queries"), (1, "heads"), (0, "batch"))
    ]
    joins = [
        ("", merge_heads),
        (
            "The heads are joined without moving them behind the positions.",
            lambda heads: heads.reshape(BATCH, heads.size(2), -1),
        ),
        (
            "The heads are joined number by number: each head must stay in one piece.",
            lambda heads: heads.permute(0, 2, 3, 1).flatten(-2),
        ),
        (
            "The heads are joined in another order than they are split.",
            lambda heads: merge_heads(heads.flip(1)),
        ),
    ]
    ends = [
        ("", package.output_projection),
        (TRANSPOSED, lambda x: x @ package.output_projection.weight),
        ("The output projection is missing: multiply the joined heads by W_O.", lambda x: x),
    ]
    return [_roles(package, inputs), splits, turns, factors, weights, joins, ends]


def _roles(package: MultiHeadAttention, inputs: Sequence[Tensor]) -> list[tuple[str, list[Tensor]]]:
    """The projected query, key and value, and what else may be taken for them, with hints."""
    by = package.query_projection, package.key_projection, package.value_projection
    made, usual = [[project(x) for x in inputs] for project in by], (0, 1, 2)
    roles = [("", [made[role][role] for role in usual])]
    for turned in product((False, True), repeat=3):
        if any(turned):
            wrong = [inputs[role] @ by[role].weight for role in usual]
            roles.append(
                (TRANSPOSED, [wrong[i] if turned[i] else made[i][i] for i in usual]),
            )
    all_read = [(0, 0, 0), *product((0,), (1, 2), (1, 2))]
    for projections, read in product(permutations(usual), all_read):
        hint = "Projections have changed places: query, key and value have one each."
        if projections == usual:
            hint = "A projection reads the wrong input: query, key and value have one each."
        if projections == read:
            hint = "Keys and values have changed places: scores compare queries with keys."
        if not projections == read == usual:
            roles.append((hint, [made[p][x] for p, x in zip(projections, read, strict=True)]))
    return roles


@exercise("4.3")
def check_swapped_heads(answer: Tensor, *, w_o: Tensor) -> None:
    """Exercise 4.3: W_O, stored as (out, in), with heads 1 and 2 swapped.

    Args:
        answer: What the learner gave.
        w_o: The matrix before the heads were swapped.
    """
    repaired = require_shape(answer, tuple(w_o.shape), "(out, in)")
    first, second, rest = w_o.split([D_HEAD, D_HEAD, w_o.size(1) - 2 * D_HEAD], dim=1)
    columns = torch.arange(w_o.size(1))
    one_swap = columns.clone()
    one_swap[:2] = torch.tensor([1, 0])
    lost = (
        "If you assign in place, the first assignment overwrites what the second one reads: a "
        "slice of a tensor is not a copy."
    )
    known_mistakes = {
        "This is w_o as the check gets it. If you have changed it in place, change a clone, and "
        "run the cell again.": w_o,
        f"The columns of head 1 are lost. {lost}": torch.cat([second, second, rest], dim=1),
        f"The columns of head 2 are lost. {lost}": torch.cat([first, first, rest], dim=1),
        "A head is 16 columns wide, not one.": w_o[:, one_swap],
        "That swaps heads 1 and 3: the order must be 2, 1, 3.": torch.cat(
            [w_o[:, 2 * D_HEAD :], second, first], dim=1
        ),
        "The order is now 3, 1, 2; it must be 2, 1, 3.": w_o.roll(D_HEAD, dims=1),
        "The order is now 2, 3, 1; it must be 2, 1, 3.": w_o.roll(-D_HEAD, dims=1),
        "That swaps heads 2 and 3: we count heads from 1.": torch.cat([first, rest, second], dim=1),
    }
    refuse_mistakes(repaired, known_mistakes)
    if not close(repaired, torch.cat([second, first, rest], dim=1)):
        if _has_rows_of(repaired, w_o):
            raise AnswerError(
                "You moved rows. Stored as (out, in), a head is read by columns of W_O."
            )
        if _has_rows_of(repaired, w_o.T) or _has_rows_of(repaired.T, w_o):
            raise AnswerError(
                "Yours is transposed: what was a row is a column. It stays (out, in)."
            )
        if not close(repaired.sort(dim=1).values, w_o.sort(dim=1).values):
            raise AnswerError(
                "The rows of yours no longer hold the numbers of the same rows of w_o: only whole "
                "columns may change their places."
            )
        moved = [
            place for place in columns.tolist() if not close(repaired[:, place], w_o[:, place])
        ]
        raise AnswerError(
            f"{len(moved)} columns have changed, from {moved[0]} to {moved[-1]}. Which columns "
            "read head 1, which head 2, and what must stand there now?"
        )


def _has_rows_of(matrix: Tensor, other: Tensor) -> bool:
    return bool((matrix[:, None] == other).all(dim=-1).any(dim=1).all())
