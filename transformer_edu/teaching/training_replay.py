"""Training as a replay: one pair's attention at many steps, recorded from a run or its files.

Used in notebooks/15_looking_inside.ipynb; drawn by replay_explorer.py.
"""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from torch import nn

from transformer_edu.generation.evaluation_mode import evaluation_mode
from transformer_edu.model.refusals import require_whole
from transformer_edu.teaching.recording import record_attention
from transformer_edu.teaching.viewer_maps import AttentionMap, maps_of_model
from transformer_edu.training.batches import make_batch
from transformer_edu.training.checkpoint import load_model
from transformer_edu.training.checkpoint_file import CheckpointError
from transformer_edu.training.device import device_of, suitable_threads
from transformer_edu.training.loss import token_loss
from transformer_edu.training.state import TrainingRun
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
        TypeError, ValueError: If pair is no pair of token ids, or an id has no token; if layers
            is a single name or empty.
    """

    pair: Pair
    tokens: Sequence[str]
    layers: Sequence[str] | None = None
    moments: list[Moment] = field(default_factory=list, init=False)
    run: TrainingRun = field(default_factory=TrainingRun, init=False)

    def __post_init__(self) -> None:
        """Refuse what cannot be read or named."""
        _require_pair(self.pair, self.tokens)
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
        if self.moments and step <= self.moments[-1].step:
            last = self.moments[-1].step
            raise ValueError(
                f"step must be above {last}, the last one kept, got {step} (one replay, one run)"
            )
        batch = make_batch([self.pair])
        with evaluation_mode(model), suitable_threads(model), record_attention(model) as recorded:
            batch = batch.to(device_of(model))
            logits = model(batch.source_ids, batch.decoder_input_ids)
            loss = token_loss(logits, batch.label_ids).item()
        unknown = [name for name in self.layers or () if name not in recorded]
        if unknown:
            raise ValueError(f"layers must be of {', '.join(recorded)}, got {unknown[0]!r}")
        maps = maps_of_model(
            {name: recorded[name] for name in self.layers or recorded},
            source_tokens=[self.tokens[i] for i in batch.source_ids[0].tolist()],
            target_tokens=[self.tokens[i] for i in batch.decoder_input_ids[0].tolist()],
            sentence=0,
        )
        self.moments.append(Moment(step, loss, tuple(maps)))

    def follow(self, model: nn.Module, *, steps: Collection[int]) -> Callable[[TrainingRun], None]:
        """Watch a model during a run: what fit takes as ``after_step``.

        Args:
            model: What is trained. Where steps holds 0, it is looked at now.
            steps: After which training steps to look, such as range(0, 301, 10).

        Returns:
            A function of the run so far.

        Raises:
            TypeError, ValueError: If steps is no collection of whole numbers, or empty; as for
                look, if the model cannot be looked at.
        """
        if isinstance(steps, str | bytes) or not isinstance(steps, Collection):
            raise TypeError(f"steps must be a collection of whole numbers, got {steps!r}")
        if len(steps) == 0:
            raise ValueError("steps must hold at least one step, got none")
        for step in steps:
            require_whole("steps", step, minimum=0)
        wanted = frozenset(steps)
        if 0 in wanted:
            self.look(model, step=0)

        def look_if_wanted(run: TrainingRun) -> None:
            self.run = run
            if run.steps[-1].step in wanted:
                self.look(model, step=run.steps[-1].step)

        return look_if_wanted


def replay_of(
    paths: Mapping[int, str | os.PathLike],
    pair: Pair,
    *,
    tokens: Sequence[str],
    layers: Sequence[str] | None = None,
    run: TrainingRun | None = None,
) -> TrainingReplay:
    """The replay of a run that is over, from the weights that it left on the disk.

    Args:
        paths: What save_model or save_checkpoint wrote, by step; for the folder of a run of
            ``python -m transformer_edu.training``: ``RunFolder(path).kept_weights()``.
        pair: As for TrainingReplay.
        tokens: As for TrainingReplay.
        layers: As for TrainingReplay.
        run: The run's records where they are known, as load_history reads them; of the pair
            alone the loss is always known.

    Raises:
        TypeError, ValueError: If there are no paths, or as for TrainingReplay.
        OSError: If a file cannot be read.
        CheckpointError: If one is damaged, or of another model than the first.
    """
    if not isinstance(paths, Mapping):
        raise TypeError(f"paths must map steps to paths, got {type(paths).__name__}")
    if not paths:
        raise ValueError("paths must hold at least one step, got none")
    replay = TrainingReplay(pair, tokens, layers)
    for step in paths:
        require_whole("step in paths", step, minimum=0)
    first = None
    for step in sorted(paths):
        model = load_model(paths[step])
        first = model.config if first is None else first
        if model.config != first:
            raise CheckpointError(
                f"{paths[step]} must hold the model of {paths[min(paths)]}, got another config"
            )
        replay.look(model, step=step)
    replay.run = TrainingRun() if run is None else run
    return replay


def in_turn(*after_steps: Callable[[TrainingRun], None]) -> Callable[[TrainingRun], None]:
    """Several functions as fit's one ``after_step``: in_turn(LiveCurve(), replay.follow(…)).

    Args:
        after_steps: Called one after the other; an error keeps the later ones from being called.

    Raises:
        TypeError: If one is no function.
    """
    for each in after_steps:
        if not callable(each):
            raise TypeError(f"after_steps must be functions of the run, got {each!r}")

    def call_all(run: TrainingRun) -> None:
        for each in after_steps:
            each(run)

    return call_all


def sharpness(weights: np.ndarray) -> float:
    """How much of its attention a token gives to its favourite, on average, from 0 to 1.

    Args:
        weights: Of one head, shape (query, key).
    """
    return float(weights.max(axis=-1).mean())


def even_share(maps: Sequence[np.ndarray]) -> float:
    """The sharpness of attention that is spread evenly over all that may be looked at.

    Args:
        maps: One layer at several moments, each (heads, query, key). What may be looked at is
            what got weight from any head at any moment.
    """
    seen = np.any([(weights > 0).any(axis=0) for weights in maps], axis=0)  # (query, key)
    return float((1 / np.maximum(seen.sum(axis=-1), 1)).mean())


def _require_pair(pair: Pair, tokens: Sequence[str]) -> None:
    """Refuse what is no source and target with a token for each id."""
    is_pair = isinstance(pair, Sequence) and not isinstance(pair, str) and len(pair) == 2
    if not is_pair or not all(isinstance(side, Sequence) for side in pair):
        raise TypeError(f"pair must be source ids and target ids, got {pair!r}")
    if isinstance(tokens, str) or not isinstance(tokens, Sequence):
        raise TypeError(f"tokens must be the token of every id, got {type(tokens).__name__}")
    if not pair[0]:
        raise ValueError("pair must have a source of at least one token, got an empty one")
    for token_id in (*pair[0], *pair[1]):
        require_whole("pair", token_id, minimum=0)
        if token_id >= len(tokens):
            raise ValueError(f"pair must hold ids below {len(tokens)}, got {token_id}")
