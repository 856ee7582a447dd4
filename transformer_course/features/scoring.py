"""How well one number tells two kinds of tokens apart, and how well a word alone explains it."""

import random
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor


def auc(numbers: Tensor, labels: Tensor) -> Tensor:
    """How often a token of the kind has the larger number, of all pairs; a tie counts half.

    Args:
        numbers: One column for each candidate, shape (token, candidate).
        labels: Whether a token is of the kind, shape (token,); both occur.

    Returns:
        Shape (candidate,): 1 if all of the kind are above all others, 0.5 by chance.

    Raises:
        ValueError: If the shapes do not fit, only one kind occurs, or a number is NaN.
    """
    labels = _chosen("labels", labels, numbers)
    yes, no = numbers[labels], numbers[~labels]
    if not len(yes) or not len(no):
        got = f"{len(labels)} times {bool(len(yes))}"
        raise ValueError(f"labels must have both kinds among the tokens compared, got {got}")
    if numbers.isnan().any():
        raise ValueError("numbers must be numbers that can be compared, got NaN")
    others = no.sort(dim=0).values.T.contiguous()  # (candidate, token)
    own = yes.T.contiguous()
    smaller = torch.searchsorted(others, own)
    not_larger = torch.searchsorted(others, own, right=True)
    below = (smaller + not_larger).double().sum(dim=1) / 2
    return below / (len(yes) * len(no))


def _chosen(name: str, labels: Tensor, numbers: Tensor) -> Tensor:
    """Labels of tokens; refuse those that are numbers, which would choose rows."""
    labels = torch.as_tensor(labels)
    if numbers.dim() != 2:
        raise ValueError(f"numbers must be (token, candidate), got {tuple(numbers.shape)}")
    if labels.dtype != torch.bool or len(labels) != len(numbers):
        wanted, got = f"boolean, one for each of {len(numbers)} tokens", tuple(labels.shape)
        raise ValueError(f"{name} must be {wanted}, got {labels.dtype} {got}")
    return labels


class Found(NamedTuple):
    """The column that tells a kind best on some tokens, and how well it does on others."""

    column: int
    chosen_with: float
    on_others: float


def best_column(numbers: Tensor, labels: Tensor, chosen_by: Tensor) -> Found:
    """Choose a column, and its sign, on some tokens, and measure it on the others.

    Args:
        numbers, labels: As for auc.
        chosen_by: Which tokens are for choosing, shape (token,).
    """
    chosen_by = _chosen("chosen_by", chosen_by, numbers)
    labels = _chosen("labels", labels, numbers)
    found = auc(numbers[chosen_by], labels[chosen_by])
    column = int((found - 0.5).abs().argmax())
    sign = 1.0 if found[column] > 0.5 else -1.0
    other = auc(sign * numbers[~chosen_by, column : column + 1], labels[~chosen_by])
    chosen_with = max(found[column].item(), 1 - found[column].item())
    return Found(column, chosen_with, other.item())


def random_labels(words: Sequence[str], seed: int) -> Tensor:
    """A control task: a random label for each different word, the same at all its tokens.

    Args:
        words: The word of each token.
        seed: Of the labels.

    Returns:
        Shape (token,), true for half of the different words.
    """
    different = sorted(set(words))
    chosen = set(random.Random(seed).sample(different, len(different) // 2))
    return torch.tensor([word in chosen for word in words])


def largest_shares(features: Tensor, words: Sequence[str]) -> tuple[Tensor, list[str]]:
    """For each feature the word with the largest part of its total, and how large this part is.

    Args:
        features: Shape (token, feature), none below 0.
        words: The word of each token.

    Returns:
        Shares, shape (feature,), 0 for a feature that is never active; and the words.
    """
    numbers = {word: number for number, word in enumerate(dict.fromkeys(words))}
    rows = torch.tensor([numbers[word] for word in words], device=features.device)
    sums = torch.zeros(len(numbers), features.size(-1), device=features.device)
    sums.index_add_(0, rows, features)
    shares, first = (sums / sums.sum(dim=0).clamp(min=1e-9)).max(dim=0)
    names = list(numbers)
    return shares.cpu(), [names[each] for each in first.tolist()]
