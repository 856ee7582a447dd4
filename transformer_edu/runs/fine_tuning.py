"""Go on from a trained translator: its weights, and its tokenizer with more merges.

A run that begins with trained weights needs a third of the steps, and keeps what was learned.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import asdict, replace
from random import Random

import torch
from torch import Tensor

from transformer_edu.data.augmentation import RandomSplits
from transformer_edu.data.tokenizer import RAREST_PAIR, Tokenizer
from transformer_edu.model.special_ids import SPECIAL_TOKENS
from transformer_edu.model.transformer import Transformer, TransformerConfig

PiecePair = tuple[bytes, bytes]
ROW_PER_TOKEN = ("source_embedding.", "target_embedding.", "output_projection.")


def extend_tokenizer(
    tokenizer: Tokenizer, lines: Iterable[str], *, vocabulary_size: int
) -> Tokenizer:
    """Learn more merges from other texts; the ids so far keep their pieces."""
    counts = Counter(word for line in lines for word in tokenizer.words(line))
    plain = RandomSplits(tokenizer, 0.0, Random(0))
    words = [(plain.split(word), count) for word, count in counts.items()]
    pairs: Counter[PiecePair] = Counter()
    where: defaultdict[PiecePair, set[int]] = defaultdict(set)  # words that have the pair
    for number, (split, count) in enumerate(words):
        for pair in zip(split, split[1:], strict=False):
            pairs[pair] += count
            where[pair].add(number)
    merges, pieces = list(tokenizer.merges), {piece for piece in tokenizer.pieces if piece}
    while len(SPECIAL_TOKENS) + len(pieces) < vocabulary_size:
        best = max(pairs, key=lambda pair: (pairs[pair], pair), default=None)
        if best is None or pairs[best] < RAREST_PAIR:
            break
        merges.append(best)
        pieces.add(b"".join(best))
        for number in where.pop(best):
            split, count = words[number]
            for pair in zip(split, split[1:], strict=False):
                pairs[pair] -= count
            _join(split, best)
            for pair in zip(split, split[1:], strict=False):
                pairs[pair] += count
                where[pair].add(number)
        del pairs[best]
    return Tokenizer(merges)


def _join(split: list[bytes], pair: PiecePair) -> None:
    """Join every such pair of neighbors into one piece, from left to right."""
    place = 0
    while place + 1 < len(split):
        if (split[place], split[place + 1]) == pair:
            split[place : place + 2] = [b"".join(pair)]
        place += 1


def with_more_tokens(
    model: Transformer, before: Tokenizer, after: Tokenizer, config: TransformerConfig
) -> Transformer:
    """A model with more tokens: the vector of a new one is the mean of those that spelled it.

    With a larger d_ff, the feed-forward networks get new hidden units with random weights. Their
    output weights are zero, so the new model computes the same at first.

    Args:
        model: What was trained with the tokenizer before.
        before: Its tokenizer.
        after: The same with more merges.
        config: Of the new model; only its vocabulary, dropout, max_length and d_ff may differ.

    Returns:
        A new model on the CPU, in training mode.

    Raises:
        ValueError: If anything else differs, or d_ff is smaller.
    """
    free = ("vocabulary_size", "target_vocabulary_size", "dropout", "max_length")
    if config.d_ff > model.config.d_ff:
        free += ("d_ff",)
    same = replace(model.config, **{name: getattr(config, name) for name in free})
    for name, wanted in asdict(config).items():
        if getattr(same, name) != wanted:
            raise ValueError(
                f"begin_with must be a model with {name} {wanted}, got {getattr(same, name)}"
            )
    plain = RandomSplits(before, 0.0, Random(0))
    new = after.pieces[len(before) :]
    parts = [torch.tensor([plain.ids[piece] for piece in plain.split(whole)]) for whole in new]
    grown = Transformer(config)
    weights, fresh = model.state_dict(), grown.state_dict()
    for name, rows in weights.items():
        if name.startswith(ROW_PER_TOKEN):
            means = [rows[ids].mean(dim=0, keepdim=True) for ids in parts]
            weights[name] = torch.cat([rows, *means])
        elif ".feed_forward." in name:
            weights[name] = _with_more_units(rows, fresh[name], outward="narrow" in name)
    grown.load_state_dict(weights)
    return grown


def _with_more_units(old: Tensor, fresh: Tensor, *, outward: bool) -> Tensor:
    """The fresh weights with the old ones in their place; the output weights of new units are 0."""
    wide = torch.zeros_like(fresh) if outward else fresh.clone()
    wide[tuple(slice(size) for size in old.shape)] = old
    return wide
