"""Training as a replay: one pair's attention at many steps, recorded while a model learns.

Used in notebooks/15_looking_inside.ipynb; drawn by explorers/replay.py.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from torch import Tensor, nn

from transformer_edu.generation.evaluation_mode import evaluation_mode
from transformer_edu.model.vocabulary import START_ID
from transformer_edu.refusals import require_whole
from transformer_edu.teaching.inspect.attention_maps import AttentionMap, maps_of_model
from transformer_edu.teaching.inspect.recording import record_attention
from transformer_edu.training.data.batches import make_batch
from transformer_edu.training.data.toy_tasks import Pair
from transformer_edu.training.loss import token_loss
from transformer_edu.training.machine.device import device_of, suitable_threads
from transformer_edu.training.state import TrainingRun


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


@dataclass
class TrainingReplay:
    """One pair of a task, watched while a model learns.

    ::

        replay = TrainingReplay(task.test[0], tokens=task.vocabulary.tokens)
        fit(model, task, config, after_step=replay.follow(model, steps=range(0, 301, 10)))
        explore_training(replay)

    The decoder reads the pair's true target (teacher forcing), so that rows and columns of a map
    mean the same at every step.

    Args:
        pair: Source and target ids, without special tokens.
        tokens: The token of every id.
        layers: Names of the attention layers to keep, such as
            "decoder.layers.1.cross_attention"; None keeps all.

    Attributes:
        moments: What was kept, the earliest first.
        run: The run that was followed, with its losses and evaluations.

    Raises:
        TypeError, ValueError: If the source is empty or an id has no token; if layers is a single
            name or empty.
    """

    pair: Pair
    tokens: Sequence[str]
    layers: Sequence[str] | None = None
    moments: list[Moment] = field(default_factory=list, init=False)
    run: TrainingRun = field(default_factory=TrainingRun, init=False)

    def __post_init__(self) -> None:
        """Refuse what cannot be read or named."""
        source, target = self.pair
        if not source:
            raise ValueError("pair must have a source of at least one token, got an empty source")
        for token_id in (*source, *target):
            require_whole("pair", token_id, minimum=0)
            if token_id >= len(self.tokens):
                raise ValueError(f"pair must hold ids below {len(self.tokens)}, got {token_id}")
        if isinstance(self.layers, str):
            raise TypeError(f"layers must be several names, got the single name {self.layers!r}")
        if self.layers is not None and len(self.layers) == 0:
            raise ValueError("layers must hold at least one name, got none")

    def look(self, model: nn.Module, *, step: int) -> None:
        """Keep what a model makes of the pair now; the model stays as it was.

        Args:
            model: Answers (source_ids, target_ids) with logits; on any device.
            step: Training steps taken before, above those kept so far.

        Raises:
            TypeError: If model is no module or step no whole number.
            ValueError: If step is not above the last one kept, or a layer is not the model's.
        """
        require_whole("step", step, minimum=0)
        self._require_later(step)
        self.moments.append(self._moment(read_pair(model, self.pair), step))

    def follow(self, model: nn.Module, *, steps: Collection[int]) -> Callable[[TrainingRun], None]:
        """Watch a model during a run: what fit takes as ``after_step``.

        Args:
            model: What is trained. It is looked at now, so that what could not be kept later
                is refused before the run; where steps holds 0, the look is kept.
            steps: After which training steps to look, such as range(0, 301, 10).

        Returns:
            A function of the run so far. It keeps nothing where loss or weights are not finite,
            which is fit's to report, and refuses a second run with a ValueError.

        Raises:
            TypeError, ValueError: If steps is empty or holds anything but whole numbers; as for
                look.
        """
        if len(steps) == 0:
            raise ValueError("steps must hold at least one step, got none")
        for step in steps:
            require_whole("steps", step, minimum=0)
        wanted = frozenset(steps)
        first = self._moment(read_pair(model, self.pair), 0)
        if 0 in wanted:
            self._require_later(0)
            self.moments.append(first)

        def look_if_wanted(run: TrainingRun) -> None:
            self._require_same(run)
            step = run.steps[-1].step
            if step in wanted:
                self._require_later(step)
                reading = read_pair(model, self.pair)
                if reading.is_finite():
                    self.moments.append(self._moment(reading, step))
            self.run = run

        return look_if_wanted

    def _require_later(self, step: int) -> None:
        if self.moments and step <= self.moments[-1].step:
            last = self.moments[-1].step
            raise ValueError(
                f"step must be above {last}, the last one kept, got {step} (one replay, one run)"
            )

    def _require_same(self, run: TrainingRun) -> None:
        """Refuse a run that is neither the one followed so far nor that one resumed."""
        if run is self.run or not self.moments or not self.run.steps:
            return
        kept = max(self.moments[-1].step, 1)
        if run.steps[:kept] != self.run.steps[:kept]:
            raise ValueError(
                f"run must be the one followed to step {self.run.steps[-1].step}, "
                f"got another at step {run.steps[-1].step} (one replay, one run)"
            )

    def _moment(self, reading: Reading, step: int) -> Moment:
        return reading.moment(step, self.tokens, self.layers)


def sharpness(weights: np.ndarray) -> float:
    """How much of its attention a token gives to its favourite, on average, from 0 to 1.

    Voita et al. 2019 call this a head's confidence, and leave out the end of the sentence.

    Args:
        weights: Of one head, from 0 to 1, shape (query, key).
    """
    return float(weights.max(axis=-1).mean())


def even_share(maps: Sequence[np.ndarray]) -> float:
    """The sharpness of attention that is spread evenly over all keys that may be attended to.

    Args:
        maps: One layer at several moments, each (head, query, key), from 0 to 1. A key
            may be attended to if it got weight from any head at any moment; a query without any
            weight counts as 0, as in sharpness.
    """
    seen = np.any([(weights > 0).any(axis=0) for weights in maps], axis=0)  # (query, key)
    counts = seen.sum(axis=-1)
    return float(np.where(counts > 0, 1 / np.maximum(counts, 1), 0).mean())
