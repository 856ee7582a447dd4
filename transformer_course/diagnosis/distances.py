"""How many predictions one wrong token of the beginning changes, by their distance from it."""

from collections.abc import Sequence

import torch
from torch import nn

from transformer_edu.data.batches import make_batch
from transformer_edu.data.toy_tasks import Pair
from transformer_edu.generation.evaluation_mode import evaluation_mode
from transformer_edu.model.special_ids import PADDING_ID, SPECIAL_TOKENS
from transformer_edu.training.machine.device import device_of

FARTHEST = 4  # the largest distance to score


def accuracy_by_distance(
    model: nn.Module,
    pairs: Sequence[Pair],
    *,
    vocabulary_size: int,
) -> dict[int, float]:
    """Replace one token of the decoder's input by a wrong one, and score the predictions near it.

    Every position but the first is replaced in turn. Distance -1 is the prediction of the replaced
    token, made before it is read; distance 0 is the first prediction after it.

    Args:
        model: Answers (source_ids, target_ids) with logits.
        pairs: Source and target ids.
        vocabulary_size: Number of tokens; no token is replaced by a special one.

    Returns:
        Token accuracy by distance, from -4 to 4, as far as there are predictions.
    """
    batch = make_batch(pairs).to(device_of(model))
    given, labels = batch.decoder_input_ids, batch.label_ids
    generator = torch.Generator().manual_seed(0)
    words = vocabulary_size - len(SPECIAL_TOKENS)
    found: dict[int, list[float]] = {}
    with evaluation_mode(model):
        for place in range(1, given.size(1)):
            there = given[:, place] != PADDING_ID
            # Any other word: the true one plus 1 … words - 1, counted round.
            size = (len(given),)
            jump = torch.randint(1, words, size, generator=generator, device="cpu").to(given.device)
            exchanged = given.clone()
            number = given[:, place] - len(SPECIAL_TOKENS) + jump
            exchanged[:, place] = number % words + len(SPECIAL_TOKENS)
            exchanged[~there] = given[~there]
            right = model(batch.source_ids, exchanged).argmax(dim=-1) == labels
            counted = (labels != PADDING_ID) & there.unsqueeze(1)
            for position in range(given.size(1)):
                if abs(position - place) <= FARTHEST:
                    scores = right[counted[:, position], position].tolist()
                    found.setdefault(position - place, []).extend(scores)
    return {distance: sum(found[distance]) / len(found[distance]) for distance in sorted(found)}
