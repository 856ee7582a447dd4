"""Checks of lesson 4: multi-head attention."""

from collections.abc import Sequence
from contextlib import suppress
from itertools import product

import torch
from torch import Tensor, nn

from transformer_course.asking.answer import (
    NOTHING_ALLOWED,
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
)
from transformer_course.multi_head_attention.list_of_heads import (
    Head,
    different_masks,
    found_heads,
    narrow_and_wide,
    outputs_of,
)
from transformer_course.my_transformer import keep
from transformer_edu.model.attention import (
    MultiHeadAttention,
    merge_heads,
    scaled_dot_product_attention,
    split_heads,
)

# Of exercises 4.1 and 4.2. Every length is different, so that no axis passes for another.
BATCH, NUM_HEADS, QUERIES, KEYS, D_MODEL = 2, 3, 4, 5, 24
SIZES = f"batch {BATCH}, {QUERIES} queries, {KEYS} keys, d_model {D_MODEL}, {NUM_HEADS} heads"
OTHER_SIZES = 20, 5  # d_model and heads, tried afterwards
D_HEAD = 16  # of exercise 4.3
OWN_MASKS = "Right with one mask for all, wrong where sentences, heads or queries have their own."


@exercise("4.1", sizes=SIZES)
def check_list_of_heads(answer: type[nn.Module]) -> None:
    """Exercise 4.1: a class ListOfHeads(d_model, num_heads), with its own random weights."""
    require_class(answer, "ListOfHeads")
    inputs, mask = _inputs_and_mask()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(4)
        listed = answer(D_MODEL, NUM_HEADS)
    let_wait(listed, *inputs)
    _require_narrow_heads(listed)
    received = require_module(listed, *inputs)
    received = require_shape(received, (BATCH, QUERIES, D_MODEL), "(batch, query, d_model)")
    require_gradients(listed, received)
    found = found_heads(listed, inputs)
    if found is None:
        raise AnswerError(_list_hint(listed, received, inputs))
    heads, project = found
    for each in (mask[0], mask[0, 0], different_masks(BATCH, NUM_HEADS, QUERIES, KEYS)[:, 0]):
        masked = require_module(listed, *inputs, each)
        hints = {
            "The mask changes nothing: does each head get it?": received,
            "The polarity is inverted: where mask is True, a query *may attend*.": project(
                outputs_of(heads, inputs, ~each)
            ),
        }
        refuse_mistakes(masked, hints)
        if not close(masked, project(outputs_of(heads, inputs, each))):
            if each.dim() == 3 and each.size(0) > 1:
                raise AnswerError(OWN_MASKS)
            raise AnswerError(
                "Right without a mask, wrong with one: give it to every head, as it is."
            )
    d_model, num_heads = OTHER_SIZES
    others, found = [x[..., :d_model] for x in inputs], None
    with suppress(Exception):  # a fixed size often stops
        found = found_heads(answer(d_model, num_heads), others)
    if found is None or len(found[0]) != num_heads:
        raise AnswerError(
            f"Right with d_model {D_MODEL} and {NUM_HEADS} heads, wrong with d_model {d_model} and "
            f"{num_heads} heads: some size in your code is fixed."
        )


def _require_narrow_heads(listed: nn.Module) -> None:
    """Refuse heads that PyTorch does not see, that are one head, or that are too wide."""
    narrow, wide = narrow_and_wide(listed, D_MODEL)
    for value in (value for name, value in vars(listed).items() if not name.startswith("_")):
        held = value.values() if isinstance(value, dict) else value
        if isinstance(value, list | tuple | dict) and any(isinstance(x, nn.Module) for x in held):
            hint = "In a plain list, PyTorch does not find the heads: use nn.ModuleList."
            raise AnswerError(hint.replace("list", type(value).__name__))
    if any(each.in_features != D_MODEL for each in narrow):
        raise AnswerError(
            "A head reads the whole vector of a word: its matrices go from d_model to d_head."
        )
    if narrow and any(each.in_features != D_MODEL for each in wide):
        raise AnswerError("output_projection reads all heads side by side: d_model to d_model.")
    if len(wide) > 1:
        raise AnswerError(
            f"{len(wide)} layers make d_model numbers. Only output_projection should: a head is "
            "narrower."
        )
    if len(narrow) == 3:
        raise AnswerError("All heads are one and the same: each needs matrices of its own.")
    if len(narrow) != 3 * NUM_HEADS:
        raise AnswerError(
            f"{NUM_HEADS} heads have {3 * NUM_HEADS} narrow projections; PyTorch finds "
            f"{len(narrow)} in yours."
        )
    if any(each.out_features != D_MODEL // NUM_HEADS for each in narrow):
        raise AnswerError(
            f"With d_model {D_MODEL} and {NUM_HEADS} heads, a head is {D_MODEL // NUM_HEADS} wide; "
            f"yours is {narrow[0].out_features}."
        )
    if not wide:
        raise AnswerError("The output projection is missing: nn.Linear(d_model, d_model).")
    if any(each.bias is not None for each in (*narrow, *wide)):
        raise AnswerError("The paper has no bias here: each nn.Linear needs bias=False.")


def _list_hint(listed: nn.Module, received: Tensor, inputs: Sequence[Tensor]) -> str:
    """What a list of heads of the right shape with wrong numbers comes from."""
    narrow, (project,) = narrow_and_wide(listed, D_MODEL)
    heads: list[Head] = [tuple(narrow[at : at + 3]) for at in range(0, len(narrow), 3)]
    outputs, (query, key, value) = outputs_of(heads, inputs), inputs
    parts = outputs.unflatten(-1, (NUM_HEADS, -1))
    own = "a row needs its own numbers of every head."
    mistakes = {
        "The output projection is missing: multiply the joined heads by W_O.": outputs,
        "The heads are joined number by number: each head must stay in one piece.": project(
            parts.transpose(-2, -1).flatten(-2)
        ),
        f"The reshape after stack mixes positions: {own}": project(
            parts.transpose(1, 2).reshape(outputs.shape)
        ),
        f"The reshape after stack mixes sentences: {own}": project(
            parts.permute(2, 0, 1, 3).reshape(outputs.shape)
        ),
        "The same head stands there several times: join the outputs of all heads.": project(
            parts[:, :, :1].expand_as(parts).flatten(-2)
        ),
        "The last head stands there several times: join the outputs of all heads.": project(
            parts[:, :, -1:].expand_as(parts).flatten(-2)
        ),
        "An average mixes the heads again: put their outputs side by side.": project(
            parts.mean(dim=2, keepdim=True).expand_as(parts).flatten(-2)
        ),
        "A sum mixes the heads again: put their outputs side by side.": project(
            parts.sum(dim=2, keepdim=True).expand_as(parts).flatten(-2)
        ),
        "A head gets query, key and value in this order; yours gets them in another.": project(
            outputs_of(heads, [query, value, key])
        ),
        "key and value have no effect: every head gets query three times.": project(
            outputs_of(heads, [query, query, query])
        ),
    }
    same = [hint for hint, mistake in mistakes.items() if close(received, mistake)]
    return (same or ["The shape is right, but these are not the joined outputs of the heads."])[0]


@exercise("4.2", sizes=SIZES)
def check_multi_head_attention(answer: type[nn.Module]) -> None:
    """Exercise 4.2: a class MultiHeadAttention(d_model, num_heads), given the package's weights.

    It is kept in the reader's own file.
    """
    require_class(answer, "MultiHeadAttention")
    inputs, mask = _inputs_and_mask()
    attention, package = answer(D_MODEL, NUM_HEADS), _package(NUM_HEADS)
    let_wait(attention, *inputs)
    _require_projections(attention)
    attention.load_state_dict(package.state_dict())
    expected, received = package(*inputs), require_module(attention, *inputs)
    if isinstance(received, Tensor) and received.dim() == 4:
        raise AnswerError(
            f"The heads are not joined: the result has the shape {tuple(received.shape)}."
        )
    received = require_shape(received, tuple(expected.shape), "(batch, query, d_model)")
    require_gradients(attention, received)
    if not close(received, expected):
        raise AnswerError(_numbers_hint(answer, received, package, inputs))
    masked, flat = require_module(attention, *inputs, mask[0, 0]), tuple(mask[0, 0].shape)
    hints = {
        "The mask changes nothing: the softmax still gets every score. (masked_fill returns a "
        "new tensor.)": expected,
        "The polarity is inverted: where mask is True, a query *may attend*.": package(
            *inputs, mask=~mask
        ),
    }

    def is_right_with(each: Tensor) -> bool:
        with suppress(Exception):  # what stops here may run with a mask of fewer axes
            return close(attention(*inputs, each), package(*inputs, mask=each))
        return False

    if not close(masked, package(*inputs, mask=mask)):
        if is_right_with(mask):
            raise AnswerError(
                f"Right with a mask {tuple(mask.shape)}, wrong with a mask {flat}: it broadcasts."
            )
        refuse_mistakes(masked, hints)
        raise AnswerError(
            "Right without a mask, wrong with one: before the softmax, hidden scores become so low "
            "that nothing is left of their weights."
        )
    different = different_masks(BATCH, NUM_HEADS, QUERIES, KEYS)
    for each in (mask, mask.expand(BATCH, NUM_HEADS, QUERIES, KEYS), different[:, :1], different):
        if not is_right_with(each):
            if each is not mask and is_right_with(mask.expand_as(each)):
                raise AnswerError(OWN_MASKS)
            raise AnswerError(
                f"Right with a mask (query, key), wrong with a mask {tuple(each.shape)}: it can "
                "have an axis for the batch and one for the heads, of length 1 or longer."
            )
    if not ask(attention, *inputs, torch.zeros_like(mask)).isfinite().all():
        raise AnswerError(NOTHING_ALLOWED)
    _require_other_sizes(answer)
    keep(answer)


def _require_other_sizes(answer: type[nn.Module]) -> None:
    """Refuse a class that is right with the sizes of the check only."""
    d_model, num_heads = OTHER_SIZES
    inputs = [x[:1, 1:, :d_model] for x in _inputs_and_mask()[0]]
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


def _inputs_and_mask() -> tuple[list[Tensor], Tensor]:
    """Query, key and value of the check's own, and a mask; the same every time."""
    generator = torch.Generator().manual_seed(4)
    inputs = [
        torch.randn(BATCH, length, D_MODEL, generator=generator) for length in (QUERIES, KEYS, KEYS)
    ]
    return inputs, (torch.arange(KEYS) < KEYS - 2)[None, None, None, :]


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
                f"{name}_projection holds all heads side by side, nn.Linear(d_model, d_model); "
                f"yours is {got}."
            )


def _numbers_hint(
    answer: type[nn.Module],
    received: Tensor,
    package: MultiHeadAttention,
    inputs: Sequence[Tensor],
) -> str:
    """What an output of the right shape with wrong numbers comes from."""
    names = ("query_projection", "key_projection", "value_projection")
    projected = [package.get_submodule(name)(x) for name, x in zip(names, inputs, strict=True)]
    project, d_head = package.output_projection, D_MODEL // NUM_HEADS
    splits = {
        "": [split_heads(x, NUM_HEADS) for x in projected],
        "view and reshape cut between words here: a head needs a part of every word.": [
            x.reshape(BATCH, NUM_HEADS, x.size(1), -1) for x in projected
        ],
        "A head must be one piece of d_head numbers; yours takes every third number.": [
            x.unflatten(-1, (-1, NUM_HEADS)).permute(0, 3, 1, 2) for x in projected
        ],
        "That is attention with one head: the last axis is not split.": [
            x.unsqueeze(1) for x in projected
        ],
    }
    joins = {
        "": merge_heads,
        "The heads are joined without moving them behind the positions.": (
            lambda heads: heads.reshape(BATCH, heads.size(2), -1)
        ),
        "The heads are joined number by number: each head must stay in one piece.": (
            lambda heads: heads.permute(0, 2, 3, 1).flatten(-2)
        ),
        "The heads are joined in reverse order.": lambda heads: merge_heads(heads.flip(1)),
    }
    scales = {
        "": 1.0,
        "The scores are divided by √d_model; each head has d_head numbers.": NUM_HEADS**-0.5,
        "The scores are not divided by √d_head.": d_head**0.5,
        "The scores are divided by d_head: take its square root.": d_head**-0.5,
    }
    others = {NUM_HEADS, *(x.size(1) for x in inputs)} - {d_head}
    scales |= {
        f"The scores are divided by √{other}; that is not √d_head.": (d_head / other) ** 0.5
        for other in sorted(others)
    }
    if close(received, merge_heads(scaled_dot_product_attention(*splits[""])[0])):
        return "The output projection is missing: multiply the joined heads by W_O."
    for (split, heads), (join, joined), (scale, factor) in product(
        splits.items(), joins.items(), scales.items()
    ):
        query, key, value = heads
        gathered, _ = scaled_dot_product_attention(query * factor, key, value)
        if close(received, project(joined(gathered))):
            return split or join or scale
    query, key, value = splits[""]
    scores = query @ key.mT / d_head**0.5
    if close(received, project(merge_heads(scores @ value))):
        return "The softmax is missing between the scores and the average."
    late = (scores * d_head**0.5).softmax(dim=-1) @ value / d_head**0.5
    if close(received, project(merge_heads(late))):
        return "The scale belongs to the scores, before the softmax: it shrinks your averages."
    for axis, what in ((2, "queries"), (1, "heads"), (0, "batch")):
        if close(received, project(merge_heads(scores.softmax(dim=axis) @ value))):
            return f"The softmax runs over the {what}: the keys are the last axis."
    for read in product(inputs, repeat=3):
        if read[1].size(1) == read[2].size(1) and close(received, package(*read)):
            return "A projection reads the wrong input: query, key and value have one each."
    for heads in (2, 4, 6, 8, 12):
        if close(received, _package(heads)(*inputs)):
            return f"With num_heads={NUM_HEADS} your class cuts {heads} heads."
    one, ours = answer(D_MODEL, 1), _package(1)
    one.load_state_dict(ours.state_dict())
    if close(one(*inputs), ours(*inputs)):
        return (
            f"With num_heads=1 your class is right, with {NUM_HEADS} it is not: look at where the "
            "heads are split and joined."
        )
    return (
        "Already with num_heads=1 the numbers are not those of one attention with an output "
        "projection: try this case first."
    )


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
        "You swapped rows. Stored as (out, in), a head is read by columns of W_O.": torch.cat(
            [w_o[D_HEAD : 2 * D_HEAD], w_o[:D_HEAD], w_o[2 * D_HEAD :]]
        ),
        f"The columns of head 1 are lost. {lost}": torch.cat([second, second, rest], dim=1),
        f"The columns of head 2 are lost. {lost}": torch.cat([first, first, rest], dim=1),
        "A head is 16 columns wide, not one.": w_o[:, one_swap],
        "That swaps heads 1 and 3: the order must be 2, 1, 3.": torch.cat(
            [w_o[:, 2 * D_HEAD :], second, first], dim=1
        ),
        "All heads moved by one; head 3 must stay in its place.": w_o.roll(D_HEAD, dims=1),
        "That swaps heads 2 and 3: we count heads from 1.": torch.cat([first, rest, second], dim=1),
    }
    refuse_mistakes(repaired, known_mistakes)
    if not close(repaired, torch.cat([second, first, rest], dim=1)):
        moved = [
            place for place in columns.tolist() if not close(repaired[:, place], w_o[:, place])
        ]
        raise AnswerError(
            f"Columns {moved[0]} to {moved[-1]} have changed. Which columns read head 1, which "
            "head 2, and what must stand there now?"
        )
