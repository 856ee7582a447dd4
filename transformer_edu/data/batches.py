"""Batches: pairs of similar length, padded to the longest of them (paper §5.1).

The decoder reads ``start a b c``, and its labels are ``a b c end``: one apart, so that every
position predicts the token that it has not seen yet. Met in notebooks/03_masks.ipynb.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from transformer_edu.data.toy_tasks import Pair
from transformer_edu.generation.continuation import end_id_of, padding_id_of, start_id_of
from transformer_edu.model.refusals import require_pairs, require_whole
from transformer_edu.model.special_ids import PADDING_ID

# Batches that are sorted at once. Sorting all of them pads least, but teaches short numbers worse:
# of the number words below 1,000, 1 to 3 in 100 stay wrong.
POOL = 8
# On Multi30k with 4,096 tokens, 95 of 100 target positions are then real and not padding; with 8 it
# is 90, with all at once 97.
TOKEN_POOL = 32


@dataclass(frozen=True)
class Batch:
    """What one training step reads.

    Args:
        source_ids: Sources, shape (batch, source position).
        decoder_input_ids: Start token and target, shape (batch, target position).
        label_ids: Target and end token, shape (batch, target position).
    """

    source_ids: Tensor
    decoder_input_ids: Tensor
    label_ids: Tensor

    def __len__(self) -> int:
        """Number of pairs."""
        return len(self.source_ids)

    def parts(self, count: int) -> list[tuple["Batch", float]]:
        """The batch divided between its rows, each part with its share of the labels other than 0.

        The mean loss of the whole is the sum of the parts' mean losses, each times its share. So
        gradient accumulation equals the large batch, if token 0 is the padding.

        Args:
            count: Number of parts, at least 1; a batch of fewer pairs gives fewer.
        """
        require_whole("count", count)
        chunks = (tensor.chunk(count) for tensor in vars(self).values())
        parts = [Batch(*rows) for rows in zip(*chunks, strict=True)]
        real = [int((part.label_ids != PADDING_ID).sum()) for part in parts]
        return [(part, own / max(sum(real), 1)) for part, own in zip(parts, real, strict=True)]

    def to(self, device: torch.device | str) -> "Batch":
        """The same batch on another device."""
        return Batch(*(tensor.to(device) for tensor in vars(self).values()))


def pad(sequences: Sequence[Sequence[int]], *, padding_id: int = PADDING_ID) -> Tensor:
    """Put sequences of token ids into one tensor, and fill up short ones with padding_id.

    Returns:
        Token ids on the CPU, shape (batch, position), as long as the longest sequence.

    Raises:
        ValueError: If a sequence is empty.
    """
    for row, sequence in enumerate(sequences):
        if len(sequence) == 0:
            raise ValueError(f"sequences must not be empty, got an empty one in row {row}")
    longest = max(map(len, sequences))
    rows = [[*row, *[padding_id] * (longest - len(row))] for row in sequences]
    return torch.tensor(rows, device="cpu")


def make_batch(pairs: Sequence[Pair], model: nn.Module | None = None) -> Batch:
    """Shift and pad pairs for one step.

    Args:
        pairs: Source and target ids, without special tokens; a target may be empty.
        model: Its config says which tokens are start, end and padding; None for the vocabulary's.

    Raises:
        TypeError, ValueError: If pairs are none of token ids, or a source is empty.
    """
    require_pairs("pairs", pairs)
    start, end, padding = (ask(model) for ask in (start_id_of, end_id_of, padding_id_of))
    return Batch(
        source_ids=pad([source for source, _ in pairs], padding_id=padding),
        decoder_input_ids=pad([[start, *target] for _, target in pairs], padding_id=padding),
        label_ids=pad([[*target, end] for _, target in pairs], padding_id=padding),
    )


def epoch(
    pairs: Sequence[Pair], *, batch_size: int, generator: torch.Generator, skip: int = 0
) -> Iterator[Batch]:
    """Every pair once, in random batches of pairs of similar length.

    The shuffled pairs are taken a pool of POOL batches at a time, and sorted by length within
    it: little padding, and yet short and long pairs alternate. The last, short batch is kept.

    Args:
        pairs: Source and target ids.
        batch_size: Pairs in a batch, at least 1.
        generator: Decides the order.
        skip: How many batches to leave out at the beginning.

    Raises:
        TypeError, ValueError: If an argument has another type or is too small, or there is no pair.
    """
    require_whole("skip", skip, minimum=0)
    plan = plan_batches(pairs, batch_size=batch_size, generator=generator)
    return (make_batch([pairs[row] for row in rows]) for rows in plan[skip:])


def plan_batches(
    pairs: Sequence[Pair], *, batch_size: int, generator: torch.Generator
) -> list[list[int]]:
    """The numbers of the pairs in each batch of an epoch; arguments and errors as for epoch."""
    require_whole("batch_size", batch_size)
    require_pairs("pairs", pairs)
    order = _shuffled(len(pairs), generator)
    plan: list[list[int]] = []
    for start in range(0, len(order), POOL * batch_size):
        pool = order[start : start + POOL * batch_size]
        pool.sort(key=lambda i: (len(pairs[i][0]), len(pairs[i][1])))
        plan += (pool[cut : cut + batch_size] for cut in range(0, len(pool), batch_size))
    return [plan[turn] for turn in _shuffled(len(plan), generator)]


def plan_token_batches(
    pairs: Sequence[Pair], *, tokens: int, generator: torch.Generator
) -> list[list[int]]:
    """The numbers of the pairs in each batch of an epoch, where a batch is limited by its tokens.

    The shuffled pairs are taken a pool of about TOKEN_POOL batches at a time, sorted by length, and
    filled into batches. The rest of a pool, its longest pairs, goes into the next one.

    Args:
        pairs: Source and target ids.
        tokens: The most tokens of each side, padding and the end token included; a longer pair is
            a batch of its own.
        generator: Decides the order.

    Raises:
        TypeError, ValueError: If tokens is below 1, or pairs are none of token ids.
    """
    require_whole("tokens", tokens)
    require_pairs("pairs", pairs)
    lengths = [max(len(source), len(target) + 1) for source, target in pairs]
    plan, pool, waiting = [], [], 0
    for row in _shuffled(len(pairs), generator):
        pool.append(row)
        waiting += lengths[row]
        if waiting >= TOKEN_POOL * tokens:
            *full, pool = _fill(pool, pairs, lengths, tokens)
            plan += full
            waiting = sum(lengths[row] for row in pool)
    if pool:
        plan += _fill(pool, pairs, lengths, tokens)
    return [plan[turn] for turn in _shuffled(len(plan), generator)]


def _shuffled(count: int, generator: torch.Generator) -> list[int]:
    """The numbers from 0 below count, in random order."""
    if not isinstance(generator, torch.Generator):
        raise TypeError(f"generator must be a torch.Generator, got {generator!r}")
    return torch.randperm(count, generator=generator, device=generator.device).tolist()


def _fill(
    pool: list[int], pairs: Sequence[Pair], lengths: Sequence[int], tokens: int
) -> list[list[int]]:
    """Divide a pool, sorted by length, into batches; only the last may have room for more."""
    batches: list[list[int]] = [[]]
    for row in sorted(pool, key=lambda row: (lengths[row], *map(len, pairs[row]))):
        if batches[-1] and lengths[row] * (len(batches[-1]) + 1) > tokens:
            batches.append([])
        batches[-1].append(row)
    return batches
