"""How surprised a translator is by correct targets that are cut in a given way.

Used in notebooks/14_tokenization.ipynb.
"""

import math
from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F

from transformer_edu.data.batches import make_batch
from transformer_edu.generation.translator import Translator
from transformer_edu.training.machine.device import device_of


@torch.no_grad()
def score_cut(
    translator: Translator, pairs: Sequence[tuple[str, str]], cut: Callable[[str], list[int]]
) -> tuple[float, float]:
    """The loss of the targets in nats per token, and the same in bits per byte.

    The end token of a target counts as a token, and has no bytes.

    Args:
        translator: Reads each source as its own tokenizer cuts it.
        pairs: Sources and targets.
        cut: From a target to its ids, in the translator's vocabulary.
    """
    model, encode = translator.model, translator.tokenizer.encode
    batch = make_batch([(encode(source), cut(target)) for source, target in pairs], model)
    batch = batch.to(device_of(model))
    logits = model(batch.source_ids, batch.decoder_input_ids).mT
    padding_id = model.config.padding_id
    nats = F.cross_entropy(logits, batch.label_ids, ignore_index=padding_id, reduction="sum").item()
    tokens = (batch.label_ids != padding_id).sum().item()
    size = sum(len(target.encode()) for _, target in pairs)
    return nats / tokens, nats / math.log(2) / size
