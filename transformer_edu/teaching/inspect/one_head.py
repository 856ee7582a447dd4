"""One attention head of a translator: what goes into it, and its three matrices.

Used in notebooks/02_attention.ipynb, where a reader computes its attention by hand. The heads are
found by what they do, so the lesson holds for any weights of the shipped translator.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from transformer_edu.generation.continuation import start_id_of
from transformer_edu.generation.translator import Translator
from transformer_edu.model.attention import MultiHeadAttention, attention_weights

WORD_START = "▁"  # how Tokenizer.tokens writes the space before a word
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
    source_words = _words(translator, translator.tokenizer.encode(source))
    target_words = [*_words(translator, translator.target_ids(target)), END]
    rows = [_position(target_words, word) for word, _ in pairs]
    columns = [_position(source_words, word) for _, word in pairs]
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
    words = _words(translator, translator.tokenizer.encode(source))
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
    inputs: dict[str, tuple[Tensor, Tensor]] = {}
    layers = {
        name: module
        for name, module in translator.model.named_modules()
        if isinstance(module, MultiHeadAttention) and kind in name
    }
    hooks = [
        layer.register_forward_pre_hook(
            lambda _, given, name=name: inputs.update({name: given[:2]})  # query and key
        )
        for name, layer in layers.items()
    ]
    device = next(translator.model.parameters()).device
    source, target = texts
    source_ids, target_ids = translator.tokenizer.encode(source), translator.target_ids(target)
    start_id = start_id_of(translator.model)
    with torch.no_grad():
        translator.model(
            torch.tensor([source_ids], device=device),
            torch.tensor([[start_id, *target_ids]], device=device),
        )
        for hook in hooks:
            hook.remove()
        scores = {
            name: score(layer.attention_weights(*inputs[name])[0]) for name, layer in layers.items()
        }
        name = max(scores, key=lambda each: scores[each].max().item())
        head = int(scores[name].argmax())
        matrices = (
            projection.weight.unflatten(0, (layers[name].num_heads, -1))[head].T
            for projection in (
                layers[name].query_projection,
                layers[name].key_projection,
                layers[name].value_projection,
            )
        )
        stack, _, number, _ = name.split(".")
        place = int(number) + 1, head + 1
        where = f"{stack} layer {place[0]}, head {place[1]}"
        vectors = (each[0].detach() for each in inputs[name])
        return Head(where, *words, *vectors, *(matrix.detach() for matrix in matrices), *place)


def _words(translator: Translator, token_ids: Sequence[int]) -> list[str]:
    """Tokens as a reader writes them."""
    return [each.removeprefix(WORD_START) for each in translator.tokenizer.tokens(token_ids)]


def _position(tokens: list[str], word: str) -> int:
    """Where a word is, or the first of its tokens."""
    return next(place for place, token in enumerate(tokens) if word.startswith(token))
