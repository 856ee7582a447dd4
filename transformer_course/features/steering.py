"""Steering: a vector of the memory is changed along features, and the decoder translates."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from transformer_course.features.autoencoder import SparseAutoencoder
from transformer_edu.data.batches import make_batch
from transformer_edu.generation.evaluation_mode import evaluation_mode
from transformer_edu.generation.greedy import greedy_search
from transformer_edu.generation.translator import Translator
from transformer_edu.model.refusals import require_whole
from transformer_edu.training.machine.device import device_of


@contextmanager
def memory_changed(model: nn.Module, change: Tensor, places: Sequence[int]) -> Iterator[None]:
    """Inside the block, the encoder's output has something added at some places.

    Args:
        model: A Transformer of this package.
        change: Must fit the shape (sentence, place, d_model); (d_model,) is the same everywhere.
        places: The tokens whose vectors are changed, from 0.
    """

    def add(_module: nn.Module, _given: object, memory: Tensor) -> Tensor:
        for place in places:
            require_whole("a place", int(place), minimum=0, maximum=memory.size(1) - 1)
        if change.dim() and change.size(-1) not in (1, memory.size(-1)):  # 1: a number for all
            wanted, got = f"(…, {memory.size(-1)}), as wide as the memory", tuple(change.shape)
            raise ValueError(f"change must have shape {wanted}, got {got}")
        memory = memory.clone()
        memory[:, list(places)] += change.to(memory)
        return memory

    handle = model.encoder.register_forward_hook(add)
    try:
        yield
    finally:
        handle.remove()


def translate_changed(
    translator: Translator,
    sentences: Sequence[str],
    change: Tensor,
    places: Sequence[int] = (1,),
    *,
    max_length: int | None = None,
) -> list[str]:
    """Translate greedily while a vector of each sentence's memory is changed.

    Args:
        translator: Whose model is a Transformer of this package, on any device.
        sentences: In English.
        change, places: As for memory_changed.
        max_length: The most tokens of a translation; None as for greedy_search.
    """
    if isinstance(sentences, str):
        raise TypeError(f"sentences must be a list of texts, got the text {sentences!r}")
    model, tokenizer = translator.model, translator.tokenizer
    pairs = [(tokenizer.encode(each), []) for each in sentences]
    shortest = min((len(source) for source, _ in pairs), default=0)
    for place in places:  # beyond it is padding
        require_whole("a place in the shortest sentence", place, minimum=0, maximum=shortest - 1)
    batch = make_batch(pairs, model)
    with evaluation_mode(model), memory_changed(model, change, places):
        source_ids = batch.source_ids.to(device_of(model))
        written = greedy_search(model, source_ids, max_length=max_length)
    return [tokenizer.decode(each) for each in written]


def count_changes(after: Sequence[object], before: Sequence[object]) -> int:
    """At how many places two lists of the same length differ."""
    return sum(one != other for one, other in zip(after, before, strict=True))


def largest_differences(one: Tensor, other: Tensor, count: int) -> Tensor:
    """The difference of two mean feature vectors, all but its largest numbers set to 0.

    Args:
        one, other: Features of two kinds of tokens, each (token, feature).
        count: How many numbers are kept.

    Returns:
        Shape (feature,): what to add to tokens of the other kind.
    """
    difference = one.mean(dim=0) - other.mean(dim=0)
    largest = difference.abs().topk(count).indices
    return torch.zeros_like(difference).scatter(0, largest, difference[largest])


@torch.no_grad()
def changes_between(
    autoencoder: SparseAutoencoder, one: Tensor, other: Tensor, count: int, *, seed: int
) -> tuple[Tensor, Tensor]:
    """What moves a vector of the other kind towards the one, along few features; and a control.

    Args:
        autoencoder: Whose features are moved, by the difference of their means.
        one, other: Vectors of two kinds of tokens, each (token, d_model).
        count: How many features are moved.
        seed: Of the control.

    Returns:
        The change, and one as long along as many random features; each of shape (d_model,).
    """
    kinds = [autoencoder.encode(each) for each in (one, other)]
    directions = autoencoder.decoder.weight  # (d_model, feature)
    change = directions @ largest_differences(*kinds, count)
    live = torch.cat(kinds).sum(dim=0).nonzero().flatten()
    return change, random_change(change, directions, live, count, seed=seed)


def random_change(
    change: Tensor, directions: Tensor, candidates: Tensor, count: int, *, seed: int
) -> Tensor:
    """A change of the same length along as many other features, with random signs.

    Args:
        change: The change to compare with, shape (d_model,).
        directions: Of all features, shape (d_model, feature).
        candidates: The numbers of the features to draw from.
        count: How many are drawn.
        seed: Decides which.
    """
    generator = torch.Generator().manual_seed(seed)
    drawn = candidates.cpu()[torch.randperm(len(candidates), generator=generator)[:count]]
    signs = torch.randint(2, (count,), generator=generator) * 2.0 - 1
    drawn_change = directions[:, drawn.to(directions.device)] @ signs.to(directions)
    return drawn_change * change.norm() / drawn_change.norm()
