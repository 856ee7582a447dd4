"""Checks for notebooks/08_decoder.ipynb."""

import torch
from torch import Tensor

from transformer_edu.model.attention import MultiHeadAttention
from transformer_edu.model.vocabulary import END_ID, START_ID
from transformer_edu.teaching.checks.answer import AnswerError, ask, close, exercise, require_shape

BATCH, HEADS, TARGET, SOURCE = 2, 8, 7, 10
D_MODEL, TARGET_LENGTH, SOURCE_LENGTH = 8, 3, 5


@exercise("8.1")
def check_cross_shape(answer: object) -> None:
    """The shape of cross-attention's weights."""
    if not isinstance(answer, (tuple, list)) or len(answer) != 4:
        raise AnswerError("The answer is a tuple of four numbers: batch, heads, query, key.")
    given = tuple(answer)
    hints = {
        (BATCH, HEADS, SOURCE, TARGET): "Rows are queries, and the queries come from the target.",
        (BATCH, HEADS, TARGET, TARGET): "That is the decoder's self-attention: the columns of "
        "cross-attention are the source.",
        (BATCH, HEADS, SOURCE, SOURCE): "That is the encoder's self-attention: the rows of "
        "cross-attention are the target.",
        (BATCH, HEADS, TARGET + 1, SOURCE): "The decoder reads 7 positions: <s> is one of them "
        "already.",
        (BATCH, TARGET, HEADS, SOURCE): "Right numbers; heads come before the two positions: "
        "each head has its own grid.",
        (HEADS, BATCH, TARGET, SOURCE): "Right numbers; the batch comes first.",
    }
    if given in hints:
        raise AnswerError(hints[given])
    if given != (BATCH, HEADS, TARGET, SOURCE):
        raise AnswerError("How long is each of the four axes? The width is not one of them.")


@exercise("8.2")
def check_shift(answer: object) -> None:
    """A function that makes the decoder's input and labels of a target."""
    for target in ([7, 8, 9], [5], [4, 4, 6, 5]):
        given = ask(answer, list(target), START_ID, END_ID)
        if not isinstance(given, (tuple, list)) or len(given) != 2:
            raise AnswerError("Return two lists: the decoder input and the labels.")
        read, labels = (_ids(part) for part in given)
        if (read, labels) != ([START_ID, *target], [*target, END_ID]):
            raise AnswerError(_shift_hint(read, labels, target))


def _ids(part: object) -> list[int]:
    if isinstance(part, Tensor):
        part = part.tolist()
    if not isinstance(part, (list, tuple)):
        raise AnswerError(f"Return two lists of ids; one of yours is {type(part).__name__}.")
    if any(isinstance(each, str) for each in part):
        raise AnswerError("Ids are numbers: use start_id and end_id.")
    return list(part)


def _shift_hint(read: list[int], labels: list[int], target: list[int]) -> str:
    """What is wrong with a decoder's input and labels."""
    if (labels, read) == ([START_ID, *target], [*target, END_ID]):
        return "The two are swapped: first the decoder input, then the labels."
    if read == labels:
        return "Both are the same: the decoder would read the token that it must predict."
    if len(read) != len(labels):
        return "Every input position has one label: both lists must have the same length."
    if END_ID not in labels:
        return "The end token must be a label, otherwise the model never learns to stop."
    if START_ID not in read[:1]:
        return "The first prediction comes before any word: the decoder reads the start token."
    if START_ID in labels:
        return "The start token is an input and never a label."
    if END_ID in read:
        return "There is no prediction after the end token: it is not an input."
    return f"For the target {target} you give {read} and {labels}: shift them by one."


@exercise("8.3")
def check_cross_attention(answer: object) -> None:
    """A function that calls cross-attention with the right roles and mask."""
    generator = torch.Generator().manual_seed(8)
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(8)
        attention = MultiHeadAttention(d_model=D_MODEL, num_heads=2).eval()
        x = torch.randn(2, TARGET_LENGTH, D_MODEL, generator=generator)
        memory = torch.randn(2, SOURCE_LENGTH, D_MODEL, generator=generator)
        mask = torch.arange(SOURCE_LENGTH) < torch.tensor([[[[SOURCE_LENGTH]]], [[[2]]]])
        passed: list[object] = []
        attention.register_forward_pre_hook(
            lambda _, args, named: passed.extend([*args, *named.values()][1:3]),
            with_kwargs=True,
        )
        try:
            given = ask(answer, attention, x, memory, mask)
        except ValueError:
            if all(each is memory for each in passed):
                raise
            raise AnswerError(
                "The mask has one column for each source position, so keys and values must come "
                "from the memory."
            ) from None
        if isinstance(given, Tensor) and given.shape == memory.shape:
            raise AnswerError(
                "The output is as long as the source: the queries must come from the target."
            )
        given = require_shape(given, tuple(x.shape), "(batch, target position, d_model)")
        if close(given, attention(x, memory, memory, mask=mask)):
            return
        if close(given, attention(x, x, x)):
            raise AnswerError("That is self-attention: nothing of the memory reaches the target.")
        if close(given, attention(x, memory, memory)):
            raise AnswerError(
                "The padding of the source receives attention: pass mask=source_mask."
            )
        if close(given, attention(x, memory, memory, mask=~mask)):
            raise AnswerError("The mask is the wrong way round: True means may attend.")
    raise AnswerError("Query from the target, key and value from the memory, mask=source_mask.")
