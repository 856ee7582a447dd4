"""Heads of a translator, found by what they do, with what they read and their matrices.

One head for a sentence or for a batch with its mask, and all heads of a layer. Used in lessons 00,
02 to 05, 16 and 17, where a reader computes attention by hand. The lessons hold for any weights of
the shipped translator.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from transformer_course.looking.recording import attentions_of, record_inputs, words_of
from transformer_edu.generation.continuation import padding_id_of, start_id_of
from transformer_edu.generation.translator import Translator
from transformer_edu.model.attention import MultiHeadAttention, attention_weights
from transformer_edu.model.masks import padding_mask, target_mask
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
    source_words = words_of(translator, translator.tokenizer.encode(source))
    target_words = [*words_of(translator, translator.target_ids(target)), END]
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
    words = words_of(translator, translator.tokenizer.encode(source))
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
    source_ids = _one_row(model, translator.tokenizer.encode(source))
    target_ids = _one_row(model, [start_id_of(model), *translator.target_ids(target)])
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
    return Head(where, *words, *vectors, *_matrices(layers[name], head), *place)


def _matrices(layer: MultiHeadAttention, head: int) -> Iterator[Tensor]:
    """The three matrices of a head, counted from 0, each (d_model, d_head)."""
    for projection in (layer.query_projection, layer.key_projection, layer.value_projection):
        yield projection.weight.unflatten(0, (layer.num_heads, -1))[head].T.detach()


def _one_row(model: nn.Module, token_ids: Sequence[int]) -> Tensor:
    """A batch of one sentence on the model's device."""
    return torch.tensor([token_ids], device=device_of(model))


def _position(tokens: list[str], word: str) -> int:
    """Where a word is, or the first of its tokens."""
    if word in tokens:
        return tokens.index(word)
    return next(place for place, token in enumerate(tokens) if word.startswith(token))


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
    model, ids = translator.model, translator.tokenizer.encode(source)
    words = words_of(translator, ids)
    row = _position(words, word)
    modules = {name: each for name, each in attentions_of(model).items() if "encoder" in name}
    with record_inputs(modules) as inputs:
        model.encode(_one_row(model, ids))
        layers = [
            Layer(module, words, inputs[name][0][0], module.attention_weights(*inputs[name][:2])[0])
            for name, module in modules.items()
        ]

    def difference(layer: Layer) -> tuple[int, float]:
        largest, keys = layer.weights[:, row].max(dim=-1)
        return len(set(keys.tolist()) - {row}), largest.sum().item()

    return max(layers, key=difference)


START, PADDING = "<s>", "<pad>"


class BatchHead(NamedTuple):
    """One head of self-attention and what it reads for a batch of sentences.

    Args:
        words: One list for each sentence, padding included.
        token_ids: Shape (batch, position).
        x: The vectors that enter the head, shape (batch, position, d_model).
        w_query, w_key, w_value: The head's matrices, each (d_model, d_head).
        mask: True where a query may attend, shape (batch, query or 1, key).
    """

    words: list[list[str]]
    token_ids: Tensor
    x: Tensor
    w_query: Tensor
    w_key: Tensor
    w_value: Tensor
    mask: Tensor

    def attention_weights(self) -> Tensor:
        """Its attention weights, with the mask, shape (batch, query, key)."""
        return attention_weights(self.x @ self.w_query, self.x @ self.w_key, mask=self.mask)


def encoder_head(translator: Translator, sentences: Sequence[str]) -> BatchHead:
    """The encoder's head that would attend most to padding if nothing were hidden.

    Args:
        translator: Its tokenizer is the package's.
        sentences: A batch; all but the longest are padded.
    """
    token_ids = _padded(translator, [translator.tokenizer.encode(each) for each in sentences])
    model = translator.model
    start = torch.full_like(token_ids[:, :1], start_id_of(model))
    mask = padding_mask(token_ids, padding_id=padding_id_of(model))
    return _most_tempted_head(translator, (token_ids, start), "encoder", token_ids, mask)


def decoder_head(translator: Translator, source: str, targets: Sequence[str]) -> BatchHead:
    """The decoder's head of self-attention that would attend most to later words.

    Args:
        translator: Its tokenizer is the package's.
        source: The sentence that the encoder reads.
        targets: What the decoder reads, one row each; a start token comes first.
    """
    start_id, padding_id = (ask(translator.model) for ask in (start_id_of, padding_id_of))
    rows = [[start_id, *translator.target_ids(each)] for each in targets]
    token_ids = _padded(translator, rows)
    source_ids = _padded(translator, [translator.tokenizer.encode(source)] * len(targets))
    mask = target_mask(token_ids, padding_id=padding_id, start_id=start_id)
    return _most_tempted_head(translator, (source_ids, token_ids), "decoder", token_ids, mask)


def _most_tempted_head(
    translator: Translator,
    given: tuple[Tensor, Tensor],
    stack: str,
    token_ids: Tensor,
    mask: Tensor,
) -> BatchHead:
    """Of one stack's self-attention heads, the one with most weight on what its mask hides."""
    layers = {
        name: layer
        for name, layer in attentions_of(translator.model).items()
        if name.startswith(stack) and "self" in name
    }
    is_real = token_ids != padding_id_of(translator.model)
    is_real[:, 0] = True  # a start token may be the padding token, too
    hides = ~mask.all(dim=-1, keepdim=True) & is_real[:, None, :, None]
    found = []
    with record_inputs(layers) as inputs:
        translator.model(*given)
        for name, layer in layers.items():
            x = inputs[name][0]
            weights = layer.attention_weights(x, x)  # (batch, head, query, key), nothing hidden
            hidden = weights.masked_fill(mask, 0.0).sum(dim=-1, keepdim=True)
            least = hidden.masked_fill(~hides, 1.0).amin(dim=(0, 2, 3))  # of each head
            found.append((least.max().item(), int(least.argmax()), layer, x))
    _, head, layer, x = max(found, key=lambda each: each[0])
    words = _words_by_row(translator, token_ids)
    return BatchHead(words, token_ids, x, *_matrices(layer, head), mask[:, 0])


def _padded(translator: Translator, sequences: Sequence[Sequence[int]]) -> Tensor:
    """Ids of a batch on the translator's device, shape (batch, position)."""
    longest = max(len(ids) for ids in sequences)
    padding_id = padding_id_of(translator.model)
    rows = [[*ids, *[padding_id] * (longest - len(ids))] for ids in sequences]
    return torch.tensor(rows, device=device_of(translator.model))


def _words_by_row(translator: Translator, token_ids: Tensor) -> list[list[str]]:
    """The tokens of every row as a reader writes them."""
    start_id, padding_id = (ask(translator.model) for ask in (start_id_of, padding_id_of))
    words = []
    for first, *others in token_ids.tolist():
        row = words_of(translator, [first, *others])
        row[0] = START if first == start_id else row[0]
        for place, token_id in enumerate(others, start=1):
            row[place] = PADDING if token_id == padding_id else row[place]
        words.append(row)
    return words
