"""Switch heads off row by row, replace them by a mean or uniform weights, switch sub-layers off.

The model is not changed.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from transformer_course.looking.ablation import HeadName, columns_of, other_input, require_names
from transformer_course.looking.recording import attentions_of, removed_at_the_end
from transformer_edu.data.batches import Batch
from transformer_edu.generation.continuation import padding_id_of
from transformer_edu.generation.evaluation_mode import evaluation_mode
from transformer_edu.model.attention import MultiHeadAttention
from transformer_edu.model.feed_forward import FeedForward


@contextmanager
def heads_switched_off_by_row(
    model: nn.Module, removals: Sequence[Iterable[HeadName]]
) -> Iterator[None]:
    """Inside the block each row of a batch lacks heads of its own, as in heads_switched_off.

    A batch of copies of one sentence shows many removals at once.

    Args:
        model: As for heads_switched_off.
        removals: The heads that are off, one collection for each row of the batches.

    Raises:
        TypeError, ValueError: As for heads_switched_off.
    """
    off: dict[str, Tensor] = {}  # by attention, (row, 1, d_model)
    for row, heads in enumerate(removals):
        for name, _, columns in columns_of(model, heads):
            nothing = torch.zeros(len(removals), 1, len(columns), dtype=torch.bool)
            off.setdefault(name, nothing)[row, 0] = columns
    there = attentions_of(model)
    hooks = [
        there[name].output_projection.register_forward_pre_hook(
            other_input(columns, torch.zeros(()))
        )
        for name, columns in off.items()
    ]
    with removed_at_the_end(hooks):
        yield


def mean_outputs(model: nn.Module, batch: Batch) -> dict[str, Tensor]:
    """What the heads of every attention pass to W_O on average over the tokens of a batch.

    Args:
        model: An encoder-decoder; its modes are restored.
        batch: On the model's device; padding does not count.

    Returns:
        By the attention's name, the heads' numbers side by side, shape (d_model,).
    """
    means: dict[str, Tensor] = {}

    def keep_mean(name: str) -> Callable[..., None]:
        ids = batch.source_ids if name.startswith("encoder") else batch.decoder_input_ids
        is_real = ids != padding_id_of(model)
        is_real[:, 0] = True  # a start token may be the padding token, too

        def keep(module: nn.Module, given: tuple[Tensor]) -> None:
            means[name] = given[0][is_real].mean(dim=0)

        return keep

    hooks = [
        attention.output_projection.register_forward_pre_hook(keep_mean(name))
        for name, attention in attentions_of(model).items()
    ]
    with removed_at_the_end(hooks), evaluation_mode(model):
        model(batch.source_ids, batch.decoder_input_ids)
    return means


@torch.no_grad()
def resampled_outputs(model: nn.Module, batch: Batch) -> dict[str, Tensor]:
    """What the heads of every attention pass to W_O in another row of a batch, at the same place.

    Args:
        model: An encoder-decoder; its modes are restored.
        batch: On the model's device. Each row gets the numbers of the row before it.

    Returns:
        By the attention's name, shape (batch, position, d_model).
    """
    outputs: dict[str, Tensor] = {}

    def keep_others(name: str) -> Callable[..., None]:
        return lambda module, given: outputs.update({name: given[0].roll(1, dims=0)})

    hooks = [
        attention.output_projection.register_forward_pre_hook(keep_others(name))
        for name, attention in attentions_of(model).items()
    ]
    with removed_at_the_end(hooks), evaluation_mode(model):
        model(batch.source_ids, batch.decoder_input_ids)
    return outputs


@contextmanager
def heads_made_uniform(model: nn.Module, heads: Iterable[HeadName]) -> Iterator[None]:
    """Inside the block these heads attend uniformly to every key that the mask allows.

    Their queries are zero. Then every score is zero, too, and the softmax gives every allowed key
    the same weight. ``record_attention`` inside the block records these weights.

    Args:
        model: As for heads_switched_off.
        heads: As for heads_switched_off.

    Raises:
        TypeError, ValueError: As for heads_switched_off.
    """
    hooks = [
        attention.query_projection.register_forward_hook(_zero_output(columns))
        for _, attention, columns in columns_of(model, heads)
    ]
    with removed_at_the_end(hooks):
        yield


@contextmanager
def sublayers_switched_off(model: nn.Module, names: Iterable[str]) -> Iterator[None]:
    """Inside the block these sub-layers add zeros: only the residual connection is left.

    Args:
        model: Any module that holds attentions or feed-forward networks.
        names: Such as "encoder.layers.2.feed_forward".

    Raises:
        ValueError: If the model has no such sub-layer.
    """
    there = {
        name: module
        for name, module in model.named_modules()
        if isinstance(module, (MultiHeadAttention, FeedForward))
    }
    wanted = list(names)
    require_names("names", wanted, there)
    hooks = [there[name].register_forward_hook(_return_zeros) for name in wanted]
    with removed_at_the_end(hooks):
        yield


def _zero_output(columns: Tensor) -> Callable[..., Tensor]:
    """A hook that puts zeros into these columns of a module's output."""

    def put_zeros(module: nn.Module, given: tuple[Tensor], answer: Tensor) -> Tensor:
        return answer.masked_fill(columns.to(answer.device), 0.0)

    return put_zeros


def _return_zeros(module: nn.Module, given: tuple, answer: Tensor) -> Tensor:
    """A hook that replaces a module's output by zeros."""
    return torch.zeros_like(answer)
