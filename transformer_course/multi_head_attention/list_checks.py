"""The check of exercise 4.1: a list of heads."""

from collections.abc import Sequence
from contextlib import suppress

import torch
from torch import Tensor, nn

from transformer_course.asking.answer import (
    AnswerError,
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

# Of exercises 4.1 and 4.2. Every length is different, so that no axis passes for another.
BATCH, NUM_HEADS, QUERIES, KEYS, D_MODEL = 2, 3, 5, 7, 24
SIZES = f"batch {BATCH}, {QUERIES} queries, {KEYS} keys, d_model {D_MODEL}, {NUM_HEADS} heads"
OTHER_SIZES = 20, 5  # d_model and heads, tried afterwards
OWN_MASKS = "Right with one mask for all, wrong where sentences, heads or queries have their own."


@exercise("4.1", sizes=SIZES)
def check_list_of_heads(answer: type[nn.Module]) -> None:
    """Exercise 4.1: a class ListOfHeads(d_model, num_heads), with its own random weights."""
    require_class(answer, "ListOfHeads")
    inputs, mask = inputs_and_mask()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(4)
        listed = answer(D_MODEL, NUM_HEADS)
    let_wait(listed, *inputs)
    _require_narrow_heads(listed)
    require_joined(listed, inputs)
    received = require_module(listed, *inputs)
    received = require_shape(received, (BATCH, QUERIES, D_MODEL), "(batch, query, d_model)")
    found = found_heads(listed, inputs)
    if found is None:
        raise AnswerError(_list_hint(listed, received, inputs))
    require_gradients(listed, received)
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
        require_shape(masked, (BATCH, QUERIES, D_MODEL), "(batch, query, d_model) with a mask, too")
        if not close(masked, project(outputs_of(heads, inputs, each))):
            if each.dim() == 3 and each.size(0) > 1:
                raise AnswerError(OWN_MASKS)
            raise AnswerError(
                "Right without a mask, wrong with one: a head gets it as it is, and hides scores."
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


def require_joined(attention: nn.Module, inputs: Sequence[Tensor]) -> None:
    """Refuse heads that do not become rows of d_model numbers before output_projection."""
    shapes: list[tuple[int, ...]] = []
    project = getattr(attention, "output_projection", None)
    if not isinstance(project, nn.Linear):
        return
    hook = project.register_forward_pre_hook(lambda _, given: shapes.append(tuple(given[0].shape)))
    with suppress(Exception):  # it is told later
        attention(*inputs)
    hook.remove()
    if shapes and shapes[-1] == (BATCH, QUERIES, D_MODEL // NUM_HEADS):
        raise AnswerError(
            f"output_projection gets {shapes[-1]}, as many numbers as one head has: put the "
            "outputs of all heads side by side, not their sum or the last one."
        )
    if shapes and shapes[-1][:2] == (BATCH, NUM_HEADS):
        raise AnswerError(
            f"output_projection gets {shapes[-1]}: move the heads behind the positions, then join "
            "them."
        )
    if shapes and shapes[-1][-1:] != (D_MODEL,):
        raise AnswerError(
            f"output_projection gets {shapes[-1]}: join the heads along the last axis, so that it "
            f"gets (batch, query, d_model) = {(BATCH, QUERIES, D_MODEL)}."
        )


def _require_narrow_heads(listed: nn.Module) -> None:
    """Refuse heads that PyTorch does not see, that are one head, or that are too wide."""
    narrow, wide = narrow_and_wide(listed, D_MODEL)
    for name, value in vars(listed).items():
        if name.startswith("_"):
            continue
        held = value.values() if isinstance(value, dict) else value
        if isinstance(value, list | tuple | dict) and any(isinstance(x, nn.Module) for x in held):
            kind = type(value).__name__
            is_comma = kind == "tuple" and len(value) == 1
            advice = "a comma behind a layer makes one" if is_comma else "use nn.ModuleList"
            raise AnswerError(
                f"self.{name} is a plain {kind}, in which PyTorch finds no layers: {advice}."
            )
    project = getattr(listed, "output_projection", None)
    if isinstance(project, nn.Linear) and project.weight.shape != (D_MODEL, D_MODEL):
        raise AnswerError(
            "output_projection goes from d_model to d_model: a head makes d_head numbers, so all "
            "heads side by side make d_model."
        )
    if any(each.in_features != D_MODEL for each in narrow):
        raise AnswerError(
            "A head reads the whole vector of a word: its matrices go from d_model to d_head."
        )
    if narrow and any(each.in_features != D_MODEL for each in wide):
        raise AnswerError("output_projection reads all heads side by side: d_model to d_model.")
    if len(wide) > 1:
        raise AnswerError(
            f"Only output_projection makes d_model numbers. A head makes {D_MODEL // NUM_HEADS}: "
            "d_model divided by the number of heads."
        )
    if len(narrow) == 3:
        raise AnswerError(
            f"PyTorch finds the matrices of one head; {NUM_HEADS} heads need their own. Is one "
            "object in the list several times, or the list made anew in a loop?"
        )
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
        f"The reshape of the heads mixes positions: {own}": project(
            parts.transpose(1, 2).reshape(outputs.shape)
        ),
        f"The reshape of the heads mixes sentences: {own}": project(
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
        "key has no effect: every head gets value twice.": project(
            outputs_of(heads, [query, value, value])
        ),
        "value has no effect: every head gets key twice.": project(
            outputs_of(heads, [query, key, key])
        ),
        "nn.Linear stores the transpose: call output_projection itself.": outputs @ project.weight,
    }
    for hint, mistake in mistakes.items():
        if close(received, mistake):
            return hint
    require_gradients(listed, received)
    return "The shape is right, the numbers are not: look at heads, joining, and what follows."


def inputs_and_mask() -> tuple[list[Tensor], Tensor]:
    """Query, key and value of the check's own, and a mask; the same every time."""
    generator = torch.Generator().manual_seed(4)
    inputs = [
        torch.randn(BATCH, length, D_MODEL, generator=generator) for length in (QUERIES, KEYS, KEYS)
    ]
    return inputs, (torch.arange(KEYS) < KEYS - 2)[None, None, None, :]
