"""Ablation: switch heads off to see what depends on them; the model is not changed.

A map shows what a head attends to. An ablation shows whether the result depends on that head.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from transformer_course.looking.recording import attentions_of, removed_at_the_end
from transformer_edu.model.attention import MultiHeadAttention
from transformer_edu.variants.language_model import GroupedAttention

HeadName = tuple[str, int]  # an attention's name, as record_attention has it, and a head from 1


def every_head(model: nn.Module, *attentions: str) -> list[HeadName]:
    """All heads of a model, or of some of its attentions, in the order of the layers.

    Args:
        model: Any module that holds MultiHeadAttention somewhere.
        attentions: Their names, such as "decoder.layers.1.cross_attention"; none means all.

    Returns:
        Pairs of the attention's name and the head's number, counted from 1.

    Raises:
        TypeError: If model is not a module.
        ValueError: If model has no MultiHeadAttention, or none with that name.
    """
    there = attentions_of(model)
    require_names("attentions", attentions, there)
    return [
        (name, number + 1)
        for name, attention in there.items()
        if name in attentions or not attentions
        for number in range(attention.num_heads)
    ]


@contextmanager
def heads_switched_off(
    model: nn.Module, heads: Iterable[HeadName], *, instead: Mapping[str, Tensor] | None = None
) -> Iterator[None]:
    """Inside the block these heads contribute nothing: their part of the input of W_O is zero.

    This is zero ablation, as Michel et al. 2019 mask heads; with ``instead`` it is mean ablation.
    It works by hooks: a subclass of MultiHeadAttention that does not call its output_projection
    is not affected.

    ::

        with heads_switched_off(model, {("decoder.layers.1.cross_attention", 2)}):
            logits = model(source_ids, target_ids)

    Args:
        model: Any module that holds MultiHeadAttention somewhere, or a LanguageModel; its weights
            stay as they are.
        heads: Pairs of the attention's name and the head's number, counted from 1.
        instead: What to put there, by the attention's name, shape (d_model,) or that of a batch:
            such as mean_outputs and resampled_outputs return. None for zeros.

    Raises:
        TypeError: If model is not a module.
        ValueError: If the model has no such attention, or the attention no such head.
    """
    hooks = [
        attention.output_projection.register_forward_pre_hook(
            other_input(columns, instead[name] if instead else torch.zeros(()))
        )
        for name, attention, columns in columns_of(model, heads)
    ]
    with removed_at_the_end(hooks):
        yield


def other_input(columns: Tensor, instead: Tensor) -> Callable[..., tuple[Tensor]]:
    """A hook that replaces these columns of a module's input."""

    def replace(module: nn.Module, given: tuple[Tensor]) -> tuple[Tensor]:
        x = given[0]
        if instead.dim() > 2 and instead.shape != x.shape:  # the numbers of a whole batch
            got = f"{(*x.shape,)}, got {(*instead.shape,)} of another"
            raise ValueError(f"instead must be of the batch that the model reads, {got}")
        return (torch.where(columns.to(x.device), instead.to(x), x),)

    return replace


def columns_of(
    model: nn.Module, heads: Iterable[HeadName]
) -> list[tuple[str, MultiHeadAttention | GroupedAttention, Tensor]]:
    """Each attention concerned, with True where its d_model columns belong to one of the heads."""
    there = attentions_of(model)
    chosen: dict[str, Tensor] = {}
    for each in heads:
        if isinstance(each, str) or len(each) != 2:
            raise TypeError(f"heads must hold pairs of a name and a number, got {each!r}")
        name, number = each
        require_names("heads", [name], there)
        num_heads = there[name].num_heads
        if not 1 <= number <= num_heads:
            raise ValueError(f"heads must be from 1 to {num_heads} in {name}, got {number}")
        columns = chosen.setdefault(name, torch.zeros(num_heads, dtype=torch.bool, device="cpu"))
        columns[number - 1] = True
    return [
        (name, there[name], of_head.repeat_interleave(_width(there[name]) // len(of_head)))
        for name, of_head in chosen.items()
    ]


def _width(attention: MultiHeadAttention | GroupedAttention) -> int:
    """Of all heads side by side."""
    return attention.output_projection.in_features


def require_names(what: str, names: Iterable[str], there: Mapping[str, nn.Module]) -> None:
    """A ValueError for the first name that the model does not have."""
    for name in names:
        if name not in there:
            raise ValueError(f"{what} must name one of {', '.join(there)}, got {name!r}")
