"""Checks of lesson 8: the shift, the decoder layer, the stack, the shape of cross-attention."""

from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from io import StringIO

import torch
from torch import Tensor, nn

from transformer_course.asking.answer import (
    AnswerError,
    ask,
    close,
    exercise,
    let_wait,
    require_module,
    require_untouched,
)
from transformer_course.asking.layers import (
    D_FF,
    D_MODEL,
    DROPOUT,
    NUM_HEADS,
    build_module,
    carry_over,
    package_layers,
    require_chain,
    require_dropout,
    require_layers,
    require_parts,
    require_same,
    require_wired,
)
from transformer_course.my_transformer import keep
from transformer_edu.model.decoder import Decoder, DecoderLayer
from transformer_edu.model.special_ids import END_ID, START_ID

# Every length is different, so that no axis passes for another.
BATCH, TARGET_LENGTH, SOURCE_LENGTH, LAYERS = 2, 4, 5, 7
PARTS = (
    "self_attention",
    "cross_attention",
    "feed_forward",
    "around_self_attention",
    "around_cross_attention",
    "around_feed_forward",
)
AXES = "(batch, target position, d_model)"
# Of exercise 8.4
PAIRS, HEADS, TARGET, SOURCE = 2, 8, 7, 10
IDS = (START_ID, END_ID)  # of exercise 8.1, which hands over others as well


@exercise("8.1")
def check_shift(answer: object) -> None:
    """Exercise 8.1: a function that makes the decoder's input and labels of a target."""
    for target, ends in (([7, 8, 9], IDS), ([5], IDS), ([4, 4, 6, 5], IDS), ([7, 8, 9], (3, 0))):
        handed, (start, end) = list(target), ends
        given = ask(answer, handed, start, end)
        require_untouched([handed], [target])
        if not isinstance(given, (tuple, list)) or len(given) != 2:
            raise AnswerError("Return two lists: the decoder input and the labels.")
        read, labels = (_ids(part) for part in given)
        if (read, labels) != ([start, *target], [*target, end]):
            if ends != IDS:
                raise AnswerError("Right for ids 1 and 2 only: use start_id and end_id.")
            raise AnswerError(_shift_hint(read, labels, target))


def _ids(part: object) -> list[int]:
    if isinstance(part, Tensor):
        part = part.tolist()
    if not isinstance(part, (list, tuple)):
        raise AnswerError(f"Return two lists of ids; one of yours is {type(part).__name__}.")
    if any(isinstance(each, str) for each in part):
        raise AnswerError("Ids are numbers: use start_id and end_id.")
    if any(isinstance(each, (list, tuple)) for each in part):
        raise AnswerError(f"A list stands inside a list: {list(part)}.")
    return list(part)


def _shift_hint(read: list[int], labels: list[int], target: list[int]) -> str:
    """What is wrong with a decoder's input and labels."""
    if (labels, read) == ([START_ID, *target], [*target, END_ID]):
        return "The two are swapped: first the decoder input, then the labels."
    if read == labels:
        return "Both are the same: the decoder would read the token that it must predict."
    if len(read) != len(labels):
        return (
            "Every input position has one label: both lists must have the same length. Yours have "
            f"{len(read)} and {len(labels)}."
        )
    if END_ID not in labels:
        return "The end token must be a label, otherwise the model never learns to stop."
    if START_ID not in read[:1]:
        return "The first prediction comes before any word: the decoder reads the start token."
    if START_ID in labels:
        return "The start token is an input and never a label."
    if END_ID in read:
        return "There is no prediction after the end token: it is not an input."
    if len(labels) != len(target) + 1:
        return (
            f"{len(target)} tokens and the end token make {len(target) + 1} labels; you give "
            f"{len(labels)}: {labels}."
        )
    return f"For the target {target} you give {read} and {labels}: keep its order."


def use_shift(
    answer: Callable[[list[int], int, int], object], target: list[int]
) -> tuple[list[int], list[int]]:
    """What the decoder reads and its labels, made by the reader's function of exercise 8.1.

    It is made by the course's where the reader's is not right: this is printed.

    Args:
        answer: The reader's function.
        target: The ids of a sentence.
    """
    with suppress(Exception), redirect_stdout(StringIO()) as said:
        check_shift(answer)
        if "correct" in said.getvalue():
            read, labels = answer(target, START_ID, END_ID)
            return _ids(read), _ids(labels)
    print("The course's shift, because yours is not right yet.")
    return [START_ID, *target], [*target, END_ID]


@exercise("8.2")
def check_decoder_layer(answer: type[nn.Module]) -> None:
    """Exercise 8.2: a class DecoderLayer, which gets the package's weights.

    It is kept in the reader's own file.
    """
    layer = build_module(answer, "DecoderLayer", D_MODEL, NUM_HEADS, D_FF, 0.0)
    inputs = _inputs()
    let_wait(layer, inputs["x"], inputs["memory"])
    require_parts(layer, PARTS, " of an earlier lesson.")
    dropping = answer(D_MODEL, NUM_HEADS, D_FF, DROPOUT)
    require_dropout(dropping, "all three AddAndNorm", inputs["x"], inputs["memory"])
    package = _layers()[0]
    carry_over(package, layer)
    flow = {
        "around_self_attention": ("self_attention", ("x", "x", "x", "target_mask")),
        "around_cross_attention": ("cross_attention", ("x", "memory", "memory", "source_mask")),
        "around_feed_forward": ("feed_forward", ("x",)),
    }
    require_wired(layer, flow, inputs)
    _require_answers(answer, layer, package, inputs)


def _require_answers(
    answer: type[nn.Module], module: nn.Module, package: nn.Module, inputs: dict[str, Tensor]
) -> None:
    """Keep a class whose module answers as the package's does, also without masks."""
    x, memory, target_mask, source_mask = inputs.values()
    expected = package(x, memory, target_mask=target_mask, source_mask=source_mask)
    require_same(require_module(module, *inputs.values()), expected)
    if not close(ask(module, x, memory), package(x, memory)):
        raise AnswerError("Without masks the numbers differ: None must work for both.")
    keep(answer)


@exercise("8.3")
def check_decoder(answer: type[nn.Module]) -> None:
    """Exercise 8.3: a class Decoder, a stack of the reader's layers with the package's weights.

    It is kept in the reader's own file.
    """
    decoder = build_module(answer, "Decoder", LAYERS, D_MODEL, NUM_HEADS, D_FF, 0.0)
    inputs = _inputs()
    let_wait(decoder, inputs["x"], inputs["memory"])
    require_layers(decoder, LAYERS, "DecoderLayer")
    dropping = answer(LAYERS, D_MODEL, NUM_HEADS, D_FF, DROPOUT)
    require_dropout(dropping, "all layers", inputs["x"], inputs["memory"])
    package = Decoder(_layers())
    for own, theirs in zip(decoder.layers, package.layers, strict=True):
        carry_over(theirs, own)
    require_chain(decoder, inputs)
    _require_answers(answer, decoder, package, inputs)


@exercise("8.4")
def check_cross_shape(answer: object) -> None:
    """Exercise 8.4: the shape of cross-attention's weights."""
    answer = answer.tolist() if isinstance(answer, Tensor) else answer
    if not isinstance(answer, (tuple, list)) or len(answer) != 4:
        raise AnswerError("The answer is a tuple of four numbers: batch, heads, query, key.")
    given = tuple(answer)
    hints = {
        (PAIRS, HEADS, SOURCE, TARGET): "Rows are queries, and the queries come from the target.",
        (PAIRS, HEADS, TARGET, TARGET): "That is the decoder's self-attention: the columns of "
        "cross-attention are the source.",
        (PAIRS, HEADS, SOURCE, SOURCE): "That is the encoder's self-attention: the rows of "
        "cross-attention are the target.",
        (PAIRS, HEADS, TARGET + 1, SOURCE): "The decoder reads 7 positions: <s> is one of them "
        "already.",
        (PAIRS, HEADS, TARGET - 1, SOURCE): "The decoder reads <s>, too: 7 positions.",
        (PAIRS, TARGET, HEADS, SOURCE): "Right numbers; heads come before the two positions: "
        "each head has its own grid.",
        (HEADS, PAIRS, TARGET, SOURCE): "Right numbers; the batch comes first.",
    }
    if given in hints:
        raise AnswerError(hints[given])
    if given != (PAIRS, HEADS, TARGET, SOURCE):
        raise AnswerError(
            "How long is each axis: batch, heads, queries of the target, keys of the source?"
        )


def _inputs() -> dict[str, Tensor]:
    """Target, memory and both masks, by the names of the scaffold; the same every time."""
    generator = torch.Generator().manual_seed(8)
    lengths = torch.tensor([SOURCE_LENGTH, 2])
    return {
        "x": torch.randn(BATCH, TARGET_LENGTH, D_MODEL, generator=generator),
        "memory": torch.randn(BATCH, SOURCE_LENGTH, D_MODEL, generator=generator),
        "target_mask": torch.ones(TARGET_LENGTH, TARGET_LENGTH, dtype=torch.bool).tril(),
        "source_mask": torch.arange(SOURCE_LENGTH) < lengths[:, None, None, None],
    }


def _layers() -> list[DecoderLayer]:
    return package_layers(DecoderLayer, LAYERS, seed=8)
