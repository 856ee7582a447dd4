"""How good is a model? Its loss, its accuracy with teacher forcing, and its exact match.

The first two can look perfect while the model generates nonsense: notebooks/03_masks.ipynb.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import nn

from transformer_edu.data.batches import make_batch
from transformer_edu.data.toy_tasks import Pair
from transformer_edu.generation.continuation import padding_id_of, require_model
from transformer_edu.generation.evaluation_mode import evaluation_mode
from transformer_edu.generation.greedy import greedy_search
from transformer_edu.model.refusals import require_pairs, require_whole
from transformer_edu.training.loss import token_accuracy, token_loss
from transformer_edu.training.machine.device import device_of, suitable_threads
from transformer_edu.training.machine.processes import ALONE, OneProcess


@dataclass(frozen=True)
class Evaluation:
    """The scores of a model after some training steps, on pairs outside of the training set.

    Args:
        step: Training steps taken before.
        loss: Mean cross-entropy in nats per token.
        token_accuracy: Fraction of correct tokens, given the correct previous tokens.
        exact_match: Fraction of targets that the model generates correctly from start to end.
    """

    step: int
    loss: float
    token_accuracy: float
    exact_match: float


def evaluate(
    model: nn.Module,
    pairs: Sequence[Pair],
    *,
    batch_size: int = 250,
    step: int = 0,
    processes: OneProcess = ALONE,
) -> Evaluation:
    """Evaluate a model on pairs, in evaluation mode and without gradients; its modes are restored.

    Args:
        model: Turns (source_ids, target_ids) into logits, and has what greedy_search needs.
        pairs: Source and target ids, without special tokens.
        batch_size: Pairs to compute at once; the result does not depend on it.
        step: The training steps taken so far, for the record.
        processes: Those that share the pairs: all call evaluate, and all get the same result.

    Raises:
        TypeError, ValueError: If model lacks a method, there is no pair, or batch_size is below 1.
    """
    require_whole("batch_size", batch_size)
    require_pairs("pairs", pairs)
    require_model(model)
    own = [pairs[row] for row in processes.rows(len(pairs))]
    loss = right = tokens = exact = 0.0
    padding = padding_id_of(model)
    with evaluation_mode(model), suitable_threads(model):
        for start in range(0, len(own), batch_size):
            chosen = own[start : start + batch_size]
            batch = make_batch(chosen, model).to(device_of(model))
            logits = model(batch.source_ids, batch.decoder_input_ids)
            real = sum(len(target) + 1 for _, target in chosen)  # the end token counts
            loss += real * token_loss(logits, batch.label_ids, padding_id=padding).item()
            right += real * token_accuracy(logits, batch.label_ids, padding_id=padding).item()
            exact += exact_matches(model, chosen)
            tokens += real
    loss, right, tokens, exact = processes.sum([loss, right, tokens, exact])
    return Evaluation(step, loss / tokens, right / tokens, exact / len(pairs))


def exact_matches(model: nn.Module, pairs: Sequence[Pair]) -> int:
    """How many targets the model generates exactly, including the end token.

    Args:
        model: A model that greedy_search accepts.
        pairs: Source and target ids, without special tokens.
    """
    require_pairs("pairs", pairs)
    batch = make_batch(pairs, model).to(device_of(model))
    # As long as the longest target with its end token: longer outputs are wrong anyway.
    written = greedy_search(model, batch.source_ids, max_length=batch.label_ids.size(1))
    return sum(ids == [*map(int, pair[1])] for ids, pair in zip(written, pairs, strict=True))
