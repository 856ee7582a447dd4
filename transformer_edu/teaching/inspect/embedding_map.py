"""Embeddings as a map: words as points in two dimensions, and who is near whom in all of them.

Used in notebooks/15_looking_inside.ipynb; drawn by plot_embedding_map in embedding_plot.py.
"""

import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer_edu.generation.translator import TextCoder
from transformer_edu.refusals import require_whole


class MapWord(NamedTuple):
    """A word that is a single token, and what it belongs to."""

    text: str
    group: str
    language: str
    token_id: int


class Neighbours(NamedTuple):
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


def principal_axes(vectors: Tensor, *, count: int = 2) -> Projection:
    """Project vectors on the axes along which they vary most (principal component analysis).

    An axis points to where its largest component is positive, so that the same vectors always
    give the same map.

    Args:
        vectors: Shape (vector, width).
        count: How many axes.

    Raises:
        TypeError: If vectors is no tensor of floating-point numbers or count no whole number.
        ValueError: If vectors is no grid of finite numbers, all are equal, or there are not as
            many axes as asked for.
    """
    _require_vectors("vectors", vectors)
    require_whole("count", count)
    most = min(len(vectors) - 1, vectors.size(1))
    if count > most:
        raise ValueError(f"count must be at most {most} for such vectors, got {count}")
    centred = vectors.detach().cpu().double()
    centred = centred - centred.mean(dim=0)
    _, lengths, directions = torch.linalg.svd(centred, full_matrices=False)
    variances = lengths.square()  # of each axis, times the number of vectors
    if not variances.sum() > 0:
        raise ValueError(f"vectors must differ, got {len(vectors)} equal ones")
    axes = directions[:count]
    largest = axes.gather(1, axes.abs().argmax(dim=1, keepdim=True))
    axes = axes * largest.sign()
    return Projection(centred @ axes.T, axes, variances[:count] / variances.sum())


def find_words(
    groups: Mapping[str, Mapping[str, Sequence[str]]], tokenizer: TextCoder
) -> tuple[list[MapWord], list[str]]:
    """The words that are a single token, and those that have several pieces.

    Args:
        groups: Words by group, then by language: {"animals": {"English": ["dog"], …}, …}.
        tokenizer: Encodes a word.

    Returns:
        The words with their ids, and the words left out: a piece of a word has no place of its own.

    Raises:
        TypeError: If groups is no such mapping, or the words of a language are a single text.
    """
    if not isinstance(groups, Mapping):
        raise TypeError(f"groups must map names to words, got {type(groups).__name__}")
    found, left_out = [], []
    for group, languages in groups.items():
        if not isinstance(languages, Mapping):
            raise TypeError(
                f"group {group!r} must map languages to words, got {type(languages).__name__}"
            )
        for language, words in languages.items():
            if isinstance(words, str):
                raise TypeError(f"groups must hold lists of words, got the single text {words!r}")
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
) -> list[Neighbours]:
    """Each token's neighbours by cosine, in all dimensions; the token itself is none.

    Args:
        embeddings: Shape (token, width).
        token_ids: Whose neighbours.
        tokens: The token of every id.
        count: How many for each.
        among: The ids that may be neighbours; all when None.

    Returns:
        One for each id; printed, each is a line.

    Raises:
        TypeError: If embeddings is no tensor of floating-point numbers, or an id no whole number.
        ValueError: If an id is out of range, tokens do not fit, or there are not so many others.
    """
    _require_vectors("embeddings", embeddings)
    if len(tokens) != len(embeddings):
        raise ValueError(f"tokens must name {len(embeddings)} embeddings, got {len(tokens)}")
    _require_ids("token_ids", token_ids, len(embeddings))
    candidates = range(len(embeddings)) if among is None else among
    _require_ids("among", candidates, len(embeddings))
    require_whole("count", count)
    directions = F.normalize(embeddings.detach().float().cpu(), dim=1)
    answers = []
    for token_id in token_ids:
        allowed = [each for each in candidates if each != token_id]
        others = torch.tensor(allowed, dtype=torch.long, device="cpu")
        if count > len(others):
            raise ValueError(f"count must be at most {len(others)}, got {count}")
        cosines = directions[others] @ directions[token_id]
        best = cosines.topk(count)
        names = [tokens[place] for place in others[best.indices].tolist()]
        pairs = zip(names, best.values.tolist(), strict=True)
        answers.append(Neighbours(tokens[token_id], tuple(pairs)))
    return answers


def _require_vectors(name: str, vectors: Tensor) -> None:
    """Refuse what is no grid of finite floating-point numbers."""
    if not isinstance(vectors, Tensor) or not vectors.is_floating_point():
        got = vectors.dtype if isinstance(vectors, Tensor) else type(vectors).__name__
        raise TypeError(f"{name} must be a tensor of floating-point numbers, got {got}")
    if vectors.dim() != 2 or vectors.numel() == 0:
        raise ValueError(f"{name} must have shape (vector, width), got {tuple(vectors.shape)}")
    if not vectors.isfinite().all():
        raise ValueError(f"{name} must be finite, got {vectors[~vectors.isfinite()][0].item()}")


def _require_ids(name: str, token_ids: Sequence[int], limit: int) -> None:
    """Refuse what is not several ids of this table."""
    if isinstance(token_ids, str | bytes) or not isinstance(token_ids, Sequence):
        raise TypeError(f"{name} must be several token ids, got {reprlib.repr(token_ids)}")
    if isinstance(token_ids, range):  # checked by its ends
        token_ids = token_ids[:: max(1, len(token_ids) - 1)]
    for token_id in token_ids:
        require_whole(name, token_id, minimum=0)
        if token_id >= limit:
            raise ValueError(f"{name} must be below {limit}, got {token_id}")
