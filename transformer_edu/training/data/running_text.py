"""A running text for language models: everyday sentences in English, one after another.

Used in notebooks/19_from_2017_to_today.ipynb.
"""

from collections.abc import Iterator
from functools import cache
from random import Random
from typing import NamedTuple

import torch
from torch import Tensor

from transformer_edu.model.vocabulary import END_ID
from transformer_edu.training.data.everyday.pairs import generate
from transformer_edu.training.data.tokenizer import Tokenizer, train_tokenizer

HELD_OUT = 0.1  # of the sentences


class RunningText(NamedTuple):
    """Token ids of many sentences, each with the end token after it, and their tokenizer."""

    tokenizer: Tokenizer
    train: Tensor  # (token,)
    validation: Tensor  # (token,), no sentence of which is in train


@cache
def everyday_text(*, sentences: int = 24_000, vocabulary_size: int = 600) -> RunningText:
    """English sentences of the everyday grammar, in an order by chance; the same every time.

    Args:
        sentences: How many different ones; a tenth is held out.
        vocabulary_size: Of the tokenizer, which learns from the training sentences only.
    """
    pairs: dict[str, str] = {}
    generate(Random(0), pairs, sentences)
    texts = list(pairs)
    held_out = round(HELD_OUT * sentences)
    tokenizer = train_tokenizer(texts[held_out:], vocabulary_size=vocabulary_size)
    validation, train = (
        torch.tensor([i for ids in tokenizer.encode_all(part) for i in (*ids, END_ID)])
        for part in (texts[:held_out], texts[held_out:])
    )
    return RunningText(tokenizer, train, validation)


def windows(
    token_ids: Tensor, *, length: int, batch_size: int, steps: int, seed: int
) -> Iterator[Tensor]:
    """Batches of pieces of a running text, each piece begun at a random place.

    Args:
        token_ids: The text, shape (token,).
        length: Tokens of a piece.
        batch_size: Pieces of a batch.
        steps: Number of batches.
        seed: Decides the places.

    Yields:
        Shape (batch, length), on the CPU.
    """
    generator = torch.Generator().manual_seed(seed)
    reach = torch.arange(length)
    for _ in range(steps):
        starts = torch.randint(len(token_ids) - length, (batch_size, 1), generator=generator)
        yield token_ids[starts + reach]
