"""The figures of lesson 04, each with its title and its alternative text."""

from collections.abc import Sequence

import torch
from matplotlib.figure import Figure
from torch import Tensor, nn

from transformer_course.drawing import course_map
from transformer_course.drawing.attention_grid import plot_heads
from transformer_course.multi_head_attention.head_charts import (
    plot_head_split,
    plot_lookups,
)
from transformer_course.multi_head_attention.neighbors import (
    GUESSING,
    LENGTH,
    neighbor_accuracy,
    neighbor_maps,
)


def show_map() -> None:
    """Show the map of the Transformer with the heads and every attention marked."""
    title = "Every attention of the Transformer is a pile of heads"
    course_map.show_map(["heads", "attention"], title=title)


def plot_accuracy(one_head: Sequence[nn.Module], two_heads: Sequence[nn.Module]) -> Figure:
    """Draw how often models name the symbol before, the symbol after, and both.

    Args:
        one_head: Trained models, a mark for each; in the lesson they have one head.
        two_heads: Others, in the lesson with two heads.
    """
    first, last = _heads_of("one_head", one_head), _heads_of("two_heads", two_heads)
    runs = {
        first: [neighbor_accuracy(model) for model in one_head],
        last + ", again" * (first == last): [neighbor_accuracy(model) for model in two_heads],
    }
    return plot_lookups(runs, chance=GUESSING)


def _heads_of(name: str, models: Sequence[nn.Module]) -> str:
    """How many heads trained models have, in words; a ValueError for what is no list of models."""
    if not isinstance(models, Sequence) or not models:
        got = "none" if isinstance(models, Sequence) else type(models).__name__
        raise ValueError(f"{name} must be a list of trained models, got {got}")
    counts = sorted({model.num_heads for model in models})
    numbers = " or ".join({1: "one", 2: "two"}.get(count, str(count)) for count in counts)
    return f"{numbers} head{'s' * (counts[-1] > 1)}"


def plot_neighbor_maps(one_head: Sequence[nn.Module], two_heads: nn.Module) -> Figure:
    """Draw the maps of every head of three models; the title looks at those of the last.

    Args:
        one_head: Trained models, in the lesson with one head; the first and the last are drawn.
        two_heads: A trained model, in the lesson with two heads.
    """
    if isinstance(two_heads, Sequence):
        raise ValueError(f"two_heads must be one trained model, got a list of {len(two_heads)}")
    few, many = _heads_of("one_head", one_head), _heads_of("two_heads", [two_heads])
    runs = {number: one_head[number - 1] for number in (1, len(one_head))}
    models = {f"{_heads_of('', [each])}, run {number}": each for number, each in runs.items()}
    models[many] = two_heads
    maps = [neighbor_maps(each, num_heads=each.num_heads) for each in models.values()]
    both = maps[-1]  # (head, query, key)
    sides = [both.diagonal(shift, 1, 2).mean(dim=-1) for shift in (-1, 1)]  # before, after
    title = f"Maps of models with {few} and of one with {many}"
    said = " of attention weights"
    if len(both) == 2 and min(side.max() for side in sides) > 0.5:  # another head for each side
        title = "With two heads, each head attends to one neighbor"
        said = "; each map of the two heads has one bright diagonal"
    names = [
        name + f", head {number}" * (len(heads) > 1)
        for name, heads in zip(models, maps, strict=True)
        for number in range(1, len(heads) + 1)
    ]
    positions = [str(number) for number in range(1, LENGTH + 1)]
    figure = plot_heads(
        torch.cat(maps),
        query_tokens=positions,
        key_tokens=positions,
        title=title,
        names=names,
    )
    figure.set_label(f"{'four' if len(names) == 4 else len(names)} maps{said}")
    return figure


def plot_splits(numbers: Tensor, split: Tensor, view: Tensor) -> Figure:
    """Draw where the numbers of four words go when they are split into two heads.

    Args:
        numbers: 0 to 15, shape (4, 4): a row for each word.
        split: The same numbers after unflatten and transpose, shape (2, 4, 2).
        view: The same numbers after view, shape (2, 4, 2).
    """
    counted = torch.arange(numbers.numel(), device=numbers.device)
    fits = numbers.dim() == 2 and len(numbers) == 4 and not numbers.is_floating_point()
    if not fits or not numbers.flatten().equal(counted):
        raise ValueError(
            "numbers must be 0, 1, 2, … in four rows, a row for each word, "
            f"got {numbers.dtype} {tuple(numbers.shape)}"
        )
    # Of each head, which words it has numbers of.
    words = [
        [set((head // numbers.size(1)).flatten().tolist()) for head in x] for x in (split, view)
    ]
    title, said = "Where the numbers of each word go", "three ways to arrange the same numbers"
    if words == [[{0, 1, 2, 3}] * 2, [{0, 1}, {2, 3}]]:
        title = "The right split gives a head a part of every word; view gives it half of the words"
        said = "view: head 1 holds the and cat, two rows each; head 2 holds sat and down"
    figure = plot_head_split(
        {"before the split": numbers, "unflatten, transpose": split, "view": view},
        tokens=["the", "cat", "sat", "down"],
        d_model=numbers.size(1),
        title=title,
    )
    figure.set_label(said)
    return figure
