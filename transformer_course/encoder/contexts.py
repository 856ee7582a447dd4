"""One word in several sentences, layer by layer."""

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_course.looking.recording import vectors_by_layer
from transformer_edu.generation.translator import Translator


def word_in_sentences(translator: Translator, texts: Sequence[str], word: str) -> Tensor:
    """The vectors of one word in several sentences, layer by layer.

    Args:
        translator: Its tokenizer is the package's.
        texts: The sentences, each with the word as a token of its own.
        word: The first such token counts.

    Returns:
        Shape (layers + 1, sentence, d_model).

    Raises:
        ValueError: If a sentence has no such token.
    """
    if not texts:
        raise ValueError("texts must hold at least one sentence, got none")
    found = []
    for text in texts:
        words, vectors = vectors_by_layer(translator, text)
        if word not in words:
            raise ValueError(f"text must have the token {word!r}, got {text!r}")
        found.append(vectors[:, words.index(word)])
    return torch.stack(found, dim=1)


def nearest_of_its_kind(vectors: Tensor, kinds: Sequence[str]) -> list[int]:
    """After each layer: how many vectors have a nearest neighbor of their own kind.

    Args:
        vectors: Shape (layer, sentence, d_model).
        kinds: One for each sentence.
    """
    return [
        sum(kinds[near] == kind for near, kind in zip(row, kinds, strict=True))
        for row in nearest_neighbors(vectors).tolist()
    ]


def nearest_neighbors(vectors: Tensor) -> Tensor:
    """The index of each vector's nearest neighbor, shape (layer, sentence).

    Args:
        vectors: Shape (layer, sentence, d_model).
    """
    itself = torch.eye(vectors.size(1), dtype=torch.bool, device=vectors.device)
    return torch.cdist(vectors, vectors).masked_fill(itself, float("inf")).argmin(dim=-1)
