"""Give the words of a translator's source other positions, or none, and see what changes.

The words stay in their order in memory; only the position vectors that are added to them differ.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import torch
from torch import Tensor, nn

from transformer_course.looking.recording import words_of
from transformer_edu.generation.translator import Translator
from transformer_edu.model.refusals import require_whole
from transformer_edu.model.transformer import Transformer


class Reading(NamedTuple):
    """A sentence as a translator reads it, and what it writes.

    Args:
        words: The tokens, in the order in which they are given.
        positions: The position of each; None where no position vectors are added.
        translation: What the translator writes.
    """

    words: list[str]
    positions: list[int] | None
    translation: str


@contextmanager
def source_positions(model: Transformer, positions: Sequence[int] | None) -> Iterator[None]:
    """Inside the block, the encoder reads its words with these position vectors.

    ::

        with source_positions(model, [0, 2, 1]):  # the second and the third word swap positions
            memory = model.encode(source_ids)

    Args:
        model: In evaluation mode; it is unchanged after the block. The decoder keeps its positions.
        positions: One for each source token, in the order of the tokens; None adds no position
            vectors.

    Raises:
        ValueError: If positions do not fit the source, when it is read.
    """

    def replace(_: nn.Module, given: tuple[Tensor]) -> tuple[Tensor]:
        (x,) = given
        table = model.positions.table.to(x.dtype)
        words = x - table[: x.size(1)]
        if positions is None:
            return (words,)
        if len(positions) != x.size(1):
            raise ValueError(
                f"positions must be one for each of {x.size(1)} tokens, got {len(positions)}"
            )
        for position in positions:
            whole = position if position % 1 else int(position)  # perhaps of a tensor
            require_whole("a position", whole, minimum=0, maximum=len(table) - 1)
        return (words + table[torch.tensor(list(positions), device=table.device)],)

    hook = model.encoder.register_forward_pre_hook(replace)
    try:
        yield
    finally:
        hook.remove()


def read_at(
    translator: Translator, text: str, positions: Sequence[int] | str | None = "usual"
) -> Reading:
    """Translate a sentence whose words have these positions.

    Args:
        translator: Its tokenizer is the package's.
        text: In the source language.
        positions: One for each token; "usual" counts from 0; None adds no position vectors.

    Raises:
        ValueError: If there is not one position for each token, or the table does not have it.
    """
    words = words_of(translator, translator.source_ids(text))
    if positions == "usual":
        positions = range(len(words))
    with source_positions(translator.model, positions):
        translation = translator.translate(text, width=1)
    return Reading(words, None if positions is None else list(positions), translation)
