"""Checks of lesson 3: masks."""

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from transformer_course.asking.answer import (
    AnswerError,
    ask,
    close,
    exercise,
    refuse_mistakes,
    refuse_numbers,
    require_class,
    require_number,
    require_shape,
)
from transformer_course.asking.projections import (
    BATCH,
    D_HEAD,
    D_MODEL,
    KEYS,
    QUERIES,
    project_with_package,
    random_inputs,
    require_projections,
)
from transformer_course.breaking.faults import WithoutCausalMask
from transformer_course.my_transformer import keep
from transformer_edu.model.attention import scaled_dot_product_attention
from transformer_edu.model.masks import padding_mask
from transformer_edu.model.special_ids import PADDING_ID
from transformer_edu.model.transformer import Transformer, TransformerConfig

FIRST_SYMBOL, VOCABULARY_SIZE = 4, 20  # of the models of exercise 3.4


@exercise("3.1")
def check_allowed_entries(answer: int) -> None:
    """Exercise 3.1: how many entries of the target mask of [1, 7, 9, 0] are True."""
    hints = {
        16: "Nothing would be hidden. Hide the future and the column of the padding.",
        12: "That is the padding mask alone: three columns of four. Now hide the future as well.",
        10: "That is the causal mask alone. The padding column is hidden, too: how "
        "many entries remain?",
        6: "Either you hid the row of the padding (only its column is hidden, its "
        "query still attends), "
        "or you forgot that a word may attend to itself.",
        7: "7 is the number of hidden entries. How many are allowed?",
        3: "A word may attend to itself: the diagonal is allowed. The padding's row counts too.",
    }
    answer = require_number(answer, whole=True)
    refuse_numbers(answer, hints)
    if answer != 9:
        raise AnswerError("Count row by row: how many keys may each of the four rows attend to?")


@exercise("3.2")
def check_masked_attention(answer: type[nn.Module]) -> None:
    """Exercise 3.2: the class Attention with an argument mask; it gets the package's weights.

    It is kept in the reader's own file.
    """
    require_class(answer, "Attention")
    query, key, value = random_inputs()
    attention = answer(D_MODEL, D_HEAD)
    mask = _causal_and_padding()
    received = _with_mask(attention, (query, key, value), mask)
    require_projections(attention)
    projected = project_with_package(attention, (query, key, value))
    for each in (None, mask):
        shape = (BATCH, QUERIES, D_HEAD)
        received = _with_mask(attention, (query, key, value), each)
        received = require_shape(received, shape, "(batch, query, d_head)")
        expected, _ = scaled_dot_product_attention(*projected, mask=each)
        if close(received, expected):
            continue
        if each is None:
            raise AnswerError(
                "Without a mask the output must be that of lesson 2: mask=None hides nothing."
            )
        _refuse_output(received, projected, each)
    if not callable(getattr(attention, "attend", None)):
        raise AnswerError("Keep the method attend, with a fourth argument mask: lesson 4 uses it.")
    by_head = [x.unflatten(-1, (2, -1)).transpose(1, 2) for x in projected]  # one axis more
    in_heads, _ = scaled_dot_product_attention(*by_head, mask=mask[:, None])
    if not close(ask(attention.attend, *by_head, mask[:, None]), in_heads):
        raise AnswerError("attend must use the mask as it is, whatever axes are before the last 2.")
    nothing = torch.zeros(1, QUERIES, KEYS, dtype=torch.bool)  # a query without allowed keys
    if not ask(attention, query, key, value, nothing).isfinite().all():
        raise AnswerError(
            "A query without allowed keys gets NaN: use torch.finfo(scores.dtype).min, the most "
            "negative number, instead of -inf."
        )
    keep(answer)


def _with_mask(attention: nn.Module, inputs: Sequence[Tensor], mask: Tensor | None) -> object:
    """What the reader's module answers; usual errors become hints."""
    try:
        return ask(attention, *inputs, mask) if mask is not None else ask(attention, *inputs)
    except TypeError as error:
        if "positional argument" in str(error):
            raise AnswerError(
                f"forward and attend take a fourth argument, mask=None. Python says: {error}"
            ) from None
        raise
    except RuntimeError as error:
        if "ambiguous" in str(error):
            raise AnswerError("A mask has many values: ask `if mask is not None:`.") from None
        raise AnswerError(
            f"The shapes do not fit: {error}. The mask broadcasts to the scores "
            "(batch, query, key): use it as it is, before the softmax."
        ) from None


def _refuse_output(received: Tensor, projected: Sequence[Tensor], mask: Tensor) -> None:
    """Say what a masked output of the right shape with wrong numbers comes from."""
    query, key, value = projected
    scores = query @ key.transpose(-2, -1) / math.sqrt(D_HEAD)
    lowest = torch.finfo(scores.dtype).min
    known_mistakes = {
        "The mask changes nothing. Does forward pass it on to attend, and does attend use the "
        "result of masked_fill? It returns a new tensor.": scores.softmax(dim=-1),
        "The polarity is inverted: masked_fill fills where its argument is True, and True means "
        "*may attend*. Use ~mask.": scores.masked_fill(mask, lowest).softmax(dim=-1),
        "You hide after the softmax, so the rows do not sum to 1: mask the scores before it.": (
            scores.softmax(dim=-1).masked_fill(~mask, 0.0)
        ),
        "A score of 0 is not hidden: e⁰ is 1. Use the most negative number, finfo.min (not "
        "finfo.tiny, which is almost 0).": (scores.masked_fill(~mask, 0.0).softmax(dim=-1)),
        "Adding a boolean mask adds 1 to the allowed scores. Replace the hidden ones with "
        "masked_fill.": (scores + mask).softmax(dim=-1),
    }
    refuse_mistakes(received, {hint: each @ value for hint, each in known_mistakes.items()})
    raise AnswerError(
        "The shape is right, the numbers are not. Replace the scores where ~mask by the most "
        "negative number, then softmax over the keys, then average the values."
    )


def _causal_and_padding() -> Tensor:
    """A mask of the check's own, (batch, query, key): a triangle, and padding in one sentence."""
    triangle = torch.ones(QUERIES, KEYS, dtype=torch.bool).tril(KEYS - QUERIES)
    real = torch.ones(BATCH, 1, KEYS, dtype=torch.bool)
    real[-1, :, 2:] = False
    return triangle & real


@exercise("3.3")
def check_repaired_mask(answer: Tensor, *, token_ids: Tensor) -> None:
    """Exercise 3.3: the padding mask of token_ids, (batch, 1, 1, key).

    Args:
        answer: What the learner gave.
        token_ids: Shape (batch, position).
    """
    expected = padding_mask(token_ids)
    real = token_ids != PADDING_ID
    if isinstance(answer, Tensor) and answer.dtype == torch.bool:
        known_mistakes = {
            "The axis is repaired; now the polarity: True means *may attend*.": ~expected,
            "The polarity is repaired; now the axis: padding hides keys, the last axis.": real[
                :, None, :, None
            ],
            "That is the friend's mask: look at polarity and axis.": ~real[:, None, :, None],
            "Two axes are missing: one for the heads, one for the queries.": real,
            "One axis is missing: here the batch would stand in the place of the heads.": real[
                :, None
            ],
        }
        refuse_mistakes(answer, known_mistakes, same=torch.equal)
    mask = require_shape(answer, tuple(expected.shape), "(batch, 1, 1, key)")
    if mask.dtype != torch.bool:
        raise AnswerError(f"A mask is boolean, True or False; yours is {mask.dtype}.")
    if not mask.equal(expected):
        raise AnswerError("True belongs exactly where token_ids is not 0.")


@exercise("3.4")
def check_sees_future_test(answer: Callable[[nn.Module, Tensor, Tensor], bool]) -> None:
    """Exercise 3.4: a test that tells a model without causal mask from one with it."""
    source_ids = torch.tensor([[4, 5, 6, 7, 8, 9], [9, 8, 7, 6, 5, 4]])
    target_ids = torch.tensor([[1, 4, 5, 6, 4], [1, 9, 8, 7, 6]])
    models = [_model(hides_the_future=hides) for hides in (True, False)]
    verdicts = tuple(_verdict(answer, model, source_ids, target_ids) for model in models)
    hints = {
        (True, True): "It reports a model with a causal mask. At the changed position and after it "
        "the logits may move: compare only those before it.",
        (False, False): "It misses a model without a causal mask. Replace a later token by a "
        "different one, and compare the earlier logits.",
        (True, False): "It is the other way round: True means that the model sees the future.",
    }
    if (hint := hints.get(verdicts)) is not None:
        raise AnswerError(hint)
    for symbol in range(FIRST_SYMBOL, VOCABULARY_SIZE):  # a fixed new token equals one of them
        repeated = torch.full_like(target_ids, symbol)
        repeated[:, 0] = 1
        if not _verdict(answer, models[1], source_ids, repeated):
            raise AnswerError(
                f"It misses the broken model when the target ends in {symbol}: the new token is "
                "the old one, so nothing changes. Choose a token that differs from the old one."
            )


def _verdict(
    answer: Callable[[nn.Module, Tensor, Tensor], bool],
    model: nn.Module,
    source_ids: Tensor,
    target_ids: Tensor,
) -> bool:
    """What a reader's test says of a model; usual errors become hints."""
    given = target_ids.clone()
    try:
        with torch.no_grad():
            verdict = ask(answer, model, source_ids.clone(), given)
    except ValueError as error:
        if "must be from 0 to" not in str(error):
            raise
        raise AnswerError(
            f"Your new token is no symbol when the target ends in {target_ids[0, -1]}: symbols are "
            f"{FIRST_SYMBOL} to {VOCABULARY_SIZE - 1}."
        ) from None
    if isinstance(verdict, Tensor) and verdict.numel() == 1:
        verdict = bool(verdict)
    if not isinstance(verdict, bool):
        raise AnswerError(f"Return True or False; yours is {type(verdict).__name__}.")
    if not given.equal(target_ids):
        raise AnswerError(
            "Your test changes the caller's target_ids, and compares them with themselves: "
            "change a clone."
        )
    return verdict


def _model(*, hides_the_future: bool) -> nn.Module:
    """A small model that answers (source_ids, target_ids) with logits."""
    sizes = {
        "vocabulary_size": VOCABULARY_SIZE,
        "d_model": 16,
        "num_heads": 2,
        "num_layers": 1,
        "d_ff": 32,
    }
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        kind = Transformer if hides_the_future else WithoutCausalMask
        return kind(TransformerConfig(**sizes, max_length=16)).eval()
