"""Checks of lesson 20: a published model in our own architecture."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product

import torch
from torch import Tensor

from transformer_course.asking.answer import (
    AnswerError,
    ask,
    close,
    exercise,
    refuse_mistakes,
    require_shape,
    require_untouched,
)
from transformer_edu.model.embeddings import sinusoidal_positions
from transformer_edu.model.transformer import Transformer
from transformer_edu.variants.marian_weights import MARIAN_NAMES

LENGTH, WIDTH = 5, 6
LAYERS = {  # what a layer of each stack holds, and the weights that belong to each of it
    "encoder": ("self_attention", "feed_forward"),
    "decoder": ("self_attention", "cross_attention", "feed_forward"),
}
ATTENTION = ("query_projection", "key_projection", "value_projection", "output_projection")
SWITCHES = ("activation", "bias", "final_norm", "norm_first", "position_order", "start_id")


@exercise("20.1")
def check_to_halves(answer: Callable[[Tensor], Tensor]) -> None:
    """Exercise 20.1: a table of positions with all sines first, from one with both in turn."""
    table = sinusoidal_positions(LENGTH, WIDTH)
    given = table.clone()
    found = require_shape(ask(answer, given), (LENGTH, WIDTH), "(position, d_model)")
    require_untouched([given], [table])
    sines, cosines = table[:, 0::2], table[:, 1::2]
    if close(found, torch.cat([sines, cosines], dim=1)):
        wider = sinusoidal_positions(LENGTH, WIDTH + 4)
        if not close(ask(answer, wider.clone()), torch.cat([wider[:, 0::2], wider[:, 1::2]], 1)):
            raise AnswerError(f"Right for {WIDTH} columns and wrong for {WIDTH + 4}.")
        return
    refuse_mistakes(
        found,
        {
            "The cosines come first. Marian has the sines first.": torch.cat(
                [cosines, sines], dim=1
            ),
            "That is the way back: from halves to pairs.": table.unflatten(1, (2, -1))
            .mT.flatten(1)
            .contiguous(),
            "Nothing has changed. In the given table, sines and cosines take turns.": table,
            "You reorder positions. A position keeps its row; only its columns change places.": (
                torch.cat([table[0::2], table[1::2]], dim=0)
            ),
        },
    )
    raise AnswerError("The sines are the columns 0, 2, 4, …; they go to the left half, in order.")


@exercise("20.2")
def check_our_name(answer: Callable[[str], str]) -> None:
    """Exercise 20.2: our name of every weight of a layer, from Hugging Face's."""
    for ours, theirs in _names_of_layers().items():
        found = ask(answer, theirs)
        if found == ours:
            continue
        if not isinstance(found, str):
            raise AnswerError(f"A name is a text; yours is {type(found).__name__}.")
        if found.startswith("model."):
            raise AnswerError("Our names begin with encoder or decoder, not with model.")
        if found.endswith(("attention_layer_norm.weight", "attention_layer_norm.bias")):
            raise AnswerError(
                "A norm's name contains the name of its attention. If you replace the attention "
                "first, the norm's name is no longer found: replace the longer names first."
            )
        raise AnswerError(f"{theirs} should become {ours}, yours is {found}.")


def _names_of_layers() -> dict[str, str]:
    """Hugging Face's name of each weight of a layer in both stacks, by ours."""
    parts = []
    for stack, sublayers in LAYERS.items():
        for layer, part in product((3, 10), sublayers):
            inside = ("widen", "narrow") if part == "feed_forward" else ATTENTION
            parts += [f"{stack}.layers.{layer}.{part}.{name}" for name in inside]
            parts.append(f"{stack}.layers.{layer}.around_{part}.norm")
    names = {}
    for part in parts:
        theirs = part
        for own, other in MARIAN_NAMES.items():
            theirs = theirs.replace(own, other)
        names |= {f"{part}.{kind}": f"model.{theirs}.{kind}" for kind in ("weight", "bias")}
    return names


def patient_of(model: Transformer) -> Transformer:
    """A model with the same weights in which one switch is wrong; its config does not tell which.

    Args:
        model: With SiLU, as in Marian's models; it stays as it is.
    """
    weight = model.output_projection.weight
    patient = Transformer(replace(model.config, activation="gelu")).to(weight).eval()
    patient.load_state_dict(model.state_dict())
    patient.config = model.config
    return patient


@exercise("20.3")
def check_wrong_switch(answer: str) -> None:
    """Exercise 20.3: which field of the config is wrong in the patient."""
    if answer not in SWITCHES:
        raise AnswerError(f"The answer is one of {', '.join(SWITCHES)}; yours is {answer!r}.")
    hints = {
        "position_order": "Its positions are right: compare patient.positions.table with "
        "model.positions.table.",
        "bias": "All its biases are there: load_state_dict found a place for every weight.",
        "start_id": "It begins as it should: even the encoder's memory is different, and the "
        "encoder reads no start token.",
        "final_norm": "It has no final norms: print(patient.encoder).",
        "norm_first": "Its norms come after each sub-layer: the first attention reads the same "
        "numbers in both models.",
    }
    if answer in hints:
        raise AnswerError(hints[answer])
