"""What a decoder expects next, given the source and the beginning of a target."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from transformer_course.looking.recording import record_attention, source_row, token_words
from transformer_edu.generation.continuation import end_id_of, start_id_of
from transformer_edu.generation.evaluation_mode import evaluation_mode
from transformer_edu.generation.translator import Translator

NUM_CANDIDATES = 5  # of a step
MOST_STEPS = 16  # of a sentence in a figure: more rows have no room


class DecodingStep(NamedTuple):
    """One step of a decoder that writes: from the tokens it reads to the token that comes next.

    Args:
        read: The tokens that it reads, ``<s>`` first.
        attention: Cross-attention of the last of them, shape (source,), the mean of all heads of
            all layers; it sums to 1.
        candidates: The likeliest next tokens with their probabilities, the likeliest first; after
            them the chosen one, where it is not among them.
        chosen: Which candidate is read in the next step.
        is_given: Whether it was put in, and not chosen as the likeliest.
    """

    read: list[str]
    attention: Tensor
    candidates: list[tuple[str, float]]
    chosen: int
    is_given: bool


def next_word(translator: Translator, source: str, beginning: str) -> dict[str, float]:
    """The probabilities of the tokens that are likeliest to follow, the likeliest first.

    Args:
        translator: Its tokenizer is the package's.
        source: The sentence that the encoder reads.
        beginning: The words that are written already, as whole words.

    Raises:
        ValueError: If source is empty.
    """
    model, source_ids = translator.model, source_row(translator, source)
    ids = [start_id_of(model), *translator.target_ids(beginning)]
    target_ids = torch.tensor([ids], device=source_ids.device)
    with evaluation_mode(model):
        probabilities: Tensor = model(source_ids, target_ids)[0, -1].softmax(dim=-1)
    best = probabilities.topk(4)
    return dict(
        zip(_told_apart(translator, best.indices.tolist()), best.values.tolist(), strict=True)
    )


def _told_apart(translator: Translator, token_ids: Sequence[int]) -> list[str]:
    """As token_words, but where two would be written alike, ``▁`` shows the space before one."""
    words, names = token_words(translator, token_ids), translator.tokenizer.tokens(token_ids)
    return [
        name if words.count(word) > 1 else word for word, name in zip(words, names, strict=True)
    ]


def decoding_steps(translator: Translator, source: str, beginning: str) -> list[DecodingStep]:
    """Every step of a greedy translation, to the end token or to MOST_STEPS.

    Args:
        translator: Its tokenizer is the package's.
        source: The sentence that the encoder reads.
        beginning: The words that are put in before the model chooses; "" for none.

    Raises:
        ValueError: If source is empty.
    """
    model, source_ids = translator.model, source_row(translator, source)
    given, ids, steps = translator.target_ids(beginning), [start_id_of(model)], []
    while ids[-1] != end_id_of(model) and len(steps) < MOST_STEPS:
        with evaluation_mode(model), record_attention(model) as recorded:
            logits = model(source_ids, torch.tensor([ids], device=source_ids.device))[0, -1]
        is_given = len(steps) < len(given)
        next_id = given[len(steps)] if is_given else int(logits.argmax())
        best = logits.topk(NUM_CANDIDATES).indices.tolist()
        if next_id not in best:
            best.append(next_id)
        candidates = zip(
            _told_apart(translator, best), logits.softmax(dim=-1)[best].tolist(), strict=True
        )
        layers = [
            weights[0, :, -1] for name, weights in recorded.items() if "cross_attention" in name
        ]
        attention = torch.cat(layers).mean(dim=0)
        read = token_words(translator, ids)
        chosen = best.index(next_id)
        steps.append(DecodingStep(read, attention, list(candidates), chosen, is_given))
        ids.append(next_id)
    return steps
