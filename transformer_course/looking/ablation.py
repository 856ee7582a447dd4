"""Ablation: switch parts of a model off to see what depends on them; the model is not changed.

A map shows what a head attends to. An ablation shows whether the result depends on that head.
Used in notebooks/16_looking_inside.ipynb and 17_what_can_be_removed.ipynb.

Also: a translator's choice between two forms of a word. The two translations of a contrast differ
in one word, such as *einem* and *einer*; the decoder reads what stands before that word, and the
probabilities of the two words are compared. Sennrich 2017 calls them contrastive translation pairs.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from transformer_course.looking.recording import attentions_of, removed_at_the_end
from transformer_edu.data.batches import Batch, make_batch
from transformer_edu.generation.continuation import end_id_of, padding_id_of
from transformer_edu.generation.evaluation_mode import evaluation_mode
from transformer_edu.generation.translator import Translator
from transformer_edu.model.attention import MultiHeadAttention
from transformer_edu.model.feed_forward import FeedForward
from transformer_edu.training.machine.device import device_of

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
    _require_names("attentions", attentions, there)
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
        model: Any module that holds MultiHeadAttention somewhere; its weights stay as they are.
        heads: Pairs of the attention's name and the head's number, counted from 1.
        instead: What to put there, by the attention's name, shape (d_model,): such as
            mean_outputs returns. None for zeros.

    Raises:
        TypeError: If model is not a module.
        ValueError: If the model has no such attention, or the attention no such head.
    """
    hooks = [
        attention.output_projection.register_forward_pre_hook(
            _other_input(columns, instead[name] if instead else torch.zeros(()))
        )
        for name, attention, columns in _columns_of(model, heads)
    ]
    with removed_at_the_end(hooks):
        yield


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
        for name, attention, columns in _columns_of(model, heads):
            nothing = torch.zeros(len(removals), 1, attention.d_model, dtype=torch.bool)
            off.setdefault(name, nothing)[row, 0] = columns
    there = attentions_of(model)
    hooks = [
        there[name].output_projection.register_forward_pre_hook(
            _other_input(columns, torch.zeros(()))
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
        for _, attention, columns in _columns_of(model, heads)
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
    _require_names("names", wanted, there)
    hooks = [there[name].register_forward_hook(_return_zeros) for name in wanted]
    with removed_at_the_end(hooks):
        yield


def _other_input(columns: Tensor, instead: Tensor) -> Callable[..., tuple[Tensor]]:
    """A hook that replaces these columns of a module's input."""

    def replace(module: nn.Module, given: tuple[Tensor]) -> tuple[Tensor]:
        x = given[0]
        return (torch.where(columns.to(x.device), instead.to(x), x),)

    return replace


def _zero_output(columns: Tensor) -> Callable[..., Tensor]:
    """A hook that puts zeros into these columns of a module's output."""

    def put_zeros(module: nn.Module, given: tuple[Tensor], answer: Tensor) -> Tensor:
        return answer.masked_fill(columns.to(answer.device), 0.0)

    return put_zeros


def _return_zeros(module: nn.Module, given: tuple, answer: Tensor) -> Tensor:
    """A hook that replaces a module's output by zeros."""
    return torch.zeros_like(answer)


def _columns_of(
    model: nn.Module, heads: Iterable[HeadName]
) -> list[tuple[str, MultiHeadAttention, Tensor]]:
    """Each attention concerned, with True where its d_model columns belong to one of the heads."""
    there = attentions_of(model)
    chosen: dict[str, Tensor] = {}
    for name, number in heads:
        _require_names("heads", [name], there)
        num_heads = there[name].num_heads
        if not 1 <= number <= num_heads:
            raise ValueError(f"heads must be from 1 to {num_heads} in {name}, got {number}")
        columns = chosen.setdefault(name, torch.zeros(num_heads, dtype=torch.bool, device="cpu"))
        columns[number - 1] = True
    return [
        (name, there[name], of_head.repeat_interleave(there[name].d_model // len(of_head)))
        for name, of_head in chosen.items()
    ]


def _require_names(what: str, names: Iterable[str], there: Mapping[str, nn.Module]) -> None:
    for name in names:
        if name not in there:
            raise ValueError(f"{what} must name one of {', '.join(there)}, got {name!r}")


Contrast = tuple[str, str, str]  # English, the right German, the German with one wrong word


def margins(translator: Translator, contrasts: Sequence[Contrast]) -> Tensor:
    """How much more probable the right word is than the wrong one, given the words before it.

    Where words are cut into pieces, the first pieces that differ are compared.

    Args:
        translator: Its model may have parts switched off.
        contrasts: English, the right German, and the German with one wrong word.

    Returns:
        ln p(right) - ln p(wrong) of each contrast on the CPU, above 0 where the right word is
        preferred, shape (contrast,).

    Raises:
        ValueError: If the two translations of a contrast are equal.
    """
    read, write, model = translator.tokenizer.encode, translator.target_ids, translator.model
    encoded = [(read(source), write(right), write(wrong)) for source, right, wrong in contrasts]
    end_id = end_id_of(model)
    ended = [([*right, end_id], [*wrong, end_id]) for _, right, wrong in encoded]
    places = [_first_difference(*pair) for pair in ended]
    batch = make_batch([(source, right) for source, right, _ in encoded], model).to(
        device_of(model)
    )
    with evaluation_mode(model):
        logits = model(batch.source_ids, batch.decoder_input_ids).cpu()
    found = [
        logits[row, place, right[place]] - logits[row, place, wrong[place]]
        for row, (place, (right, wrong)) in enumerate(zip(places, ended, strict=True))
    ]
    return torch.stack(found)


def _first_difference(right: Sequence[int], wrong: Sequence[int]) -> int:
    """Where two sequences of ids begin to differ."""
    for place, (one, other) in enumerate(zip(right, wrong, strict=False)):
        if one != other:
            return place
    raise ValueError("a contrast must have two translations that differ in a word")
