"""Where a model keeps its parameters: a table, component by component, that sums exactly.

A table that two components share is one tensor: it is counted once and named after all of them.
"""

from dataclasses import dataclass, field

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from torch import nn

from transformer_edu.model.add_and_norm import AddAndNorm
from transformer_edu.model.attention import MultiHeadAttention
from transformer_edu.model.embeddings import TokenEmbedding
from transformer_edu.model.feed_forward import FeedForward
from transformer_edu.teaching.inspect.trace import in_words
from transformer_edu.teaching.style import BLUE, styled

WHOLE = (MultiHeadAttention, FeedForward, TokenEmbedding)  # counted as one, not matrix by matrix
SHARED_FILL, FONT_SIZE = "#9CC9E6", 11


@dataclass(frozen=True)
class Row:
    """One component, in all layers of its stack together.

    Args:
        component: Its name in words.
        parameters: How many numbers it learns.
        shared_by: The components that use this one tensor; empty when only one does.
    """

    component: str
    parameters: int
    shared_by: tuple[str, ...] = ()


@dataclass
class _Tally:
    """What is known of one row while it is being counted."""

    parameters: int = 0
    layers: set[tuple[str, ...]] = field(default_factory=set)
    tensors: list[str] = field(default_factory=list)


def count_parameters(model: nn.Module) -> list[Row]:
    """Count a model's parameters by component, in the order in which the model holds them.

    The rows sum to ``sum(p.numel() for p in model.parameters())``. A large model built under
    ``torch.device("meta")`` is counted without taking memory.

    Args:
        model: Any module.

    Returns:
        One row for each component, and one for each tensor that several components share.
    """
    names: dict[int, list[str]] = {}
    for name, parameter in model.named_parameters(remove_duplicate=False):
        names.setdefault(id(parameter), []).append(name)
    tallies: dict[tuple[str, ...], _Tally] = {}
    for parameter in model.parameters():
        places = [_place(model, name) for name in names[id(parameter)]]
        components = tuple(dict.fromkeys(component for component, _ in places))
        tally = tallies.setdefault(components, _Tally())
        tally.parameters += parameter.numel()
        tally.layers.update(layer for _, layer in places)
        tally.tensors.append(names[id(parameter)][0].rpartition(".")[2])
    shared = {name for components in tallies if len(components) > 1 for name in components}
    return [_row(components, tally, shared) for components, tally in tallies.items()]


def _place(model: nn.Module, name: str) -> tuple[str, tuple[str, ...]]:
    """The component that a parameter belongs to, in words, and the layer that it stands in."""
    *path, tensor = name.split(".")
    module, parts, layer = model, [], ()
    for piece in path:
        parent, module = module, getattr(module, piece)
        if isinstance(parent, nn.ModuleList):
            layer += (piece,)
        elif isinstance(module, AddAndNorm):
            parts.append("Add & Norm")
        elif not isinstance(module, nn.ModuleList):
            parts.append(in_words(piece))
        if isinstance(module, (AddAndNorm, *WHOLE)):
            break
    return " · ".join(parts[:2]) or tensor, layer


def _row(components: tuple[str, ...], tally: _Tally, shared: set[str]) -> Row:
    if len(components) > 1:
        return Row(" = ".join(components), tally.parameters, components)
    (component,) = components
    if component in shared:  # its shared tensor has a row of its own: say what is left
        component = f"{component} {', '.join(tally.tensors)}"
    if len(tally.layers) > 1:
        component = f"{component} × {len(tally.layers)}"
    return Row(component, tally.parameters)


@styled
def plot_parameters(model: nn.Module, *, title: str) -> Figure:
    """Draw the table of count_parameters as bars; the bars of shared tensors are hatched.

    Args:
        model: Any module with parameters.
        title: What the reader should see, as a sentence; drawn literally.

    Returns:
        A new figure.
    """
    rows = count_parameters(model)
    lines = [max(1, len(row.shared_by)) for row in rows]  # each row as high as its name
    figure, axes = plt.subplots(figsize=(7.4, 1.1 + 0.3 * sum(lines)))
    middles = [sum(lines[:index]) + height / 2 for index, height in enumerate(lines)]
    unit, prefix = _unit(max(row.parameters for row in rows))
    sizes = [row.parameters / unit for row in rows]
    bars = axes.barh(middles, sizes, height=0.7, color=BLUE)
    for bar, row in zip(bars, rows, strict=True):
        if row.shared_by:
            bar.set(facecolor=SHARED_FILL, edgecolor=BLUE, linewidth=1.5, hatch="//")
    axes.bar_label(bars, [f"{row.parameters:,}" for row in rows], padding=4, fontsize=FONT_SIZE)
    names = ["\n= ".join(row.shared_by or [row.component]) for row in rows]
    axes.set_yticks(middles, names, fontsize=FONT_SIZE, parse_math=False)
    axes.tick_params(axis="y", length=0)
    axes.set(ylim=(sum(lines), 0), xlim=(0, 1.25 * max(sizes)), xlabel=f"{prefix}parameters")
    axes.set_title(title, loc="left", parse_math=False)
    return figure


def _unit(largest: int) -> tuple[int, str]:
    for unit, prefix in ((10**6, "million "), (10**3, "thousand ")):
        if largest >= unit:
            return unit, prefix
    return 1, ""
