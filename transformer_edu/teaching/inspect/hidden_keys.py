"""One head of self-attention for a whole batch, with the mask that the model gives it.

Used in notebooks/03_masks.ipynb, where a reader computes its attention with and without the mask.
The head is found by what it does, so the lesson holds for any weights of the shipped translator.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from transformer_edu.generation.continuation import padding_id_of, start_id_of
from transformer_edu.generation.translator import Translator
from transformer_edu.model.attention import MultiHeadAttention, attention_weights
from transformer_edu.model.masks import padding_mask, target_mask
from transformer_edu.teaching.inspect.one_head import WORD_START

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
    layers = [
        module
        for name, module in translator.model.named_modules()
        if isinstance(module, MultiHeadAttention) and name.startswith(stack) and "self" in name
    ]
    inputs: list[Tensor] = []
    hooks = [
        layer.register_forward_pre_hook(lambda _, received: inputs.append(received[0]))
        for layer in layers
    ]
    with torch.no_grad():
        translator.model(*given)
    for hook in hooks:
        hook.remove()
    is_real = token_ids != padding_id_of(translator.model)
    is_real[:, 0] = True  # a start token may be the padding token, too
    hides = ~mask.all(dim=-1, keepdim=True) & is_real[:, None, :, None]
    found = []
    with torch.no_grad():
        for layer, x in zip(layers, inputs, strict=True):
            weights = layer.attention_weights(x, x)  # (batch, head, query, key), nothing hidden
            hidden = weights.masked_fill(mask, 0.0).sum(dim=-1, keepdim=True)
            least = hidden.masked_fill(~hides, 1.0).amin(dim=(0, 2, 3))  # of each head
            found.append((least.max().item(), int(least.argmax()), layer, x))
    _, head, layer, x = max(found, key=lambda each: each[0])
    matrices = (
        projection.weight.unflatten(0, (layer.num_heads, -1))[head].T.detach()
        for projection in (layer.query_projection, layer.key_projection, layer.value_projection)
    )
    return BatchHead(_words(translator, token_ids), token_ids, x, *matrices, mask[:, 0])


def _padded(translator: Translator, sequences: Sequence[Sequence[int]]) -> Tensor:
    """Ids of a batch on the translator's device, shape (batch, position)."""
    longest = max(len(ids) for ids in sequences)
    device = next(translator.model.parameters()).device
    padding_id = padding_id_of(translator.model)
    rows = [[*ids, *[padding_id] * (longest - len(ids))] for ids in sequences]
    return torch.tensor(rows, device=device)


def _words(translator: Translator, token_ids: Tensor) -> list[list[str]]:
    """The tokens of every row as a reader writes them."""
    start_id, padding_id = (ask(translator.model) for ask in (start_id_of, padding_id_of))
    words = []
    for first, *others in token_ids.tolist():
        names = translator.tokenizer.tokens([first, *others])
        row = [START if first == start_id else names[0], *names[1:]]
        for place, token_id in enumerate(others, start=1):
            row[place] = PADDING if token_id == padding_id else row[place]
        words.append([word.removeprefix(WORD_START) for word in row])
    return words
