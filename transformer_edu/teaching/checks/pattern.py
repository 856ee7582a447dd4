"""Checks of lesson 13: a pattern with torch's own Transformer."""

from collections.abc import Callable

import torch
from torch import Tensor

from transformer_edu.model.vocabulary import END_ID, PADDING_ID, START_ID
from transformer_edu.teaching.checks.answer import (
    AnswerError,
    ask,
    exercise,
    refuse_mistakes,
    refuse_numbers,
    require_number,
    require_shape,
)
from transformer_edu.training.data.pattern import LONGEST

SOURCE_IDS = torch.tensor([[4, 5, 4, 5, 9], [4, 4, 8, 0, 0], [5, 10, 0, 0, 0]], device="cpu")
TARGET_IDS = torch.tensor([[1, 4, 5, 0], [1, 4, 0, 0], [1, 5, 5, 5]], device="cpu")
SEQUENCES = [[4, 5], [4, 4, 5, 5], [5], [5, 4, 5], [4, 4], [5, 5, 5], [4]]  # 7 rows
BATCH_SIZES = (3, 7, 4, 1)
WRITTEN = (
    ([START_ID, 4, 5, 4, END_ID], [4, 5, 4]),
    ([START_ID, 4, 5, 4], [4, 5, 4]),
    ([START_ID, 5, 5, END_ID, PADDING_ID, PADDING_ID], [5, 5]),
    ([START_ID, END_ID], []),
    ([START_ID], []),
)


@exercise("13.1")
def check_first_new_position(answer: int) -> None:
    """Exercise 13.1: the first source position that no training example filled."""
    hints = {
        LONGEST - 1: "That is the position of the last symbol of a prompt of 12: counting "
        "starts at 0. Prompts "
        "of 11 symbols are missing, but longer ones fill their positions.",
        LONGEST: "Twelve symbols fill the positions 0 to 11. And where is the count?",
        LONGEST + 2: "Counting starts at 0: thirteen tokens fill the positions 0 to 12.",
    }
    answer = require_number(answer, whole=True)
    refuse_numbers(answer, hints)
    if answer != LONGEST + 1:
        raise AnswerError("Write a prompt of 12 symbols and its count, and number them from 0.")


@exercise("13.2")
def check_torch_masks(answer: Callable[[Tensor, Tensor], dict[str, Tensor]]) -> None:
    """Exercise 13.2: the four masks that nn.Transformer takes, True hides."""
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


@exercise("13.3")
def check_make_batches(answer: Callable[[list[list[int]], int], list[Tensor]]) -> None:
    """Exercise 13.3: every sequence once, in order, each batch padded to its longest."""
    for batch_size in BATCH_SIZES:
        given = [list(row) for row in SEQUENCES]
        batches = ask(answer, given, batch_size)
        if given != SEQUENCES:
            raise AnswerError("Your function changes the caller's sequences: build new rows.")
        if not isinstance(batches, list) or not all(isinstance(b, Tensor) for b in batches):
            raise AnswerError("Return a list of tensors.")
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
        if not all(one.equal(other) for one, other in zip(batches, expected, strict=True)):
            raise AnswerError("The order of the rows stays, and 0 fills the short ones at the end.")


def _batches(batch_size: int) -> list[Tensor]:
    """The right ones."""
    parts = [SEQUENCES[i : i + batch_size] for i in range(0, len(SEQUENCES), batch_size)]
    widths = [max(map(len, rows)) for rows in parts]
    return [
        torch.tensor([[*row, *[PADDING_ID] * (width - len(row))] for row in rows])
        for rows, width in zip(parts, widths, strict=True)
    ]


@exercise("13.4")
def check_symbols_of(answer: Callable[[list[int]], list[int]]) -> None:
    """Exercise 13.4: the symbols between start and end, also without an end token."""
    for written, expected in WRITTEN:
        symbols = ask(answer, list(written))
        if not isinstance(symbols, list):
            raise AnswerError(f"Return a list of ids; yours is {type(symbols).__name__}.")
        hints = {
            (START_ID, *expected): "Remove the start token, too.",
            tuple(written[1:-1]): "What follows the end token is not a symbol: stop at the end.",
            tuple(written[1:]): "Remove the end token and what follows it.",
        }
        if END_ID not in written:
            hints[tuple(written[1:-1])] = "A real symbol is missing where there is no end token."
        if symbols != expected:
            hint = hints.get(tuple(symbols), f"It should be {expected}, yours is {symbols}.")
            raise AnswerError(f"For {written}: {hint}")
