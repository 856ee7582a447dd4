"""Heads of a translator, found by what they do, with what they read and their matrices.

A reader computes attention by hand with them. The lessons hold for any weights of the shipped
translator.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

import torch
from torch import Tensor, nn

from transformer_course.looking.recording import (
    Words,
    attentions_of,
    record_inputs,
    source_row,
    words_of,
)
from transformer_edu.generation.continuation import start_id_of
from transformer_edu.generation.translator import Translator
from transformer_edu.model.attention import MultiHeadAttention, attention_weights
from transformer_edu.training.machine.device import device_of

END = "(end)"  # what is written after the last word


class Head(NamedTuple):
    """One head and what it reads for one sentence.

    Args:
        name: Where it is, in words.
        query_words: One per query. In the decoder, the word that is about to be written.
        key_words: One per key.
        query_input: The vectors that queries are made from, shape (query, d_model).
        key_input: The vectors that keys and values are made from, shape (key, d_model).
        w_query, w_key, w_value: The head's matrices, each (d_model, d_head).
        layer, number: Which layer and which of its heads, counted from 1.
    """

    name: str
    query_words: list[str]
    key_words: list[str]
    query_input: Tensor
    key_input: Tensor
    w_query: Tensor
    w_key: Tensor
    w_value: Tensor
    layer: int
    number: int

    def attention_weights(self) -> Tensor:
        """Its attention weights for the sentence, shape (query, key)."""
        return attention_weights(
            self.query_input @ self.w_query, self.key_input @ self.w_key
        ).detach()


def aligning_head(
    translator: Translator, source: str, target: str, pairs: Sequence[tuple[str, str]]
) -> Head:
    """The cross-attention head that links words of the target best to their translations.

    Args:
        translator: Its tokenizer is the package's.
        source: The sentence that the encoder reads.
        target: Its translation, which the decoder is about to write.
        pairs: Words of the target, each with the word of the source that it translates.
    """
    if not pairs or any(isinstance(pair, str) or len(pair) != 2 for pair in pairs):
        raise ValueError(f"pairs must be pairs of words (target, source), got {pairs!r}")
    source_words = words_of(translator, translator.source_ids(source))
    target_words = Words([*words_of(translator, translator.target_ids(target)), END])
    rows = [position_of(target_words, word) for word, _ in pairs]
    columns = [position_of(source_words, word) for _, word in pairs]
    return _best_head(
        translator,
        (source, target),
        kind="cross_attention",
        words=(target_words, source_words),
        score=lambda weights: weights[:, rows, columns].mean(dim=-1),
    )


def previous_token_head(translator: Translator, source: str) -> Head:
    """The encoder's head in which words attend most to the word before them.

    Args:
        translator: Its tokenizer is the package's.
        source: The sentence that the encoder reads.
    """
    words = words_of(translator, translator.source_ids(source))
    return _best_head(
        translator,
        (source, ""),
        kind="encoder",
        words=(words, words),
        score=lambda weights: weights.diagonal(-1, dim1=1, dim2=2).mean(dim=-1),
    )


def _best_head(
    translator: Translator,
    texts: tuple[str, str],
    *,
    kind: str,
    words: tuple[list[str], list[str]],
    score: Callable[[Tensor], Tensor],
) -> Head:
    """Of all heads of one kind, the one whose weights score highest, with what it reads."""
    model, (source, target) = translator.model, texts
    layers = {name: layer for name, layer in attentions_of(model).items() if kind in name}
    source_ids = source_row(translator, source)
    target_ids = one_row(model, [start_id_of(model), *translator.target_ids(target)])
    with record_inputs(layers) as inputs:
        model(source_ids, target_ids)
        scores = {
            name: score(layer.attention_weights(*inputs[name][:2])[0])
            for name, layer in layers.items()
        }
    name = max(scores, key=lambda each: scores[each].max().item())
    head = int(scores[name].argmax())
    stack, _, number, _ = name.split(".")
    place = int(number) + 1, head + 1
    where = f"{stack} layer {place[0]}, head {place[1]}"
    vectors = (each[0] for each in inputs[name][:2])
    return Head(where, *words, *vectors, *matrices(layers[name], head), *place)


def matrices(layer: MultiHeadAttention, head: int) -> Iterator[Tensor]:
    """The three matrices of a head, counted from 0, each (d_model, d_head)."""
    for projection in (layer.query_projection, layer.key_projection, layer.value_projection):
        yield projection.weight.unflatten(0, (layer.num_heads, -1))[head].T.detach()


def one_row(model: nn.Module, token_ids: Sequence[int]) -> Tensor:
    """A batch of one sentence on the model's device."""
    return torch.tensor([token_ids], device=device_of(model))


def position_of(tokens: list[str], word: str) -> int:
    """Where a word is, or the first of its tokens.

    Raises:
        ValueError: If it is not there.
    """
    for place in range(len(tokens)):
        spelled = [*accumulate(tokens[place:])]
        if tokens[place] and word in spelled:
            return place
    raise ValueError(f"{word!r} is not in the sentence {' '.join(tokens)!r}")
