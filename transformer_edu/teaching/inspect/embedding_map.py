"""The nearest neighbors of an embedding, by cosine in all dimensions.

Used in notebooks/01_words_as_vectors.ipynb; drawn by figures/words.py.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor


class Neighbors(NamedTuple):
    """A token and those that point most nearly the same way, the nearest first."""

    token: str
    nearest: tuple[tuple[str, float], ...]

    def __str__(self) -> str:
        """The answer in one line."""
        return f"{self.token:12} " + "  ".join(
            f"{name} {cosine:.2f}" for name, cosine in self.nearest
        )


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
