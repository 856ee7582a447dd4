"""What lessons 7 and 8 check in the reader's layers and stacks, with the package's weights."""

from collections.abc import Sequence
from itertools import combinations

import torch
from torch import Tensor, nn

from transformer_course.asking.answer import AnswerError, require_class

D_MODEL, NUM_HEADS, D_FF, DROPOUT = 6, 3, 8, 0.25


def build_module(answer: object, name: str, *sizes: float) -> nn.Module:
    """An object of the reader's class."""
    require_class(answer, name)
    return answer(*sizes)


def carry_over(package: nn.Module, own: nn.Module) -> None:
    """Copy the package's weights into a layer of the reader's, by name."""
    weights = package.state_dict()
    missing = [name for name in weights if name not in own.state_dict()]
    if missing:
        raise AnswerError(
            f"Your layer has no {missing[0]}. Use the names of the scaffold and the classes of "
            "the lessons before."
        )
    own.load_state_dict(weights)


def package_layers(kind: type[nn.Module], count: int, *, seed: int) -> list[nn.Module]:
    """Layers whose norms differ, too, without touching the reader's random numbers."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        sizes = {"d_model": D_MODEL, "num_heads": NUM_HEADS, "d_ff": D_FF, "dropout": 0.0}
        layers = [kind(**sizes) for _ in range(count)]
        for norm in (each for layer in layers for each in layer.modules()):
            if isinstance(norm, nn.LayerNorm):
                nn.init.uniform_(norm.weight, 0.5, 2)
    return layers


def require_parts(layer: nn.Module, names: Sequence[str], whence: str) -> None:
    """Refuse a layer that lacks one of these modules, or has one of them twice.

    Args:
        layer: The reader's.
        names: What ``__init__`` must set.
        whence: Where the modules come from, after "must set self.name to a module".
    """
    for name in names:
        if not isinstance(getattr(layer, name, None), nn.Module):
            raise AnswerError(f"__init__ must set self.{name} to a module{whence}")
    for one, other in combinations(names, 2):
        if getattr(layer, one) is getattr(layer, other):
            raise AnswerError(
                f"{one} and {other} are the same module: each sub-layer needs its own."
            )


def require_dropout(module: nn.Module, places: str) -> None:
    """Refuse a module, built with DROPOUT, that does not hand its dropout on to these places."""
    found = {each.p for each in module.modules() if isinstance(each, nn.Dropout)}
    if found != {DROPOUT}:
        raise AnswerError(f"dropout does not arrive: {places} need it.")


def require_layers(stack: nn.Module, count: int, name: str) -> None:
    """Refuse a stack that is not registered, of another length, or one layer several times."""
    layers = getattr(stack, "layers", None)
    if isinstance(layers, list | tuple):
        kind = type(stack).__name__.lower()
        raise AnswerError(
            f"PyTorch does not look into Python lists: your {kind} has 0 parameters. "
            "There is an nn.Module that holds a list of modules."
        )
    if not isinstance(layers, nn.ModuleList | nn.Sequential):
        raise AnswerError("__init__ must set self.layers to an nn.ModuleList.")
    if len(layers) != count:
        raise AnswerError(f"There must be {count} layers; yours has {len(layers)}.")
    if any(one is other for one, other in combinations(layers, 2)):
        raise AnswerError(
            f"Two entries are the same layer, with the same weights: call {name}(*sizes) "
            "once for each."
        )


def loop_mistakes(x: Tensor, *, first: Tensor, last: Tensor) -> dict[str, Tensor]:
    """What the usual mistakes in a stack's loop over its layers lead to, by their hints.

    Args:
        x: The stack's input.
        first, last: What the first and the last layer make of x on their own.
    """
    return {
        "No layer has changed x: is the loop's result returned?": x,
        "Every layer starts again from the first x, so that only the last one counts: give each "
        "layer the output of the previous layer.": last,
        "Only the first layer has run: is the return inside the loop?": first,
    }
