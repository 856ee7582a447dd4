"""Five probes that make a change which must matter, or must not, and compare the logits.

They take any model that answers (source_ids, target_ids) with logits, trained or not.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer_course.looking.probe_result import (
    Model,
    ProbeResult,
    answer,
    difference,
    noise,
    require_sample,
    undisturbed,
)
from transformer_edu.generation.continuation import padding_id_of

EXTRA_PADDING = 3  # columns


def probe_future(model: Model, source_ids: Tensor, target_ids: Tensor) -> ProbeResult:
    """Change the second half of the target: the logits of the first half must not move.

    Tested in evaluation and in training mode. Fails without a causal mask, with a softmax over
    the queries, and when the mask is missing in one of the modes.

    Args:
        model: Answers (source_ids, target_ids) with logits.
        source_ids: Shape (batch, source position), two rows or more.
        target_ids: Shape (batch, target position), two different tokens or more.

    Raises:
        TypeError, ValueError: If the sample shows nothing or the model gives no logits.
    """
    require_sample(model, source_ids, target_ids)
    name = "the future is hidden"
    cut = target_ids.size(1) // 2
    changed = torch.cat([target_ids[:, :cut], _other_tokens(model, target_ids)[:, cut:]], dim=1)
    if changed.equal(target_ids):
        raise ValueError("target_ids must hold tokens in its second half, got only padding there")
    with undisturbed(model):
        for training in (False, True):
            before = answer(model, source_ids, target_ids, training=training)[:, :cut]
            after = answer(model, source_ids, changed, training=training)[:, :cut]
            moved = difference(before, after)
            if not moved <= noise(before):
                mode = "training" if training else "evaluation"
                sentence = (
                    f"In {mode} mode earlier logits moved by {moved:.2g} with later target tokens: "
                    "look at the causal mask and at the softmax's axis."
                )
                return ProbeResult(name, False, moved, sentence)
    return ProbeResult(name, True, moved, "Later target tokens move no earlier logits.")


def probe_padding(model: Model, source_ids: Tensor, target_ids: Tensor) -> ProbeResult:
    """Append padding to source and target: the logits of real tokens must not move.

    Fails when padding is not masked, or masked on the query's axis. Arguments and errors are
    those of probe_future.
    """
    require_sample(model, source_ids, target_ids)
    name = "padding does not matter"
    padding_id = padding_id_of(model)
    longer_source = F.pad(source_ids, (0, EXTRA_PADDING), value=padding_id)
    longer_target = F.pad(target_ids, (0, EXTRA_PADDING), value=padding_id)
    real = target_ids != padding_id
    with undisturbed(model):
        before = answer(model, source_ids, target_ids, training=False)[real]
        for what, ids in (
            ("source", (longer_source, target_ids)),
            ("target", (source_ids, longer_target)),
        ):
            after = answer(model, *ids, training=False)[:, : target_ids.size(1)][real]
            moved = difference(before, after)
            if not moved <= noise(before):
                sentence = (
                    f"Real logits moved by {moved:.2g} when the {what} was padded: "
                    "look at the padding mask, which must hide keys."
                )
                return ProbeResult(name, False, moved, sentence)
    return ProbeResult(name, True, moved, "More padding moves no real logits.")


def probe_order(model: Model, source_ids: Tensor, target_ids: Tensor) -> ProbeResult:
    """Put the source's tokens in a different order: the logits must move.

    Attention alone does not see order. Fails without positions, and when they are counted along
    the batch. Arguments and errors are those of probe_future.
    """
    require_sample(model, source_ids, target_ids)
    name = "word order matters"
    reordered = source_ids.clone()
    for row in reordered:
        real = row != padding_id_of(model)
        row[real] = row[real].roll(1)
    if reordered.equal(source_ids):
        raise ValueError("source_ids must hold two different tokens in a row, got equal ones")
    with undisturbed(model):
        before = answer(model, source_ids, target_ids, training=False)
        after = answer(model, reordered, target_ids, training=False)
    moved = difference(before, after)
    if moved > noise(before):
        sentence = f"A different order of the source moves the logits by {moved:.2g}."
        return ProbeResult(name, True, moved, sentence)
    sentence = (
        f"A different order of the source moved the logits by only {moved:.1g}: "
        "look at the positions, which must be added along the sequence."
    )
    return ProbeResult(name, False, moved, sentence)


def probe_rows(model: Model, source_ids: Tensor, target_ids: Tensor) -> ProbeResult:
    """Give the model the last row alone: its logits must be those that it has inside the batch.

    Fails when rows affect one another: positions counted along the batch, statistics taken over
    it. Training mode is tested only for models without randomness such as dropout. Arguments and
    errors are those of probe_future.
    """
    require_sample(model, source_ids, target_ids)
    name = "rows are independent"
    with undisturbed(model):
        for training in (False, True):
            together = answer(model, source_ids, target_ids, training=training)
            if training and _is_random(model, source_ids, target_ids, together):
                break
            alone = answer(model, source_ids[-1:], target_ids[-1:], training=training)
            moved = difference(together[-1:], alone)
            if not moved <= noise(together):
                sentence = (
                    f"A row's logits moved by {moved:.2g} when the other rows were removed: "
                    "look for what is computed along the batch."
                )
                return ProbeResult(name, False, moved, sentence)
    return ProbeResult(name, True, moved, "A row gives the same logits alone and in a batch.")


def probe_step_by_step(model: Model, source_ids: Tensor, target_ids: Tensor) -> ProbeResult:
    """Give the model every prefix: the last logits must be those of one pass over the target.

    Fails when positions or masks depend on the length of the input. Arguments and errors are
    those of probe_future.
    """
    require_sample(model, source_ids, target_ids)
    name = "step by step equals one pass"
    real = target_ids != padding_id_of(model)
    with undisturbed(model):
        at_once = answer(model, source_ids, target_ids, training=False)
        prefixes = (target_ids[:, :end] for end in range(1, target_ids.size(1) + 1))
        steps = [answer(model, source_ids, ids, training=False)[:, -1:] for ids in prefixes]
    moved = difference(at_once[real], torch.cat(steps, dim=1)[real])
    if moved <= noise(at_once):
        return ProbeResult(name, True, moved, "Step by step the logits are those of one pass.")
    sentence = (
        f"Step by step the logits differ by {moved:.2g} from those of one pass: "
        "look at the causal mask, and at the position of each new token."
    )
    return ProbeResult(name, False, moved, sentence)


def _other_tokens(model: Model, target_ids: Tensor) -> Tensor:
    """Every real token replaced by a different one of the target; padding stays."""
    real = target_ids != padding_id_of(model)
    distinct, kinds = target_ids[real].unique(return_inverse=True)
    if len(distinct) < 2:
        raise ValueError(
            f"target_ids must hold two different tokens, got {len(distinct)} besides padding"
        )
    changed = target_ids.clone()
    changed[real] = distinct[(kinds + 1) % len(distinct)]
    return changed


def _is_random(model: Model, source_ids: Tensor, target_ids: Tensor, logits: Tensor) -> bool:
    """Whether a different seed gives different logits in the current mode."""
    torch.manual_seed(1)
    return not model(source_ids, target_ids).equal(logits)
