"""Checks of lesson 13: a pattern with torch's own Transformer."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer_course.asking.answer import (
    AnswerError,
    ask,
    close,
    exercise,
    refuse_mistakes,
    require_shape,
)
from transformer_course.pattern_with_torch.pytorch_transformer import PytorchTransformer
from transformer_edu.model.special_ids import PADDING_ID
from transformer_edu.model.transformer import TransformerConfig

SOURCE_IDS = torch.tensor([[4, 5, 4, 5, 9], [4, 4, 8, 0, 0], [5, 10, 0, 0, 0]], device="cpu")
TARGET_IDS = torch.tensor([[1, 4, 5, 0], [1, 4, 0, 0], [1, 5, 5, 5]], device="cpu")
SEQUENCES = [[4, 5], [4, 4, 5, 5], [5], [5, 4, 5], [4, 4], [5, 5, 5], [4]]  # 7 rows
BATCH_SIZES = (3, 7, 4, 1)
SIZES = {"vocabulary_size": 17, "d_model": 12, "num_heads": 2, "num_layers": 1, "d_ff": 20}
MOST = 8  # columns of padding
CALLS = 150  # a number of columns is missed by chance once in 10⁶ answers


@exercise("13.1")
def check_torch_masks(answer: Callable[[Tensor, Tensor], dict[str, Tensor]]) -> None:
    """Exercise 13.1: the four masks that nn.Transformer takes, True hides."""
    masks = ask(answer, SOURCE_IDS.clone(), TARGET_IDS.clone())
    expected = _masks()
    if not isinstance(masks, dict) or set(masks) != set(expected):
        names = ", ".join(expected)
        raise AnswerError(f"Return a dictionary with exactly these names: {names}.")
    for name, right in expected.items():
        axes = "(target, target)" if name == "tgt_mask" else "(batch, key)"
        mask = masks[name]
        if name == "memory_key_padding_mask" and isinstance(mask, Tensor):
            _refuse_the_targets_mask(mask)
        mask = require_shape(mask, tuple(right.shape), axes)
        if mask.dtype != torch.bool:
            raise AnswerError(f"{name} must be boolean, True or False; yours is {mask.dtype}.")
        refuse_mistakes(mask, _wrong_masks(name, right), same=torch.equal)
        if not mask.equal(right):
            raise AnswerError(f"{name} is not right: write down which cells must be hidden.")


def _masks() -> dict[str, Tensor]:
    """The right ones."""
    length = TARGET_IDS.size(1)
    return {
        "tgt_mask": torch.ones(length, length, dtype=torch.bool).triu(1),
        "src_key_padding_mask": SOURCE_IDS == PADDING_ID,
        "tgt_key_padding_mask": TARGET_IDS == PADDING_ID,
        "memory_key_padding_mask": SOURCE_IDS == PADDING_ID,
    }


def _refuse_the_targets_mask(mask: Tensor) -> None:
    """Tell a memory mask that was made of the target."""
    if mask.shape == TARGET_IDS.shape:
        raise AnswerError(
            "memory_key_padding_mask: the memory is the encoder's output, as long as the source."
        )


def _wrong_masks(name: str, right: Tensor) -> dict[str, Tensor]:
    """What usual mistakes give, by their hints."""
    inverted = {f"{name}: the other way round: for nn.Transformer True hides.": ~right}
    if name != "tgt_mask":
        return inverted
    everything = torch.ones_like(right)
    return inverted | {
        f"{name}: a token may attend to itself; hide only what comes after it.": everything.triu(),
        f"{name}: your tokens may not attend to earlier ones; hide later ones.": everything.tril(
            -1
        ),
    }


@exercise("13.2")
def check_make_batches(answer: Callable[[list[list[int]], int], list[Tensor]]) -> None:
    """Exercise 13.2: every sequence once, in order, each batch padded to its longest."""
    for batch_size in BATCH_SIZES:
        given = [list(row) for row in SEQUENCES]
        try:
            batches = ask(answer, given, batch_size)
        except ValueError as error:
            raise AnswerError(
                f"{error}. All rows of a batch need one length: that of its longest row, which "
                "need not be its first."
            ) from None
        if given != SEQUENCES:
            raise AnswerError("Your function changes the caller's sequences: build new rows.")
        if not isinstance(batches, list) or not all(isinstance(b, Tensor) for b in batches):
            raise AnswerError("Return a list of tensors.")
        if any(batch.is_floating_point() for batch in batches):
            raise AnswerError("Token ids are whole numbers: torch.zeros needs dtype=torch.long.")
        rows = sum(map(len, batches))
        if rows < len(SEQUENCES):
            raise AnswerError(
                f"Of {len(SEQUENCES)} sequences you return {rows}, in batches of "
                f"{batch_size}: the last "
                "batch is missing."
            )
        expected = _batches(batch_size)
        if [len(batch) for batch in batches] != [len(batch) for batch in expected]:
            raise AnswerError(f"Every batch but the last one has {batch_size} rows.")
        if [batch.size(-1) for batch in batches] != [batch.size(-1) for batch in expected]:
            raise AnswerError("Each batch is as wide as its own longest row, not wider.")
        for one, right in zip(batches, expected, strict=True):
            if one.equal(right):
                continue
            if one.sort(dim=0).values.equal(right.sort(dim=0).values):
                raise AnswerError("The rows of a batch are in a different order: keep theirs.")
            raise AnswerError("The order of the rows stays, and 0 fills the short ones at the end.")


def _batches(batch_size: int) -> list[Tensor]:
    """The right ones."""
    parts = [SEQUENCES[i : i + batch_size] for i in range(0, len(SEQUENCES), batch_size)]
    widths = [max(map(len, rows)) for rows in parts]
    return [
        torch.tensor([[*row, *[PADDING_ID] * (width - len(row))] for row in rows])
        for rows, width in zip(parts, widths, strict=True)
    ]


@exercise("13.3")
def check_moved_prompts(answer: type[PytorchTransformer]) -> None:
    """Exercise 13.3: a model that moves each batch of sources in training by 0 to 8 columns."""
    if not (isinstance(answer, type) and issubclass(answer, PytorchTransformer)):
        raise AnswerError("The answer is the class itself, a subclass of PytorchTransformer.")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(13)
        model = answer(TransformerConfig(**SIZES, dropout=0.0))
        right = [_moved(model, columns) for columns in range(MOST + 2)]
        model.eval()
        still = [_logits(model) for _ in range(20)]
        model.train()
        moving = [_logits(model) for _ in range(CALLS)]
    if not all(close(each, right[0]) for each in still):
        raise AnswerError("In evaluation mode nothing moves: ask self.training.")
    moves = {_columns(each, right) for each in moving}
    if moves == {0}:
        raise AnswerError(
            "In training, the logits are those of the unmoved source. Padding after the source "
            "moves nothing: F.pad(source_ids, (before, after)) puts it before."
        )
    if len(moves) == 1:
        raise AnswerError(f"All batches move by {min(moves)} columns: draw a new number for each.")
    if not moves == set(range(MOST + 1)):
        raise AnswerError(
            f"In {CALLS} batches the columns of padding were {sorted(moves)}; they should be 0 to "
            f"{MOST}, both included. torch.randint leaves its upper end out."
        )


def _moved(model: PytorchTransformer, columns: int) -> Tensor:
    """The logits after so many columns of padding, whatever forward of the reader's class does."""
    source_ids = F.pad(SOURCE_IDS, (columns, 0), value=PADDING_ID)
    return PytorchTransformer.forward(model, source_ids, TARGET_IDS).detach()


def _logits(model: PytorchTransformer) -> Tensor:
    """What the reader's class answers."""
    axes = "(batch, target, vocabulary)"
    shape = (*TARGET_IDS.shape, SIZES["vocabulary_size"])
    return require_shape(ask(model, SOURCE_IDS, TARGET_IDS), shape, axes).detach()


def _columns(logits: Tensor, right: list[Tensor]) -> int:
    """By how many columns the source was moved."""
    for columns, expected in enumerate(right):
        if close(logits, expected):
            return columns
    raise AnswerError(
        "In training, the logits are not those of a source with columns of padding before it. The "
        f"whole batch moves by one number from 0 to {MOST}, padding has the id {PADDING_ID}, and "
        "the target stays where it is."
    )
