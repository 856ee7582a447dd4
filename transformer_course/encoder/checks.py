"""Checks of lesson 7: the encoder layer, the stack, how far words reach, and layers in use."""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from transformer_course.asking.answer import (
    AnswerError,
    ask,
    close,
    exercise,
    let_wait,
    refuse_numbers,
    require_module,
    require_number,
)
from transformer_course.asking.layers import (
    D_FF,
    D_MODEL,
    DROPOUT,
    NUM_HEADS,
    build_module,
    carry_over,
    package_layers,
    require_chain,
    require_dropout,
    require_layers,
    require_parts,
    require_same,
    require_wired,
)
from transformer_course.my_transformer import keep
from transformer_edu.model.encoder import Encoder, EncoderLayer

# Every length is different, so that no axis passes for another.
BATCH, LENGTH, LAYERS = 2, 5, 4
BOTH = "both AddAndNorm(d_model, dropout)"
PARTS = ("self_attention", "feed_forward", "around_self_attention", "around_feed_forward")
WORDS, NEIGHBORS = 10, 2


@exercise("7.1")
def check_encoder_layer(answer: type[nn.Module]) -> None:
    """Exercise 7.1: a class EncoderLayer, which gets the package's weights.

    It is kept in the reader's own file.
    """
    layer = build_module(answer, "EncoderLayer", D_MODEL, NUM_HEADS, D_FF, 0.0)
    x, mask = _inputs()
    let_wait(layer, x, mask)
    require_parts(layer, PARTS, " of an earlier lesson.")
    require_dropout(answer(D_MODEL, NUM_HEADS, D_FF, DROPOUT), BOTH, x)
    package = _layers()[0]
    carry_over(package, layer)
    flow = {
        "around_self_attention": ("self_attention", ("x", "x", "x", "mask")),
        "around_feed_forward": ("feed_forward", ("x",)),
    }
    require_wired(layer, flow, {"x": x, "mask": mask})
    require_same(require_module(layer, x, mask), package(x, mask=mask))
    if not close(ask(layer, x), package(x)):
        raise AnswerError("Without a mask the numbers differ: mask=None must work, too.")
    keep(answer)


@exercise("7.2")
def check_encoder(answer: type[nn.Module]) -> None:
    """Exercise 7.2: a class Encoder, a stack of the reader's layers with the package's weights.

    It is kept in the reader's own file.
    """
    encoder = build_module(answer, "Encoder", LAYERS, D_MODEL, NUM_HEADS, D_FF, 0.0)
    x, mask = _inputs()
    let_wait(encoder, x, mask)
    require_layers(encoder, LAYERS, "EncoderLayer")
    require_dropout(answer(LAYERS, D_MODEL, NUM_HEADS, D_FF, DROPOUT), BOTH, x)
    package = Encoder(_layers())
    for own, theirs in zip(encoder.layers, package.layers, strict=True):
        carry_over(theirs, own)
    require_chain(encoder, {"x": x, "mask": mask})
    require_same(require_module(encoder, x, mask), package(x, mask=mask))
    if not close(ask(encoder, x), package(x)):
        raise AnswerError("Without a mask the numbers differ: mask=None must work, too.")
    keep(answer)


@exercise("7.3")
def check_layers_needed(answer: object) -> None:
    """Exercise 7.3: how many layers of reach two join the first of ten words to the last."""
    answer = require_number(answer, whole=True)
    steps = WORDS - 1
    hints = {
        1: "One layer is enough only when every word may attend to every other.",
        steps: "That would be right for one neighbor to each side; a layer carries two steps.",
        WORDS: "Count steps, not words: from word 1 to word 10 there are nine, and each layer "
        "carries two.",
        steps
        // NEIGHBORS: "How far do four layers reach? Word 1 depends on word 3 after one layer, "
        "and on word 5 after two.",
    }
    refuse_numbers(answer, hints)
    if answer != math.ceil(steps / NEIGHBORS):
        raise AnswerError("Count the steps from word 1 to word 10; each layer carries two.")


class _Stack(nn.Module):
    """Layers, and a choice of the steps that are made through them."""

    def __init__(self, run: Callable[[Tensor, nn.ModuleList], Tensor]) -> None:
        super().__init__()
        self.layers, self.run = nn.ModuleList(_layers()), run

    def forward(self, x: Tensor) -> Tensor:
        return self.run(x, self.layers)


@exercise("7.4")
def check_used_layers(answer: object) -> None:
    """Exercise 7.4: a function that counts the layers that an encoder's output depends on."""
    x, _ = _inputs()
    stacks = {
        "whose every layer starts again from the first x": (
            1,
            lambda x, all_: [x, *(layer(x) for layer in all_)][-1],
        ),
        "that returns inside the loop": (1, lambda x, all_: next((each(x) for each in all_), x)),
        "that runs only three": (3, lambda x, all_: _through(x, list(all_)[:3], None)),
    }
    healthy = _Stack(lambda x, all_: _through(x, list(all_), None))
    found = require_number(_count(answer, healthy, x), whole=True)
    if found != LAYERS:
        raise AnswerError(f"In a healthy encoder all {LAYERS} layers count; you found {found}.")
    for words, (expected, run) in stacks.items():
        found = require_number(_count(answer, _Stack(run), x), whole=True)
        if found == LAYERS:
            raise AnswerError(
                f"For an encoder of {LAYERS} layers {words}, you found {found}: that is the number "
                "of layers that it holds. Leave out a single layer, and compare what encoder(x) "
                "gives: a loop of your own over the layers, or their calls, do not show what the "
                "output depends on."
            )
        if found != expected:
            raise AnswerError(
                f"For an encoder of {LAYERS} layers {words}, {expected} must be found; "
                f"you found {found}."
            )


def _count(answer: object, encoder: _Stack, x: Tensor) -> object:
    """Ask the reader's function, and refuse one that leaves the encoder changed."""
    with torch.no_grad():
        before = encoder(x)
        found = ask(answer, encoder, x)
        if len(encoder.layers) != LAYERS or not close(encoder(x), before):
            raise AnswerError(
                "Your test leaves the encoder changed: put back every layer before you return."
            )
    return found


def _through(x: Tensor, layers: list[nn.Module], mask: Tensor | None) -> Tensor:
    for layer in layers:
        x = layer(x) if mask is None else layer(x, mask=mask)
    return x


def _inputs() -> tuple[Tensor, Tensor]:
    """Vectors and a mask of the check's own, the same every time."""
    generator = torch.Generator().manual_seed(7)
    x = torch.randn(BATCH, LENGTH, D_MODEL, generator=generator)
    return x, torch.ones(LENGTH, LENGTH, dtype=torch.bool).tril()


def _layers() -> list[EncoderLayer]:
    return package_layers(EncoderLayer, LAYERS, seed=7)
