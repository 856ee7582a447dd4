"""Training as a replay: one pair's attention at many steps, recorded while a model learns.

Used in notebooks/16_looking_inside.ipynb; drawn by explorers/replay.py.
"""

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

import numpy as np
from torch import nn

from transformer_edu.generation.evaluation_mode import evaluation_mode
from transformer_edu.model.vocabulary import START_ID
from transformer_edu.teaching.inspect.attention_maps import AttentionMap, maps_of_model
from transformer_edu.teaching.inspect.recording import record_attention
from transformer_edu.training.data.batches import make_batch
from transformer_edu.training.data.toy_tasks import Pair
from transformer_edu.training.loss import token_loss
from transformer_edu.training.machine.device import device_of, suitable_threads
from transformer_edu.training.state import TrainingRun


@dataclass(frozen=True)
class Moment:
    """The attention and the loss of the pair at one moment of the training.

    Args:
        step: Number of training steps taken before.
        loss: The pair's loss in nats per token, without dropout.
        maps: The chosen attention layers, each with all heads: encoder, decoder, then cross.
    """

    step: int
    loss: float
    maps: tuple[AttentionMap, ...]


@dataclass
class TrainingReplay:
    """One pair of a task, recorded while a model learns.

    ::

        replay = TrainingReplay(task.test[0], tokens=task.vocabulary.tokens, layers=layers)
        fit(model, task, config, after_step=replay.follow(model, steps=range(0, 301, 10)))
        explore_training(replay, step=300, layer=1, head=1)

    The decoder reads the pair's true target (teacher forcing), so that rows and columns of a map
    mean the same at every step.

    Args:
        pair: Source and target ids, without special tokens.
        tokens: The token of every id.
        layers: Names of the attention layers to keep, such as
            "decoder.layers.1.cross_attention"; None keeps all.

    Attributes:
        moments: What was recorded, the earliest first.
        run: The run that was followed, with its losses and evaluations.
    """

    pair: Pair
    tokens: Sequence[str]
    layers: Sequence[str] | None = None
    moments: list[Moment] = field(default_factory=list, init=False)
    run: TrainingRun = field(default_factory=TrainingRun, init=False)

    def record(self, model: nn.Module, *, step: int) -> None:
        """Record the pair's attention and loss now; the model is not changed.

        A moment whose loss is not finite is left out: reporting it is the task of fit.

        Args:
            model: Answers (source_ids, target_ids) with logits; on any device.
            step: Number of training steps taken before.

        Raises:
            ValueError: If step is not above the last one recorded, or a layer is not the model's.
        """
        if self.moments and step <= self.moments[-1].step:
            last = self.moments[-1].step
            raise ValueError(f"step must be above {last}, the last one recorded, got {step}")
        moment = self._moment(model, step)
        if moment is not None:
            self.moments.append(moment)

    def follow(self, model: nn.Module, *, steps: Collection[int]) -> Callable[[TrainingRun], None]:
        """Record a model during a run.

        Args:
            model: The model that is trained. If steps holds 0, it is recorded now.
            steps: The training steps after which to record, such as range(0, 301, 10).

        Returns:
            A function of the run so far, for ``fit(…, after_step=…)``.

        Raises:
            ValueError: As for record; a wrong layer is refused before the run begins.
        """
        wanted = frozenset(steps)
        if 0 in wanted:
            self.record(model, step=0)
        else:
            self._moment(model, 0)

        def record_if_wanted(run: TrainingRun) -> None:
            self.run = run
            step = run.steps[-1].step
            if step in wanted:
                self.record(model, step=step)

        return record_if_wanted

    def _moment(self, model: nn.Module, step: int) -> Moment | None:
        """What record keeps; None if the loss is not finite."""
        with evaluation_mode(model), suitable_threads(model), record_attention(model) as recorded:
            batch = make_batch([self.pair]).to(device_of(model))
            logits = model(batch.source_ids, batch.decoder_input_ids)
            loss = token_loss(logits, batch.label_ids).item()
        layers = list(recorded) if self.layers is None else self.layers
        unknown = [name for name in layers if name not in recorded]
        if unknown:
            raise ValueError(f"layers must be of {', '.join(recorded)}, got {unknown[0]!r}")
        if not math.isfinite(loss):
            return None
        source, target = self.pair
        maps = maps_of_model(
            {name: recorded[name] for name in layers},
            source_tokens=[self.tokens[token_id] for token_id in source],
            target_tokens=[self.tokens[token_id] for token_id in (START_ID, *target)],
            sentence=0,
        )
        return Moment(step, loss, tuple(maps))


def sharpness(weights: np.ndarray) -> float:
    """The largest weight of each query, on average over the queries: from 0 to 1.

    Voita et al. 2019 call this a head's confidence, and leave out the end of the sentence.

    Args:
        weights: Of one head, from 0 to 1, shape (query, key).
    """
    return float(weights.max(axis=-1).mean())


def uniform_sharpness(maps: Sequence[np.ndarray]) -> float:
    """The sharpness of attention that is uniform over all keys that may be attended to.

    Args:
        maps: One layer at several moments, each (head, query, key), from 0 to 1. A key
            may be attended to if it got weight from any head at any moment; a query without any
            weight counts as 0, as in sharpness.
    """
    seen = np.any([(weights > 0).any(axis=0) for weights in maps], axis=0)  # (query, key)
    counts = seen.sum(axis=-1)
    return float(np.where(counts > 0, 1 / np.maximum(counts, 1), 0).mean())
