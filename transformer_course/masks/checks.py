"""Checks of lesson 3: masks."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from transformer_course.asking.answer import (
    NOTHING_ALLOWED,
    AnswerError,
    ask,
    close,
    exercise,
    refuse_mistakes,
    require_half,
    require_module,
    require_shape,
    require_untouched,
)
from transformer_course.asking.projections import (
    BATCH,
    KEYS,
    QUERIES,
    SIZES,
    built_attention,
    projected_inputs,
    random_inputs,
    require_attention,
    weights_of,
)
from transformer_course.breaking.faults import WithoutCausalMask
from transformer_course.masks.decoder_mask import mask_of_decoder
from transformer_course.my_transformer import keep
from transformer_edu.model.special_ids import PADDING_ID
from transformer_edu.model.transformer import Transformer, TransformerConfig

FIRST_SYMBOL, VOCABULARY_SIZE = 4, 20  # of the models of exercise 3.3
TRIES = 8  # for each symbol: a random new token equals the old one in 1 of 16
SOURCE_IDS = torch.tensor([[4, 5, 6, 7, 8, 9], [9, 8, 7, 6, 5, 4]])
TARGET_IDS = torch.tensor([[1, 4, 5, 6, 4], [1, 9, 8, 7, 6]])
BATCHES = [
    torch.tensor([[1, 7, 9, 0, 0], [1, 4, 5, 6, 8], [1, 3, 0, 0, 0]]),
    torch.tensor([[1, 5, 0]]),
]


@exercise("3.1")
def check_decoder_mask(answer: Callable[[Tensor], Tensor]) -> None:
    """Exercise 3.1: a function that makes the decoder's mask of token ids, (batch, query, key)."""
    for ids in BATCHES:
        given = ids.clone()
        mask = ask(answer, given)
        require_untouched([given], [ids])
        expected = mask_of_decoder(ids)
        if isinstance(mask, Tensor) and mask.dtype != torch.bool:
            raise AnswerError(f"A mask is boolean, True or False; yours is {mask.dtype}.")
        mask = require_shape(mask, tuple(expected.shape), "(batch, query, key)")
        refuse_mistakes(mask, _mistaken_masks(ids), same=torch.equal)
        if not mask.equal(expected):
            row, query, key = (mask != expected).nonzero()[0].tolist()
            may = "may" if expected[row, query, key] else "may not"
            raise AnswerError(
                f"With the ids {ids[row].tolist()}, query {query} {may} attend to key {key}, "
                "counted from 0; in your mask it is the opposite."
            )


def _mistaken_masks(ids: Tensor) -> dict[str, Tensor]:
    """What usual mistakes make of a batch, by their hints."""
    real, length = ids != PADDING_ID, ids.size(1)
    padding, expected = real[:, None, :], mask_of_decoder(ids)
    causal = torch.ones(length, length, dtype=torch.bool).tril()
    mistakes = {
        "It is inverted: True means *may attend*.": ~expected,
        "The later words are hidden, the padding is not.": causal,
        "The padding is hidden, the later words are not.": padding,
        "You hide earlier words: a row may attend to columns up to its own.": padding & causal.T,
        "A row may attend to its own word, too.": padding & causal.tril(-1),
        "A row may not attend to the next word, which it predicts.": padding
        & torch.ones_like(causal).tril(1),
        "You hide the rows of padding. It is hidden as a key: hide only its columns.": real[
            :, :, None
        ]
        & causal,
        "A query may attend to a key if *both* masks allow it; yours asks for one of them.": padding
        | causal,
        "The padding mask is inverted: True means *may attend*.": ~padding & causal,
        "The causal mask is inverted: True means *may attend*.": padding & ~causal,
    }
    return {hint: mask.expand(expected.shape) for hint, mask in mistakes.items()}


@exercise("3.2", sizes=SIZES)
def check_masked_attention(answer: type[nn.Module]) -> None:
    """Exercise 3.2: the class Attention with an argument mask; it gets the package's weights.

    It is kept in the reader's own file.
    """
    attention = built_attention(answer)
    inputs, mask = random_inputs(), _causal_and_padding()
    _require_mask_argument(attention, inputs, mask)
    require_attention(attention)
    masked = require_module(attention, *inputs, mask)
    plain = weights_of(attention, *inputs[:2])
    weights = weights_of(attention, *inputs[:2], mask)
    if not close(weights, (plain * mask) / (plain * mask).sum(dim=-1, keepdim=True)):
        raise AnswerError(_mask_hint(weights, mask, plain))
    if (weights_of(attention, 10 * inputs[0], inputs[1], mask).masked_fill(mask, 0) > 0).any():
        raise AnswerError("Where scores are large, hidden keys get some weight: hide them lower.")
    for other in (mask[:, -1:], mask[0]):  # padding alone, and one mask for all sentences
        found = weights_of(attention, *inputs[:2], other)
        if not close(found, (plain * other) / (plain * other).sum(dim=-1, keepdim=True)):
            shape = tuple(other.shape)
            raise AnswerError(f"With a mask of the shape {shape}, other keys are hidden.")
    if not close(masked, weights @ projected_inputs(attention)[-1]):
        raise AnswerError("With a mask, the weights are right, their average is not.")
    nothing = torch.zeros(1, QUERIES, KEYS, dtype=torch.bool)  # a query without allowed keys
    if not ask(attention, *inputs, nothing).isfinite().all():
        raise AnswerError(NOTHING_ALLOWED)
    require_half(attention, *inputs, mask)
    keep(answer)


def _require_mask_argument(attention: nn.Module, inputs: Sequence[Tensor], mask: Tensor) -> None:
    """Refuse a forward without a mask as its fourth argument, and a mask's truth."""
    try:
        ask(attention, *inputs)
        ask(attention, *inputs, mask)
    except TypeError as error:
        if "positional argument" not in str(error):
            raise
        raise AnswerError(
            f"forward takes a fourth argument, mask=None. Python says: {error}"
        ) from None
    except RuntimeError as error:
        if "ambiguous" not in str(error):
            raise
        raise AnswerError(
            "A mask has many values: ask `if mask is not None:`. Write `~mask` for its opposite."
        ) from None


def _mask_hint(weights: Tensor, mask: Tensor, plain: Tensor) -> str:
    """What is wrong with weights that should be zero where mask is False."""
    sums = weights.sum(dim=-1)
    added = plain * mask.float().exp()
    hidden = float(weights.masked_fill(mask, 0).max())
    if close(weights, plain):
        return (
            "The mask changes nothing: the softmax still gets every score. (masked_fill returns a "
            "new tensor.)"
        )
    if not close(sums, torch.ones_like(sums)):
        return "You hide after the softmax, so the rows do not sum to 1: mask the scores before it."
    rows = ~mask.all(dim=-1)  # of queries that may not attend to everything
    if close(weights[rows], (plain * ~mask / (plain * ~mask).sum(dim=-1, keepdim=True))[rows]):
        return "The polarity is inverted: where mask is True, a query *may attend*."
    if not weights.masked_fill(~mask, 0)[rows].any():
        return "Hidden keys get all of the weight: their scores are the highest, not the lowest."
    if close(weights, added / added.sum(dim=-1, keepdim=True)):
        return "Adding a boolean mask adds 1 to the allowed scores, and hides nothing."
    if not weights[mask.expand_as(weights)].all():
        return "Some keys that the mask allows get no weight: hide where mask is False, only there."
    if hidden > 0:
        return (
            f"Hidden keys still get up to {100 * hidden:.2g}% of the weight: their scores are not "
            "low enough (e⁰ is 1, and finfo.tiny is almost 0), or not all of them are hidden."
        )
    return "Hidden keys get no weight, but the weights of the allowed ones are wrong."


def _causal_and_padding() -> Tensor:
    """A mask of the check's own, (batch, query, key): a triangle, and padding in one sentence."""
    triangle = torch.ones(QUERIES, KEYS, dtype=torch.bool).tril(KEYS - QUERIES)
    real = torch.ones(BATCH, 1, KEYS, dtype=torch.bool)
    real[-1, :, 2:] = False
    return triangle & real


@exercise("3.3")
def check_sees_future_test(answer: Callable[[nn.Module, Tensor, Tensor], bool]) -> None:
    """Exercise 3.3: a test that tells a model without causal mask from one with it."""
    models = [_model(kind) for kind in (Transformer, WithoutCausalMask)]
    asked = [_verdict(answer, model, TARGET_IDS) for model in models]
    verdicts = tuple(verdict for verdict, _ in asked)
    hints = {
        (True, True): "It reports a model with a causal mask. At the changed position and after it "
        "the logits may move: compare only those before it.",
        (False, False): "It misses a model without a causal mask. Replace a later token by a "
        "different one, and compare the earlier logits.",
        (True, False): "It is the other way round: True means that the model sees the future.",
    }
    if (hint := hints.get(verdicts)) is not None:
        if any(_is_new(source, SOURCE_IDS) for _, calls in asked for source, _ in calls):
            hint = (
                "A call of the model gets something other than source_ids as its first argument, "
                "on which all logits depend: change the target only."
            )
        targets = [target for _, calls in asked for _, target in calls]
        changed = [each for each in targets if _is_new(each, TARGET_IDS)]
        if verdicts == (True, True) and any(_changes_a_start(each) for each in changed):
            hint = (
                "In your changed target, a row differs from its first token on, so all of its "
                "logits may move. The ids are (batch, position): change the last position only."
            )
        if verdicts == (False, False) and changed:
            hint = (
                "It misses a model without a causal mask, whose earlier logits move, if only a "
                "little. Do you compare all of them, as closely as you can, and with a new token? "
                "(The logits are (batch, position, vocabulary).)"
            )
        raise AnswerError(hint)
    for symbol in [*range(FIRST_SYMBOL, VOCABULARY_SIZE)] * TRIES:  # a new token may equal it
        repeated = torch.full_like(TARGET_IDS[:1], symbol)
        repeated[:, 0] = 1
        verdict, calls = _verdict(answer, models[1], repeated)
        if not verdict:
            missed = f"It misses the broken model with the target {repeated[0].tolist()}"
            if any(_is_new(target, repeated) for _, target in calls):
                raise AnswerError(
                    f"{missed}. Do you compare each logit, or the largest ones, or a sum?"
                )
            raise AnswerError(
                f"{missed}: the new token is the old one, so nothing changes. Choose a token that "
                "always differs from the old one."
            )
    if not _verdict(answer, _model(SeesOneAhead), TARGET_IDS)[0]:
        raise AnswerError(
            "It misses a model in which a position also sees the next token: then few of the "
            "earlier logits move. One is enough."
        )


def _changes_a_start(ids: Tensor) -> bool:
    """Whether a changed target has another first token in some row."""
    return ids.shape == TARGET_IDS.shape and bool((ids != TARGET_IDS)[:, 0].any())


def _is_new(ids: Tensor, known: Tensor) -> bool:
    """Whether token ids have another width than known ones, or a row that is none of theirs."""
    return ids.size(-1) != known.size(-1) or not (ids[:, None] == known).all(-1).any(-1).all()


def _verdict(
    answer: Callable[[nn.Module, Tensor, Tensor], bool],
    model: nn.Module,
    target_ids: Tensor,
) -> tuple[bool, list[tuple[Tensor, Tensor]]]:
    """What a reader's test says of a model, and what the model gets, call by call."""
    given, calls, names = target_ids.clone(), [], ("source_ids", "target_ids")
    hook = model.register_forward_pre_hook(
        lambda _, ids, named: calls.append((*ids, *map(named.get, names[len(ids) :]))[:2]),
        with_kwargs=True,
    )
    try:
        with torch.no_grad():
            verdict = ask(answer, model, SOURCE_IDS[: len(given)].clone(), given)
    except ValueError as error:
        if "must be from 0 to" not in str(error):
            raise
        raise AnswerError(
            f"Your new token is no symbol (the target ended in {target_ids[0, -1]}): symbols are "
            f"{FIRST_SYMBOL} to {VOCABULARY_SIZE - 1}."
        ) from None
    finally:
        hook.remove()
    if isinstance(verdict, Tensor) and verdict.numel() == 1 and verdict.dtype == torch.bool:
        verdict = bool(verdict)
    if isinstance(verdict, np.bool_):
        verdict = bool(verdict)
    if not isinstance(verdict, bool):
        raise AnswerError(f"Return True or False; yours is {type(verdict).__name__}.")
    if not given.equal(target_ids):
        raise AnswerError(
            "Your test changes the caller's target_ids, and compares them with themselves: "
            "change a clone."
        )
    return verdict, calls


class SeesOneAhead(Transformer):
    """Every position can also attend to the next token."""

    def decode(self, target_ids: Tensor, memory: Tensor, **given: Tensor | None) -> Tensor:
        """Transformer.decode, with a triangle that is one column too wide."""
        triangle = torch.ones(1, 1, target_ids.size(1), target_ids.size(1), dtype=torch.bool)
        return super().decode(target_ids, memory, **{**given, "target_mask": triangle.tril(1)})


def _model(kind: type[Transformer]) -> nn.Module:
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
        return kind(TransformerConfig(**sizes, max_length=16)).eval()
