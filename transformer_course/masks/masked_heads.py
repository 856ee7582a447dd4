"""Heads that a mask stops, found in a translator: a batch, its mask and the head's matrices."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from transformer_course.looking.found_heads import matrices
from transformer_course.looking.recording import attentions_of, record_inputs, words_of
from transformer_edu.generation.continuation import padding_id_of, start_id_of
from transformer_edu.generation.translator import Translator
from transformer_edu.model.attention import attention_weights
from transformer_edu.model.masks import padding_mask, target_mask
from transformer_edu.model.refusals import require_texts
from transformer_edu.training.machine.device import device_of

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
    rows = [translator.source_ids(each) for each in require_texts("sentences", sentences)]
    token_ids = _padded(translator, rows)
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
    rows = [[start_id, *translator.target_ids(each)] for each in require_texts("targets", targets)]
    token_ids = _padded(translator, rows)
    source_ids = _padded(translator, [translator.source_ids(source)] * len(targets))
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
    return BatchHead(words, token_ids, x, *matrices(layer, head), mask[:, 0])


def _padded(translator: Translator, sequences: Sequence[Sequence[int]]) -> Tensor:
    """Ids of a batch on the translator's device, shape (batch, position)."""
    if not sequences:
        raise ValueError("a batch must hold at least one sentence, got none")
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
