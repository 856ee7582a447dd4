"""Checks of lesson 4: multi-head attention."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from transformer_course.asking.answer import (
    AnswerError,
    ask,
    close,
    exercise,
    refuse_mistakes,
    require_shape,
)
from transformer_course.my_transformer import keep
from transformer_edu.model.attention import (
    MultiHeadAttention,
    merge_heads,
    scaled_dot_product_attention,
    split_heads,
)

# Of exercise 4.1. Every length is different, so that no axis passes for another.
BATCH, NUM_HEADS, QUERIES, KEYS, D_MODEL = 2, 3, 4, 5, 24
GATHERED = (2, 3, 5, 4)  # batch, heads, position, d_head: all lengths differ
D_HEAD = 16  # of exercise 4.3


@exercise("4.1")
def check_multi_head_attention(answer: type[nn.Module]) -> None:
    """Exercise 4.1: a class MultiHeadAttention(d_model, num_heads), given the package's weights.

    It is kept in the reader's own file.
    """
    if not (isinstance(answer, type) and issubclass(answer, nn.Module)):
        raise AnswerError("The answer is the class MultiHeadAttention itself, not an object of it.")
    inputs, mask = _inputs_and_mask()
    attention = answer(D_MODEL, NUM_HEADS)
    try:
        ask(attention, *inputs)
    except (RuntimeError, AttributeError) as error:
        _require_projections(attention)
        raise AnswerError(
            f"The shapes do not fit: {error}. After unflatten, transpose(1, 2) moves the heads in "
            "front of the positions; otherwise heads are compared with heads."
        ) from None
    _require_projections(attention)
    package = MultiHeadAttention(d_model=D_MODEL, num_heads=NUM_HEADS)
    attention.load_state_dict(package.state_dict())
    expected = package(*inputs)
    received = ask(attention, *inputs)
    if isinstance(received, Tensor) and received.dim() == 4:
        raise AnswerError(
            f"The heads are not joined: the result has the shape {tuple(received.shape)}. Move "
            "them behind the positions, flatten the last two axes, and project."
        )
    received = require_shape(received, tuple(expected.shape), "(batch, query, d_model)")
    refuse_mistakes(received, _usual_mistakes(package, inputs))
    if not close(received, expected):
        raise AnswerError(
            "The shape is right, the numbers are not. Split: unflatten the last axis into "
            "(num_heads, -1), then transpose(1, 2). Attend. Join: transpose(1, 2), flatten(-2). "
            "Then the output projection."
        )
    if not close(ask(attention, *inputs, mask), package(*inputs, mask=mask)):
        raise AnswerError("With a mask the result is wrong: hand mask on to super().attend.")
    keep(answer)


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
                f"self.{name}_projection must be an nn.Linear. super().__init__(d_model, d_model) "
                "makes the first three; you add output_projection."
            )
        if projection.bias is not None:
            raise AnswerError(f"The paper has no bias here: {name}_projection needs bias=False.")
        if tuple(projection.weight.shape) != (D_MODEL, D_MODEL):
            got = f"nn.Linear({projection.in_features}, {projection.out_features})"
            raise AnswerError(
                f"{name}_projection holds all heads side by side, nn.Linear(d_model, d_model); "
                f"yours is {got}."
            )


def _usual_mistakes(package: MultiHeadAttention, inputs: Sequence[Tensor]) -> dict[str, Tensor]:
    """What an output of the right shape with wrong numbers comes from, by its hint."""
    names = ("query_projection", "key_projection", "value_projection")
    projected = [package.get_submodule(name)(x) for name, x in zip(names, inputs, strict=True)]
    project = package.output_projection
    split = [split_heads(x, NUM_HEADS) for x in projected]
    heads, _ = scaled_dot_product_attention(*split)
    viewed = [x.reshape(BATCH, NUM_HEADS, x.size(1), -1) for x in projected]
    interleaved = [x.unflatten(-1, (-1, NUM_HEADS)).permute(0, 3, 1, 2) for x in projected]
    merged = merge_heads(heads)
    return {
        "That is attention with one head: split the last axis before super().attend.": (
            project(scaled_dot_product_attention(*projected)[0])
        ),
        "The output projection is missing: multiply the joined heads by W_O.": merged,
        "view and reshape cut between words (section 3). Split with unflatten(-1, (num_heads, -1)) "
        "and transpose(1, 2).": project(merge_heads(scaled_dot_product_attention(*viewed)[0])),
        "unflatten has its sizes in the wrong order: (num_heads, -1), each head in one piece.": (
            project(merge_heads(scaled_dot_product_attention(*interleaved)[0]))
        ),
        "The heads are joined without moving them behind the positions: transpose(1, 2) first, "
        "then flatten(-2).": project(heads.reshape(merged.shape)),
        "The scores are divided by √d_model. Each head has d_head numbers: let super().attend "
        "divide, after the split.": project(
            merge_heads(
                scaled_dot_product_attention(split[0] / NUM_HEADS**0.5, split[1], split[2])[0]
            )
        ),
    }


@exercise("4.2")
def check_merged(answer: Callable[[Tensor], Tensor]) -> None:
    """Exercise 4.2: (batch, heads, position, d_head) → (batch, position, d_model)."""
    batch, heads, length, d_head = GATHERED
    gathered = torch.arange(batch * heads * length * d_head, dtype=torch.float32).view(GATHERED)
    shape = (batch, length, heads * d_head)
    merged = ask(answer, gathered)
    if isinstance(merged, Tensor) and merged.shape == (batch, length, heads, d_head):
        raise AnswerError("The axes are in order; now flatten the last two into d_model.")
    if isinstance(merged, Tensor) and merged.shape == (batch, heads * d_head, length):
        raise AnswerError("Position must come second and d_model last.")
    merged = require_shape(merged, shape, "(batch, position, d_model)")
    known_mistakes = {
        "That is the friend's version: the first rows come from head 1 alone. Move position before "
        "the heads first.": gathered.reshape(shape),
        "The heads are interleaved, number by number: within a word, head 1's numbers come first, "
        "then head 2's.": gathered.permute(0, 2, 3, 1).flatten(-2),
        "You moved d_head, not the heads, before you reshaped.": gathered.transpose(2, 3).reshape(
            shape
        ),
        "The heads are in reverse order.": gathered.flip(1).transpose(1, 2).flatten(-2),
    }
    refuse_mistakes(merged, known_mistakes)
    if not close(merged, gathered.transpose(1, 2).flatten(-2)):
        raise AnswerError("Two steps: transpose heads and position, flatten the last two axes.")


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
    known_mistakes = {
        "Nothing has changed yet.": w_o,
        "You swapped rows. Stored as (out, in), a head is read by columns of W_O.": torch.cat(
            [w_o[D_HEAD : 2 * D_HEAD], w_o[:D_HEAD], w_o[2 * D_HEAD :]]
        ),
        "A head is 16 columns wide, not one.": w_o[:, one_swap],
        "That swaps heads 1 and 3: the order must be 2, 1, 3.": torch.cat(
            [w_o[:, 2 * D_HEAD :], second, first], dim=1
        ),
        "All heads moved by one; head 3 must stay in its place.": w_o.roll(D_HEAD, dims=1),
        "That swaps heads 2 and 3: we count heads from 1.": torch.cat([first, rest, second], dim=1),
    }
    refuse_mistakes(repaired, known_mistakes)
    if not close(repaired, torch.cat([second, first, rest], dim=1)):
        raise AnswerError("Exchange columns 0 – 15 with columns 16 – 31; leave the others.")
