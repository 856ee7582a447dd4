"""One moment of a training: what the model makes of a pair, with names for rows and columns.

Kept by training_replay.py.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor, nn

from transformer_edu.generation.evaluation_mode import evaluation_mode
from transformer_edu.model.vocabulary import START_ID
from transformer_edu.teaching.recording import record_attention
from transformer_edu.teaching.viewer_maps import AttentionMap, maps_of_model
from transformer_edu.training.batches import make_batch
from transformer_edu.training.device import device_of, suitable_threads
from transformer_edu.training.loss import token_loss
from transformer_edu.training.tasks import Pair


@dataclass(frozen=True)
class Moment:
    """What the model made of the pair at one moment of its training.

    Args:
        step: Training steps taken before.
        loss: The pair's, in nats per token, without dropout.
        maps: The chosen attention layers, each with all heads: encoder, decoder, then cross.
    """

    step: int
    loss: float
    maps: tuple[AttentionMap, ...]


@dataclass(frozen=True)
class Reading:
    """What one forward pass over a pair gave.

    Args:
        pair: Source and target ids, without special tokens.
        loss: In nats per token, without dropout.
        attention: Weights by the attention's name, each (1, heads, query, key).
    """

    pair: Pair
    loss: float
    attention: Mapping[str, Tensor]

    def is_finite(self) -> bool:
        """Whether the loss and every weight are finite numbers."""
        return math.isfinite(self.loss) and all(
            bool(weights.isfinite().all()) for weights in self.attention.values()
        )

    def moment(self, step: int, tokens: Sequence[str], layers: Sequence[str] | None) -> Moment:
        """The moment that a replay keeps.

        Args:
            step: Training steps taken before.
            tokens: The token of every id.
            layers: Names of the attention layers to keep; None keeps all.

        Raises:
            ValueError: If a layer is not the model's, the pair too long to be shown, or a
                weight not finite.
        """
        unknown = [name for name in layers or () if name not in self.attention]
        if unknown:
            raise ValueError(f"layers must be of {', '.join(self.attention)}, got {unknown[0]!r}")
        source, target = self.pair
        maps = maps_of_model(
            {name: self.attention[name] for name in layers or self.attention},
            source_tokens=[tokens[token_id] for token_id in source],
            target_tokens=[tokens[token_id] for token_id in (START_ID, *target)],
            sentence=0,
        )
        return Moment(step, self.loss, tuple(maps))


def read_pair(model: nn.Module, pair: Pair) -> Reading:
    """Let a model read a pair, its true target too; the model stays as it was.

    Args:
        model: Answers (source_ids, target_ids) with logits; on any device.
        pair: Source and target ids, without special tokens.

    Raises:
        TypeError: If model is no module.
        ValueError: If the pair is not one that model can read.
    """
    with evaluation_mode(model), suitable_threads(model), record_attention(model) as recorded:
        batch = make_batch([pair]).to(device_of(model))
        logits = model(batch.source_ids, batch.decoder_input_ids)
        return Reading(pair, token_loss(logits, batch.label_ids).item(), recorded)
