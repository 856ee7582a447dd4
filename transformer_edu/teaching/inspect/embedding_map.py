"""Embeddings as a map: words as points in two dimensions, and their neighbors in all dimensions.

Used in notebooks/16_looking_inside.ipynb; drawn by figures/embeddings.py.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer_edu.generation.translator import TextCoder


class MapWord(NamedTuple):
    """A word that is a single token, and what it belongs to."""

    text: str
    group: str
    language: str
    token_id: int


class Neighbors(NamedTuple):
    """A token and those that point most nearly the same way, the nearest first."""

    token: str
    nearest: tuple[tuple[str, float], ...]

    def __str__(self) -> str:
        """The answer in one line."""
        return f"{self.token:12} " + "  ".join(
            f"{name} {cosine:.2f}" for name, cosine in self.nearest
        )


@dataclass(frozen=True)
class Projection:
    """Vectors seen along the axes in which they differ most.

    Args:
        coordinates: Where each vector lies on each axis, shape (vector, axis).
        axes: The axes' directions, each of length one, shape (axis, width).
        explained_variance_ratio: How much of the vectors' variance each axis holds, from 0 to 1,
            shape (axis,).
    """

    coordinates: Tensor
    axes: Tensor
    explained_variance_ratio: Tensor


def principal_axes(vectors: Tensor) -> Projection:
    """Project vectors on the two axes along which they vary most (principal component analysis).

    An axis points to where its largest component is positive, so that the same vectors always
    give the same map.

    Args:
        vectors: Shape (vector, width), at least three that differ.
    """
    centered = vectors.detach().cpu().double()
    centered = centered - centered.mean(dim=0)
    _, lengths, directions = torch.linalg.svd(centered, full_matrices=False)
    variances = lengths.square()  # of each axis, times the number of vectors
    axes = directions[:2]
    largest = axes.gather(1, axes.abs().argmax(dim=1, keepdim=True))
    axes = axes * largest.sign()
    return Projection(centered @ axes.T, axes, variances[:2] / variances.sum())


def find_words(
    groups: Mapping[str, Mapping[str, Sequence[str]]], tokenizer: TextCoder
) -> tuple[list[MapWord], list[str]]:
    """The words that are a single token, and those that have several pieces.

    Args:
        groups: Words by group, then by language: {"animals": {"English": ["dog"], …}, …}.
        tokenizer: Encodes a word.

    Returns:
        The words with their ids, and the words left out: a piece of a word has no place of its own.
    """
    found, left_out = [], []
    for group, languages in groups.items():
        for language, words in languages.items():
            for word in words:
                token_ids = tokenizer.encode(word)
                if len(token_ids) == 1:
                    found.append(MapWord(word, group, language, token_ids[0]))
                else:
                    left_out.append(word)
    return found, left_out


def nearest(
    embeddings: Tensor,
    token_ids: Sequence[int],
    *,
    tokens: Sequence[str],
    count: int = 5,
    among: Sequence[int] | None = None,
) -> list[Neighbors]:
    """Each token's neighbors by cosine, in all dimensions; a token is not its own neighbor.

    Args:
        embeddings: Shape (token, width).
        token_ids: The tokens whose neighbors are wanted.
        tokens: The token of every id.
        count: How many for each.
        among: The ids that may be neighbors; all when None.

    Returns:
        One for each id; printed, each is a line.
    """
    candidates = range(len(embeddings)) if among is None else among
    directions = F.normalize(embeddings.detach().float().cpu(), dim=1)
    answers = []
    for token_id in token_ids:
        allowed = [each for each in candidates if each != token_id]
        others = torch.tensor(allowed, dtype=torch.long, device="cpu")
        cosines = directions[others] @ directions[token_id]
        best = cosines.topk(count)
        names = [tokens[place] for place in others[best.indices].tolist()]
        pairs = zip(names, best.values.tolist(), strict=True)
        answers.append(Neighbors(tokens[token_id], tuple(pairs)))
    return answers
