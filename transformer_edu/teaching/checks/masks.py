"""Checks of lesson 3: masks."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from transformer_edu.model.masks import padding_mask
from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.model.vocabulary import PADDING_ID
from transformer_edu.teaching.checks.answer import (
    AnswerError,
    ask,
    exercise,
    refuse_mistakes,
    refuse_numbers,
    require_number,
    require_shape,
)

WINDOW = 3  # the word itself and two before it
LENGTHS = (6, 1, 3)  # the hints fit the first, which tells all mistakes apart


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
def check_window_mask(answer: Callable[[int], Tensor]) -> None:
    """Exercise 3.2: a function of the length whose mask shows a word itself and two before it."""
    for length in LENGTHS:
        mask = require_shape(ask(answer, length), (length, length), "(query, key)")
        if mask.dtype != torch.bool:
            raise AnswerError(f"A mask is boolean, True or False; yours is {mask.dtype}.")
        back = torch.arange(length).unsqueeze(1) - torch.arange(length)  # how far behind the key is
        expected = (back >= 0) & (back < WINDOW)
        known_mistakes = {
            "It is the other way round: True means *may attend*.": ~expected,
            "That is the causal mask: words more than two places back must be hidden too.": back
            >= 0,
            "The future is not hidden: a key after the query must be False.": back < WINDOW,
            "Your window reaches to both sides; hide the words after the query.": back.abs()
            < WINDOW,
            "Rows are queries and columns are keys: your words attend to later words.": expected.T,
            "A word may attend to itself, too.": (back > 0) & (back < WINDOW),
            "Your window is one too narrow: itself and two words make three.": (back >= 0)
            & (back < WINDOW - 1),
            "Your window is one too wide: itself and two words make three.": (back >= 0)
            & (back <= WINDOW),
        }
        if not mask.equal(expected):
            refuse_mistakes(mask, known_mistakes, same=torch.equal)
            raise AnswerError(
                "Row i may attend to columns i - 2, i - 1 and i, as far as they exist."
            )


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
    found = []
    for model in (_model(hides_the_future=True), _model(hides_the_future=False)):
        given = target_ids.clone()
        with torch.no_grad():
            verdict = ask(answer, model, source_ids.clone(), given)
        if isinstance(verdict, Tensor) and verdict.numel() == 1:
            verdict = bool(verdict)
        if not isinstance(verdict, bool):
            raise AnswerError(f"Return True or False; yours is {type(verdict).__name__}.")
        if not given.equal(target_ids):
            raise AnswerError(
                "Your test changes the caller's target_ids, and compares them with themselves: "
                "change a clone."
            )
        found.append(verdict)
    hints = {
        (True, True): "It reports a model with a causal mask. At the changed position and after it "
        "the logits may move: compare only those before it.",
        (False, False): "It misses a model without a causal mask. Replace a later token by a "
        "different one, and compare the earlier logits.",
        (True, False): "It is the other way round: True means that the model sees the future.",
    }
    if (hint := hints.get(tuple(found))) is not None:
        raise AnswerError(hint)


def _model(*, hides_the_future: bool) -> nn.Module:
    """A small model that answers (source_ids, target_ids) with logits."""
    sizes = {"vocabulary_size": 20, "d_model": 16, "num_heads": 2, "num_layers": 1, "d_ff": 32}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        kind = Transformer if hides_the_future else _WithoutCausalMask
        return kind(TransformerConfig(**sizes, max_length=16)).eval()


class _WithoutCausalMask(Transformer):
    """A Transformer whose decoder has no causal mask."""

    def decode(
        self,
        target_ids: Tensor,
        memory: Tensor,
        *,
        source_mask: Tensor | None,
        target_mask: Tensor | None = None,
    ) -> Tensor:
        """As the Transformer's, whatever target_mask is."""
        target_mask = padding_mask(target_ids)
        return super().decode(target_ids, memory, source_mask=source_mask, target_mask=target_mask)
