"""Checks of lesson 8: the decoder layer, the stack, the shape of cross-attention, the shift."""

from contextlib import suppress

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
from transformer_course.asking.layers import (
    D_FF,
    D_MODEL,
    DROPOUT,
    NUM_HEADS,
    build_module,
    carry_over,
    loop_mistakes,
    package_layers,
    require_dropout,
    require_layers,
    require_parts,
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
FOUR_INHERITED = (
    ". Four parts come from EncoderLayer: super().__init__(d_model, num_heads, d_ff, dropout)."
)
AXES = "(batch, target position, d_model)"
ROLES = "In cross-attention the queries come from the target, keys and values from the memory."
# Of exercise 8.3
PAIRS, HEADS, TARGET, SOURCE = 2, 8, 7, 10


@exercise("8.1")
def check_decoder_layer(answer: type[nn.Module]) -> None:
    """Exercise 8.1: a class DecoderLayer, which gets the package's weights.

    It is kept in the reader's own file.
    """
    layer = build_module(answer, "DecoderLayer", D_MODEL, NUM_HEADS, D_FF, 0.0)
    x, memory, target_mask, source_mask = _inputs()
    with suppress(RuntimeError, AttributeError, TypeError):  # three dots first, then what is wrong
        ask(layer, x, memory)
    require_parts(layer, PARTS, FOUR_INHERITED)
    _ask_whole(layer, x, memory)
    require_dropout(answer(D_MODEL, NUM_HEADS, D_FF, DROPOUT), "all three AddAndNorm")
    package = _layers()[0]
    carry_over(package, layer)
    received = _ask_whole(layer, x, memory)
    if not close(received, package(x, memory)):
        _refuse_layer(received, package, x, memory)
    try:
        masked = ask(layer, x, memory, target_mask, source_mask)
    except RuntimeError:
        raise AnswerError(
            "A mask does not fit: target_mask belongs to self-attention, source_mask to "
            "cross-attention."
        ) from None
    if not close(masked, package(x, memory, target_mask=target_mask, source_mask=source_mask)):
        _refuse_masks(masked, package, x, memory, target_mask, source_mask)
    keep(answer)


def _ask_whole(module: nn.Module, x: Tensor, memory: Tensor) -> Tensor:
    """The output without masks; an answer that mixes up target and source gets its hint."""
    try:
        received = ask(module, x, memory)
    except RuntimeError as error:
        raise AnswerError(f"The shapes do not fit: {error}. {ROLES}") from None
    if isinstance(received, Tensor) and received.shape == memory.shape:
        raise AnswerError(f"The output is as long as the source. {ROLES}")
    return require_shape(received, tuple(x.shape), AXES)


def _refuse_layer(received: Tensor, package: DecoderLayer, x: Tensor, memory: Tensor) -> None:
    """Say what is wrong in a layer of the right shape, without masks."""
    around_self, around_cross = package.around_self_attention, package.around_cross_attention
    around_feed, feed = package.around_feed_forward, package.feed_forward

    def attend(y: Tensor) -> Tensor:
        return package.self_attention(y, y, y)

    def across(y: Tensor) -> Tensor:
        return package.cross_attention(y, memory, memory)

    first = around_self(x, attend)
    wrong = {
        "The cross-attention does not arrive: its output goes into the feed-forward network.": (
            around_feed(first, feed)
        ),
        "cross_attention attends to the target: keys and values must come from the memory.": (
            around_feed(around_cross(first, lambda y: package.cross_attention(y, y, y)), feed)
        ),
        "The queries of cross-attention must be what self-attention has returned (y), not the "
        "first x.": around_feed(around_cross(first, lambda _: across(x)), feed),
        "The self-attention does not arrive: its output goes into the cross-attention.": (
            around_feed(around_cross(x, across), feed)
        ),
        "The feed-forward network is missing.": around_cross(first, across),
        "The order is different in the paper: self-attention, cross-attention, feed-forward.": (
            around_feed(around_self(around_cross(x, across), attend), feed)
        ),
        "The cross-attention comes second, before the feed-forward network.": around_cross(
            around_feed(first, feed), across
        ),
        "Two AddAndNorm are exchanged: each sub-layer has its own.": around_feed(
            around_self(around_cross(x, attend), across), feed
        ),
        "around_cross_attention is missing: Add & Norm around cross-attention, too.": (
            around_feed(across(first), feed)
        ),
    }
    refuse_mistakes(received, wrong)
    raise AnswerError(
        "The shape is right, the numbers are not. Three lines, each inside its Add & Norm: "
        "self-attention, cross-attention with the memory, feed-forward network."
    )


def _refuse_masks(
    received: Tensor,
    package: DecoderLayer,
    x: Tensor,
    memory: Tensor,
    target_mask: Tensor,
    source_mask: Tensor,
) -> None:
    """Say which mask does not arrive."""
    wrong = {
        "No mask arrives: hand target_mask and source_mask on to the attentions.": (
            package(x, memory)
        ),
        "target_mask does not arrive: self-attention needs it, otherwise every position sees the "
        "future.": package(x, memory, source_mask=source_mask),
        "source_mask does not arrive: cross-attention needs it, otherwise padding receives "
        "attention.": package(x, memory, target_mask=target_mask),
    }
    refuse_mistakes(received, wrong)
    raise AnswerError(
        "With masks the numbers differ: target_mask belongs to self-attention, source_mask to "
        "cross-attention, and True means may attend."
    )


@exercise("8.2")
def check_decoder(answer: type[nn.Module]) -> None:
    """Exercise 8.2: a class Decoder, a stack of the reader's layers with the package's weights.

    It is kept in the reader's own file.
    """
    decoder = build_module(answer, "Decoder", LAYERS, D_MODEL, NUM_HEADS, D_FF, 0.0)
    x, memory, target_mask, source_mask = _inputs()
    with suppress(RuntimeError, AttributeError, TypeError):  # three dots first, then what is wrong
        ask(decoder, x, memory)
    require_layers(decoder, LAYERS, "DecoderLayer")
    _ask_whole(decoder, x, memory)
    require_dropout(answer(LAYERS, D_MODEL, NUM_HEADS, D_FF, DROPOUT), "all layers")
    package = Decoder(_layers())
    for own, theirs in zip(decoder.layers, package.layers, strict=True):
        carry_over(theirs, own)
    received = _ask_whole(decoder, x, memory)
    if not close(received, package(x, memory)):
        _refuse_stack(received, list(package.layers), x, memory)
    try:
        masked = ask(decoder, x, memory, target_mask, source_mask)
    except RuntimeError:
        raise AnswerError(
            "A mask does not fit: hand them to each layer in the order target_mask, source_mask."
        ) from None
    if not close(masked, package(x, memory, target_mask=target_mask, source_mask=source_mask)):
        raise AnswerError("A mask does not arrive: every layer needs target_mask and source_mask.")
    keep(answer)


def _refuse_stack(received: Tensor, layers: list[nn.Module], x: Tensor, memory: Tensor) -> None:
    """Say what is wrong in a loop over the layers."""
    chained = x, memory
    for layer in layers:
        y = layer(*chained)
        chained = y, y
    wrong = {
        **loop_mistakes(x, first=layers[0](x, memory), last=layers[-1](x, memory)),
        "Only the first layer reads the memory. Every layer must get the same memory.": chained[0],
    }
    refuse_mistakes(received, wrong)
    raise AnswerError("The numbers differ: run each layer once, in order, with the same memory.")


@exercise("8.3")
def check_cross_shape(answer: object) -> None:
    """Exercise 8.3: the shape of cross-attention's weights."""
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
        (PAIRS, TARGET, HEADS, SOURCE): "Right numbers; heads come before the two positions: "
        "each head has its own grid.",
        (HEADS, PAIRS, TARGET, SOURCE): "Right numbers; the batch comes first.",
    }
    if given in hints:
        raise AnswerError(hints[given])
    if given != (PAIRS, HEADS, TARGET, SOURCE):
        raise AnswerError("How long is each of the four axes? The width is not one of them.")


@exercise("8.4")
def check_shift(answer: object) -> None:
    """Exercise 8.4: a function that makes the decoder's input and labels of a target."""
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


def _inputs() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Target, memory and both masks, the same every time."""
    generator = torch.Generator().manual_seed(8)
    x = torch.randn(BATCH, TARGET_LENGTH, D_MODEL, generator=generator)
    memory = torch.randn(BATCH, SOURCE_LENGTH, D_MODEL, generator=generator)
    target_mask = torch.ones(TARGET_LENGTH, TARGET_LENGTH, dtype=torch.bool).tril()
    lengths = torch.tensor([SOURCE_LENGTH, 2])
    return x, memory, target_mask, torch.arange(SOURCE_LENGTH) < lengths[:, None, None, None]


def _layers() -> list[DecoderLayer]:
    return package_layers(DecoderLayer, LAYERS, seed=8)
