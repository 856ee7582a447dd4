"""How an unknown model is called: what its parameters mean, and where its answer holds logits.

A parameter's meaning is told from its name. Masks have many conventions (in torch.nn True hides,
elsewhere True may be attended to), which are tried in turn.
"""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import is_dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

# What a parameter means, by its name; the first that fits. What fits none must be optional.
ROLES = {
    "": r"past|cache|^mems|mem_mask|prepend|(^|_)head_mask|hidden|embed|state|return|output_",
    "padding": r"^(?=.*(mask|pad)).*(pad|key_mask)|^(decoder_|encoder_)?attention_mask$",
    "attention": r"mask",
    "positions": r"^(position_ids|positions?|pos|input_pos)$",
    "lengths": r"len(gth)?s?$",
    "segments": r"segment|token_type",
}
LABELS = re.compile(r"^(labels?|targets?|lm_labels|y|y_true)$")  # if they are optional
OF_TARGET = re.compile(r"^(tgt|trg|target|dec)|look|causal|subsequent", re.IGNORECASE)
NO_ANSWER = re.compile(r"past|hidden_states|attentions|loss|cache|encoder_")

# The forms of padding masks and of attention masks that belong together: values and shape.
CONVENTIONS = {
    "none": ("none", "none"),
    "1 is real": ("ones", "ones"),
    "True hides, as in torch.nn": ("hidden", "hidden square"),
    "True may be attended to, (batch, 1, query, key)": ("seen", "seen grid"),
    "True may be attended to, (batch, query, key)": ("seen", "seen rows"),
    "True is real": ("seen", "seen"),
    "-inf hides": ("-inf", "-inf square"),
    "True hides, (batch, 1, query, key)": ("hidden", "hidden grid"),
    "1.0 hides, (batch, 1, query, key)": ("numbers", "numbers grid"),
    "1 may be attended to, (batch, 1, query, key)": ("ones", "ones grid"),
    "True may be attended to, (query, key)": ("seen", "seen square"),
}


class Text(NamedTuple):
    """Token ids, and what of them is not padding: each (batch, position).

    The ids are an encoder–decoder's target, otherwise the text; the source may be None.
    """

    ids: Tensor
    real: Tensor
    source_ids: Tensor | None = None
    source_real: Tensor | None = None

    def rows(self, rows: list[int]) -> "Text":
        """Some rows of the batch."""
        return Text(*(None if each is None else each[rows] for each in self))

    def stream(self, number: int) -> tuple[Tensor, Tensor]:
        """The ids of the text (0) or the source (1), and what of them is real."""
        return self[2 * number : 2 * number + 2]

    def replaced(self, number: int, ids: Tensor, real: Tensor) -> "Text":
        """The text with another stream."""
        return Text(*self[: 2 * number], ids, real, *self[2 * number + 2 :])


class Parameter(NamedTuple):
    """A parameter of forward: what it means, and whether it may be left out."""

    name: str
    role: str
    optional: bool


def read_signature(forward: Callable) -> list[Parameter]:
    """The parameters of a forward that can be filled.

    Raises:
        TypeError: If a required one has a name without a meaning.
    """
    found: list[Parameter] = []
    for each in inspect.signature(forward).parameters.values():
        if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
            continue
        optional = each.default is not each.empty
        role = next((role for role, name in ROLES.items() if re.search(name, each.name)), None)
        if not found:
            role = "text"
        elif role is None and optional and LABELS.search(each.name):
            role = "labels"
        elif role is None and (not optional or OF_TARGET.search(each.name)):
            role = "target" if all(one.role != "target" for one in found) else None
        if not (role or optional):
            raise TypeError(f"its parameter {each.name!r} has a name without a known meaning")
        found += [Parameter(each.name, role, optional)] if role else []
    if not found:
        raise TypeError("its forward names no token ids")
    two = any(each.role == "target" for each in found)
    return [each for each in found if two or not each.name.startswith("encoder_")]


def mask(form: str, real: Tensor, *, causal: bool) -> Tensor | None:
    """A mask in a form of CONVENTIONS, from what is real; None where nothing needs to be hidden."""
    values, _, shape = form.partition(" ")
    if values == "none" or (shape == "square" and not causal):
        return None
    square = real.new_ones(real.size(1), real.size(1)).tril()
    grid = real[:, None, None, :] & square if causal else real[:, None, None, :]
    seen = {"": real, "square": square, "grid": grid, "rows": grid[:, 0]}[shape]
    if values == "-inf":
        return torch.zeros(seen.shape, device=real.device).masked_fill(~seen, -torch.inf)
    return {"seen": seen, "hidden": ~seen, "ones": seen.long(), "numbers": (~seen).float()}[values]


def arguments(
    parameters: list[Parameter], text: Text, convention: str, *, causal: bool, labels: bool
) -> dict[str, object]:
    """What to call a forward with, by name; causal masks hide the future, labels may be given."""
    two, given = text.source_ids is not None, {}
    padding, attention = CONVENTIONS[convention]
    for name, role, optional in parameters:
        is_text = not two or bool(OF_TARGET.search(name))
        real = text.real if is_text else text.source_real
        value = {
            "text": text.source_ids if two else text.ids,
            "target": text.ids,
            "padding": mask(padding, real, causal=False),
            "attention": mask(attention, real, causal=causal and is_text),
            "positions": None if padding == "none" else places(text.real),
            "labels": text.ids if labels else None,
            "lengths": real.sum(dim=1),
            "segments": None if optional else text.real.long(),
        }[role]
        if value is not None or not optional:
            given[name] = value
    return given


def places(real: Tensor) -> Tensor:
    """The position of every word, padding not counted, shape (batch, position)."""
    return (real.long().cumsum(dim=1) - 1).clamp(min=0)


def tensors(answer: object, name: str = "") -> Iterator[tuple[str, Tensor]]:
    """Every floating-point tensor in an answer, with the names on the way to it."""
    items: list[tuple[object, object]] = []
    if isinstance(answer, Tensor) and answer.is_floating_point():
        yield name, answer
    elif isinstance(answer, Mapping) or is_dataclass(answer):
        items = [*(answer if isinstance(answer, Mapping) else vars(answer)).items()]
    elif isinstance(answer, tuple | list):
        items = [*zip(getattr(answer, "_fields", range(len(answer))), answer, strict=True)]
    for key, value in items:
        yield from tensors(value, f"{name}.{key}")


def read_answer(answer: object, text: Text, width: int, *, swapped: bool) -> Tensor:
    """The logits, or vectors, of an answer, shape (batch, position, width).

    One answer for each text is one position.

    Args:
        answer: A tensor, or a tuple, dictionary or dataclass that holds it.
        text: What was asked.
        width: The size of the vocabulary, which is preferred.
        swapped: Whether the batch is the second axis.

    Raises:
        TypeError: If there are none.
    """
    (batch, length), ranked = text.ids.shape, []
    for name, each in tensors(answer):
        if each.dim() == 2 and each.size(0) == batch * length != batch:
            each = each.unflatten(0, (length, batch) if swapped else (batch, length))
        if each.dim() == 3:
            each = each.transpose(0, 1) if swapped else each
            is_last = each.size(1) != length == each.size(2)  # (batch, vocabulary, position)
            each = each.transpose(1, 2) if is_last else each
        if each.dim() in (2, 3) and each.size(0) == batch and not NO_ANSWER.search(name):
            fits = each.dim() == 3 and each.size(1) == length
            rank = (fits, name.endswith("logits"), each.size(-1) == width, -len(ranked))
            ranked.append((rank, each if each.dim() == 3 else each.unsqueeze(1)))
    if not ranked:
        shapes = ", ".join(str(tuple(each.shape)) for _, each in tensors(answer))
        raise TypeError(f"it answered with {type(answer).__name__} {shapes}, which are no logits")
    return max(ranked, key=lambda pair: pair[0])[1]


def named_number(model: nn.Module, pattern: str) -> int | None:
    """A whole number under such a name in a config or an attribute of the model or its parts."""
    for module in model.modules():
        for holder in (getattr(module, "config", None), getattr(module, "cfg", None), module):
            items = holder if isinstance(holder, Mapping) else getattr(holder, "__dict__", {})
            for name, value in items.items():
                if type(value) is int and re.fullmatch(pattern, str(name), re.IGNORECASE):
                    return value
    return None
