"""Checks of lesson 4: multi-head attention."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from transformer_edu.teaching.checks.answer import (
    AnswerError,
    ask,
    close,
    exercise,
    refuse_mistakes,
    require_shape,
)

BATCH, HEADS, QUERIES, KEYS, D_MODEL = 3, 16, 5, 7, 512  # of exercise 4.1
GATHERED = (2, 3, 5, 4)  # batch, heads, position, d_head: all lengths differ
D_HEAD = 16  # of exercise 4.3


@exercise("4.1")
def check_weights_shape(answer: Sequence[int]) -> None:
    """Exercise 4.1: the shape of cross-attention's weights, (batch, heads, query, key)."""
    if not isinstance(answer, Sequence) or isinstance(answer, str):
        raise AnswerError("The answer is a tuple of four numbers, (batch, heads, query, key).")
    hints = {
        (BATCH, HEADS, KEYS, QUERIES): "Rows are queries: the target's 5 come before the 7.",
        (BATCH, QUERIES, HEADS, KEYS): "The heads come before the positions.",
        (BATCH, QUERIES, KEYS): "That would be one head. Each of the 16 has a grid of its own.",
        (BATCH, QUERIES, KEYS, HEADS): "Each head has a grid: the heads come before query and key.",
        (BATCH, HEADS, QUERIES, QUERIES): "The target attends to the source, which has 7 words.",
        (BATCH, HEADS, KEYS, KEYS): "The target's 5 words are the queries.",
        (BATCH, HEADS, QUERIES, D_MODEL // HEADS): (
            "That is the shape of the queries. A weight joins a query to a key: d_head is gone."
        ),
        (HEADS, BATCH, QUERIES, KEYS): "The batch is always the first axis.",
    }
    shape = tuple(answer)
    if shape in hints:
        raise AnswerError(hints[shape])
    if shape != (BATCH, HEADS, QUERIES, KEYS):
        raise AnswerError("Four numbers: sentences, heads, queries, keys.")


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
