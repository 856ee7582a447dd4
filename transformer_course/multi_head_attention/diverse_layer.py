"""The layer of a translator whose heads differ most, with what it reads and its matrices."""

from typing import NamedTuple

from torch import Tensor

from transformer_course.looking.found_heads import one_row, position_of
from transformer_course.looking.recording import attentions_of, record_inputs, words_of
from transformer_edu.generation.translator import Translator
from transformer_edu.model.attention import MultiHeadAttention


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


def most_diverse_layer(translator: Translator, source: str, word: str) -> Layer:
    """The encoder layer whose heads attend to the most different words, seen from one word.

    Counted are the words with a head's largest weight, the word itself apart. Among equals the
    layer with the larger weights wins.

    Args:
        translator: Its tokenizer is the package's.
        source: The sentence that the encoder reads.
        word: The word of it whose heads are compared.
    """
    model, ids = translator.model, translator.source_ids(source)
    words = words_of(translator, ids)
    row = position_of(words, word)
    modules = {name: each for name, each in attentions_of(model).items() if "encoder" in name}
    with record_inputs(modules) as inputs:
        model.encode(one_row(model, ids))
        layers = [
            Layer(module, words, inputs[name][0][0], module.attention_weights(*inputs[name][:2])[0])
            for name, module in modules.items()
        ]

    def difference(layer: Layer) -> tuple[int, float]:
        largest, keys = layer.weights[:, row].max(dim=-1)
        return len(set(keys.tolist()) - {row}), largest.sum().item()

    return max(layers, key=difference)
