"""What a head does, measured: the share of its attention that falls on chosen cells.

A role is a set of cells of the map, such as the key before each query. The share is computed over
many sentences, because a single sentence may show a coincidence. Also: pieces as words.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from transformer_course.looking.attention_maps import PLACE
from transformer_course.looking.recording import record_attention
from transformer_edu.data.batches import make_batch
from transformer_edu.data.toy_tasks import Pair
from transformer_edu.generation.evaluation_mode import evaluation_mode
from transformer_edu.training.machine.device import device_of

POSITIONS = ("previous", "same", "next", "first", "last")
KINDS = {
    "encoder": "encoder.self_attention",
    "decoder": "decoder.self_attention",
    "cross": "decoder.cross_attention",
}


@dataclass(frozen=True)
class RecordedPairs:
    """The attention of every head of a model on some pairs.

    Args:
        attention: Weights by the attention's name, each (batch, heads, query, key).
        source_lengths: Tokens of each source.
        target_lengths: Tokens that the decoder read of each target, the start token included.
    """

    attention: dict[str, Tensor]
    source_lengths: list[int]
    target_lengths: list[int]

    def of(self, kind: str) -> Tensor:
        """The weights of all layers of a kind.

        Args:
            kind: Such as "encoder.self_attention", "decoder.cross_attention".

        Returns:
            Shape (layer, batch, heads, query, key).

        Raises:
            ValueError: If there is no such kind.
        """
        found = [weights for name, weights in self.attention.items() if _kind_of(name) == kind]
        if not found:
            known = dict.fromkeys(map(_kind_of, self.attention))
            raise ValueError(f"kind must be one of {', '.join(known)}, got {kind!r}")
        return torch.stack(found)

    def uniform(self) -> "RecordedPairs":
        """The same, with every query attending equally to the keys that its mask allows."""
        allowed = {name: (weights > 0).float() for name, weights in self.attention.items()}
        even = {
            name: each / each.sum(-1, keepdim=True).clamp(min=1) for name, each in allowed.items()
        }
        return replace(self, attention=even)

    def role_shares(self, kind: str) -> dict[str, Tensor]:
        """How much of its attention every head of a kind spends on each of POSITIONS.

        Args:
            kind: Such as "encoder.self_attention".

        Returns:
            By role, shares of shape (layer, heads); 0 where the causal mask hides the role's cells.

        Raises:
            ValueError: If there is no such kind, or no sentence is long enough to have every role.
        """
        weights = self.of(kind)
        queries = self.source_lengths if kind == KINDS["encoder"] else self.target_lengths
        keys = self.source_lengths if kind == KINDS["cross"] else queries
        return {
            role: share_on(weights, cells) for role, cells in position_cells(queries, keys).items()
        }


def _kind_of(name: str) -> str:
    """``decoder.cross_attention`` for ``decoder.layers.3.cross_attention``, also in a wrapper."""
    found = PLACE.search(name)
    return KINDS[found.lastgroup] if found else name


def record_pairs(model: nn.Module, pairs: Sequence[Pair]) -> RecordedPairs:
    """Run a model on pairs with teacher forcing and keep the attention weights of every head.

    Args:
        model: Answers (source_ids, target_ids) with logits; its modes are restored.
        pairs: Source and target ids, without special tokens.
    """
    with evaluation_mode(model), record_attention(model) as recorded:
        batch = make_batch(pairs, model).to(device_of(model))
        model(batch.source_ids, batch.decoder_input_ids)
    sources, targets = zip(*pairs, strict=True)
    attention = {name: weights.cpu() for name, weights in recorded.items()}
    return RecordedPairs(
        attention, list(map(len, sources)), [len(target) + 1 for target in targets]
    )


def position_cells(query_lengths: Sequence[int], key_lengths: Sequence[int]) -> dict[str, Tensor]:
    """The cells of five roles that are about places alone.

    Previous, same and next: the key one before the query's number, of that number, one after.
    First and last: the sentence's first and last key, counted for queries that are at least two
    places away from it, so that no cell has two roles; a sentence's only key is its first.

    Args:
        query_lengths: Real queries of each sentence of the batch.
        key_lengths: Real keys of each.

    Returns:
        By role, True for its cells, shape (batch, query, key).
    """
    queries, keys = (
        torch.tensor(lengths, device="cpu") for lengths in (query_lengths, key_lengths)
    )
    query = torch.arange(int(queries.max()), device="cpu").view(1, -1, 1)
    key = torch.arange(int(keys.max()), device="cpu").view(1, 1, -1)
    last = keys.view(-1, 1, 1) - 1
    real = (query < queries.view(-1, 1, 1)) & (key <= last)
    away = (key - query).abs() > 1
    cells = ((key == query - 1), (key == query), (key == query + 1))
    cells = (*cells, (key == 0) & away, (key == last) & (last > 0) & away)
    return {role: real & each for role, each in zip(POSITIONS, cells, strict=True)}


def share_on(weights: Tensor, cells: Tensor) -> Tensor:
    """The share of a head's attention that falls on cells: the mean of the rows that have one.

    Args:
        weights: Shape (..., batch, heads, query, key), from 0 to 1.
        cells: True for the cells that count, shape (batch, query, key).

    Returns:
        From 0 to 1, shape (..., heads).

    Raises:
        ValueError: If the shapes do not fit, or no cell counts.
    """
    if weights.shape[-4:-3] + weights.shape[-2:] != cells.shape:
        raise ValueError(
            f"cells must have the (batch, query, key) of weights {tuple(weights.shape)}, "
            f"got {tuple(cells.shape)}"
        )
    weights, cells = weights.cpu(), cells.cpu()
    counted = cells.any(dim=-1)  # (batch, query)
    if not counted.any():
        raise ValueError("cells must hold at least one cell that counts, got none")
    on_cells = (weights * cells.unsqueeze(-3)).sum(dim=-1)  # (..., batch, heads, query)
    return on_cells.transpose(-3, -2)[..., counted].mean(dim=-1)


SPACE = b" "


def group_pieces(pieces: Sequence[bytes]) -> list[list[bytes]]:
    """Put the pieces of a word together; punctuation stands alone.

    Args:
        pieces: The bytes of each, as Tokenizer.pieces has them; a word begins with a space.

    Returns:
        The pieces of each word.
    """
    words: list[list[bytes]] = []
    for piece in pieces:
        before = words[-1][-1] if words else b""
        goes_on = before == SPACE or (_in_word(before[-1:]) and _in_word(piece[:1]))
        if not goes_on or piece.startswith(SPACE):
            words.append([])
        words[-1].append(piece)
    return words


def _in_word(byte: bytes) -> bool:
    """Whether a byte, or none, is a letter or digit, or a part of a character beyond ASCII."""
    return byte.isalnum() or byte >= b"\x80"


def spell_word(pieces: Sequence[bytes]) -> str:
    """A word as a reader writes it.

    Args:
        pieces: The bytes of its pieces.
    """
    return b"".join(pieces).removeprefix(SPACE).decode(errors="replace")
