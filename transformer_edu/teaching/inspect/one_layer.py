"""The heads of one self-attention layer of a translator, all at once.

Used in notebooks/04_multi_head_attention.ipynb. The layer is found by what it does, so the lesson
holds for any weights of the shipped translator.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from transformer_edu.generation.translator import Translator
from transformer_edu.model.attention import MultiHeadAttention
from transformer_edu.teaching.inspect.one_head import WORD_START
from transformer_edu.teaching.inspect.recording import removed_at_the_end


class Layer(NamedTuple):
    """One self-attention of the encoder and what it reads for one sentence.

    Args:
        attention: The module, which holds the four matrices of all heads.
        words: One per position.
        inputs: The vectors that queries, keys and values are made from, shape (word, d_model).
        weights: What every head attends to, shape (head, query, key).
    """

    attention: MultiHeadAttention
    words: list[str]
    inputs: Tensor
    weights: Tensor


def most_different_heads(translator: Translator, source: str, word: str) -> Layer:
    """The encoder layer whose heads attend to the most different words, seen from one word.

    Counted are the words with a head's largest weight, the word itself apart. Among equals the
    layer with the larger weights wins.

    Args:
        translator: Its tokenizer is the package's.
        source: The sentence that the encoder reads.
        word: The word of it whose heads are compared.
    """
    tokenizer = translator.tokenizer
    ids = tokenizer.encode(source)
    words = [each.removeprefix(WORD_START) for each in tokenizer.tokens(ids)]
    row = next(place for place, each in enumerate(words) if word.startswith(each))
    device = next(translator.model.parameters()).device
    layers: list[Layer] = []

    def note(module: MultiHeadAttention, given: tuple[Tensor, ...]) -> None:
        query, key = given[:2]
        weights = module.attention_weights(query, key)[0]
        layers.append(Layer(module, words, query[0].detach(), weights.detach()))

    hooks = [
        module.register_forward_pre_hook(note)
        for module in translator.model.encoder.modules()
        if isinstance(module, MultiHeadAttention)
    ]
    with torch.no_grad(), removed_at_the_end(hooks):
        translator.model.encode(torch.tensor([ids], device=device))

    def difference(layer: Layer) -> tuple[int, float]:
        largest, keys = layer.weights[:, row].max(dim=-1)
        return len(set(keys.tolist()) - {row}), largest.sum().item()

    return max(layers, key=difference)
