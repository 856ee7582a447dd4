"""A translator's choice between two forms of a word.

The two translations of a contrast differ in one word, such as *einem* and *einer*; the decoder
reads what stands before that word, and the probabilities of the two words are compared. Sennrich
2017 calls them contrastive translation pairs.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_course.texts.sentences import require_groups
from transformer_edu.data.batches import make_batch
from transformer_edu.generation.continuation import end_id_of
from transformer_edu.generation.evaluation_mode import evaluation_mode
from transformer_edu.generation.translator import Translator
from transformer_edu.training.machine.device import device_of

Contrast = tuple[str, str, str]  # English, the right German, the German with one wrong word


def margins(translator: Translator, contrasts: Sequence[Contrast]) -> Tensor:
    """How much more probable the right word is than the wrong one, given the words before it.

    Where words are cut into pieces, the first pieces that differ are compared.

    Args:
        translator: Its model may have parts switched off.
        contrasts: English, the right German, and the German with one wrong word.

    Returns:
        ln p(right) - ln p(wrong) of each contrast on the CPU, above 0 where the right word is
        preferred, shape (contrast,).

    Raises:
        ValueError: If the two translations of a contrast are equal.
    """
    contrasts = require_groups("contrasts", contrasts, "English, right German, wrong German")
    read, write, model = translator.tokenizer.encode, translator.target_ids, translator.model
    encoded = [(read(source), write(right), write(wrong)) for source, right, wrong in contrasts]
    end_id = end_id_of(model)
    ended = [([*right, end_id], [*wrong, end_id]) for _, right, wrong in encoded]
    places = [_first_difference(*pair) for pair in ended]
    batch = make_batch([(source, right) for source, right, _ in encoded], model).to(
        device_of(model)
    )
    with evaluation_mode(model):
        logits = model(batch.source_ids, batch.decoder_input_ids).cpu()
    found = [
        logits[row, place, right[place]] - logits[row, place, wrong[place]]
        for row, (place, (right, wrong)) in enumerate(zip(places, ended, strict=True))
    ]
    return torch.stack(found)


def _first_difference(right: Sequence[int], wrong: Sequence[int]) -> int:
    """Where two sequences of ids begin to differ."""
    for place, (one, other) in enumerate(zip(right, wrong, strict=False)):
        if one != other:
            return place
    raise ValueError("a contrast must have two translations that differ in a word")
