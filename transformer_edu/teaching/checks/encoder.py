"""Checks for notebooks/07_encoder.ipynb."""

import math
from collections.abc import Callable
from itertools import combinations

import torch
from torch import Tensor, nn

from transformer_edu.model.encoder import EncoderLayer
from transformer_edu.teaching.checks.answer import (
    AnswerError,
    ask,
    close,
    exercise,
    refuse_mistakes,
    refuse_numbers,
    require_number,
    require_shape,
)

WORDS, NEIGHBORS = 10, 2
LAYERS, LENGTH, D_MODEL = 3, 4, 6


@exercise("7.1")
def check_layers_needed(answer: object) -> None:
    """How many layers of reach two join the first of ten words to the last."""
    answer = require_number(answer, whole=True)
    steps = WORDS - 1
    hints = {
        1: "One layer is enough only when every word may attend to every other.",
        steps: "That would be right for one neighbor to each side; a layer carries two steps.",
        WORDS: "Count steps, not words: from word 1 to word 10 there are nine, and each layer "
        "carries two.",
        steps
        // NEIGHBORS: "After four layers word 1 depends on words 1 to 9: one step is missing.",
    }
    refuse_numbers(answer, hints)
    if answer != math.ceil(steps / NEIGHBORS):
        raise AnswerError("Count the steps from word 1 to word 10; each layer carries two.")


@exercise("7.2")
def check_read(answer: object) -> None:
    """A function that sends x through all layers, each on the output of the previous layer."""
    layers = _layers()
    x = torch.randn(2, LENGTH, D_MODEL, generator=torch.Generator().manual_seed(7))
    mask = torch.ones(LENGTH, LENGTH, dtype=torch.bool).tril()
    with torch.no_grad():
        given = require_shape(
            ask(answer, x, layers, mask), tuple(x.shape), "(batch, position, d_model)"
        )
        if close(given, _through(x, layers, mask)):
            return
        _refuse_output(given, x, layers, mask)


def _refuse_output(given: Tensor, x: Tensor, layers: list[nn.Module], mask: Tensor) -> None:
    """Say what is wrong in a loop over the layers."""
    wrong = {
        "No layer has changed x: is the loop's result returned?": x,
        "Every layer starts again from the first x, so that only the last one counts: give each "
        "layer the output of the previous layer.": _through(x, layers[-1:], mask),
        "Only the first layer has run: is the return inside the loop?": _through(
            x, layers[:1], mask
        ),
        "The mask is missing: every layer needs mask=mask.": _through(x, layers, None),
        "The layers run from last to first.": _through(x, layers[::-1], mask),
    }
    refuse_mistakes(given, wrong)
    raise AnswerError("The numbers differ: run each layer once, in order, with mask=mask.")


def _through(x: Tensor, layers: list[nn.Module], mask: Tensor | None) -> Tensor:
    for layer in layers:
        x = layer(x, mask=mask)
    return x


def _layers() -> list[nn.Module]:
    """A few different layers, without touching the learner's random numbers."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(7)
        return [_make_layer() for _ in range(LAYERS)]


def _make_layer() -> EncoderLayer:
    return EncoderLayer(d_model=D_MODEL, num_heads=2, d_ff=8, dropout=0.0)


@exercise("7.3")
def check_build_layers(answer: object) -> None:
    """A function that builds layers which are registered, not shared, and start different."""
    with torch.random.fork_rng(devices=[]):
        layers = ask(answer, _make_layer, LAYERS)
    if isinstance(layers, (list, tuple)):
        raise AnswerError(
            "PyTorch does not look into Python lists: a model would find 0 parameters. "
            "There is an nn.Module that holds a list of modules."
        )
    if not isinstance(layers, nn.ModuleList | nn.Sequential):
        raise AnswerError(f"The answer is an nn.ModuleList; yours is {type(layers).__name__}.")
    if len(layers) != LAYERS:
        raise AnswerError(f"There must be {LAYERS} layers; yours has {len(layers)}.")
    _require_pairs(
        layers,
        lambda one, other: one is other,
        "Two entries are the same layer: call make_layer() once for each.",
    )
    _require_pairs(
        layers,
        lambda one, other: torch.equal(
            one.feed_forward.widen.weight, other.feed_forward.widen.weight
        ),
        "Two layers start with equal weights: a copy has the weights of its "
        "original. Call make_layer() "
        "once for each.",
    )


def _require_pairs(
    layers: nn.ModuleList, same: Callable[[nn.Module, nn.Module], bool], hint: str
) -> None:
    if any(same(one, other) for one, other in combinations(layers, 2)):
        raise AnswerError(hint)
