"""A word inside the encoder: its vector before the first layer and after every layer.

Used in notebooks/07_encoder.ipynb, where one word is followed through several sentences.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_edu.generation.evaluation_mode import evaluation_mode
from transformer_edu.generation.translator import Translator

WORD_START = "▁"  # how Tokenizer.tokens writes the space before a word


def vectors_by_layer(translator: Translator, text: str) -> tuple[list[str], Tensor]:
    """The vectors of all words of a sentence on their way through the encoder.

    Args:
        translator: Its tokenizer is the package's.
        text: The sentence that the encoder reads.

    Returns:
        The tokens as a reader writes them; and the vectors before the first layer and after
        each, shape (layers + 1, word, d_model).
    """
    model, tokenizer = translator.model, translator.tokenizer
    token_ids = tokenizer.encode(text)
    device = next(model.parameters()).device
    with evaluation_mode(model):
        x = model.positions(model.source_embedding(torch.tensor([token_ids], device=device)))
        vectors = [x[0]]
        for layer in model.encoder.layers:
            x = layer(x)
            vectors.append(x[0])
    words = [token.removeprefix(WORD_START) for token in tokenizer.tokens(token_ids)]
    return words, torch.stack(vectors)


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
    distances = torch.cdist(vectors, vectors)
    itself = torch.eye(len(kinds), dtype=torch.bool, device=vectors.device)
    nearest = distances.masked_fill(itself, float("inf")).argmin(dim=-1)  # (layer, sentence)
    return [
        sum(kinds[near] == kind for near, kind in zip(row, kinds, strict=True))
        for row in nearest.tolist()
    ]
