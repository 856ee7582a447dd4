"""How an unknown model is called: what its parameters mean, and where its answer holds logits.

A parameter's meaning is told from its name (names.tsv). Masks follow one of conventions.tsv.
"""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import is_dataclass
from importlib.resources import files
from typing import NamedTuple

import torch
from torch import Tensor, nn


def table(name: str) -> dict[str, dict[str, str]]:
    """The rows of a table of this folder, by their first column."""
    text = files(__package__).joinpath(f"{name}.tsv").read_text(encoding="utf-8")
    head, *rows = (line.split("\t") for line in text.splitlines())
    return {row[0]: dict(zip(head, row, strict=True)) for row in rows}


NAMES = {meaning: re.compile(row["pattern"], re.I) for meaning, row in table("names").items()}
OF_TARGET, NO_LOGITS = NAMES["of the target"], NAMES["in an answer, not the logits"]
ROLES = ("left out", "padding", "attention", "positions", "lengths", "segments", "offset")
CONVENTIONS = table("conventions")  # what hides where: values and shape of the masks


class Text(NamedTuple):
    """Token ids, and what of them is not padding: each (batch, position).

    The ids are an encoder–decoder's target, otherwise the text; the source may be None.
    """

    ids: Tensor
    real: Tensor
    source_ids: Tensor | None = None
    source_real: Tensor | None = None

    @staticmethod
    def of(*streams: Tensor) -> "Text":
        """The text, and the source if there is one, without padding."""
        return Text(*(x for ids in streams for x in (ids, torch.ones_like(ids).bool())))

    def rows(self, rows: list[int] | Tensor) -> "Text":
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
    """The parameters of a forward that can be filled; a TypeError if a required one cannot."""
    found: list[Parameter] = []
    for each in inspect.signature(forward).parameters.values():
        if each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
            continue
        optional = each.default is not each.empty
        role = next((role for role in ROLES if NAMES[role].search(each.name)), None)
        has_target = any(one.role == "target" for one in found)
        if not found:
            role = "text"
        elif role is None and optional and NAMES["labels, if optional"].search(each.name):
            role = "labels"
        elif role is None and not has_target and (not optional or OF_TARGET.search(each.name)):
            role = "target"
        if role and role != "left out":
            found.append(Parameter(each.name, role, optional))
        elif not optional:
            raise TypeError(f"its parameter {each.name!r} has a name without a known meaning")
    if not found:
        raise TypeError("its forward names no token ids; examine what a wrapper holds, not itself")
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
    _, padding, attention = CONVENTIONS[convention].values()
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
            "offset": None if optional else 0,
        }[role]
        if value is not None or not optional:
            given[name] = value
    return given


def places(real: Tensor) -> Tensor:
    """The position of every word, padding not counted, shape (batch, position)."""
    return (real.long().cumsum(dim=1) - 1).clamp(min=0)


def tensors(answer: object, name: str = "") -> Iterator[tuple[str, Tensor]]:
    """Every floating-point tensor in an answer, with the names on the way to it."""
    if isinstance(answer, Tensor) and answer.is_floating_point():
        yield name, answer
    if isinstance(answer, tuple | list):
        answer = dict(zip(getattr(answer, "_fields", range(len(answer))), answer, strict=True))
    elif is_dataclass(answer) and not isinstance(answer, Mapping):
        answer = vars(answer)
    for key in answer if isinstance(answer, Mapping) else ():
        yield from tensors(answer[key], f"{name}.{key}")


def read_answer(answer: object, text: Text, width: int, *, swapped: bool) -> Tensor:
    """The logits (of this width), or vectors, in an answer: (batch, position, width).

    One answer for each text is one position. If ``swapped``, the batch is the second axis.
    """
    (batch, length), ranked, found = text.ids.shape, [], [*tensors(answer)]
    for name, each in found:
        if each.dim() == 2 and each.size(0) == batch * length != batch:
            each = each.unflatten(0, (length, batch) if swapped else (batch, length))
        if each.dim() == 3:
            each = each.transpose(0, 1) if swapped else each
            is_last = each.size(1) != length == each.size(2)  # (batch, vocabulary, position)
            each = each.transpose(1, 2) if is_last else each
        if each.dim() in (2, 3) and each.size(0) == batch and not NO_LOGITS.search(name):
            fits = each.dim() == 3 and each.size(1) == length
            rank = (fits, name.endswith("logits"), each.size(-1) == width, -len(ranked))
            ranked.append((rank, each if each.dim() == 3 else each.unsqueeze(1)))
    if not ranked:
        shapes = ", ".join(str(tuple(each.shape)) for _, each in found)
        raise TypeError(f"it answered with {type(answer).__name__} {shapes}, which are no logits")
    return max(ranked, key=lambda pair: pair[0])[1]


def named_number(model: nn.Module, meaning: str) -> int | None:
    """A whole number of such a meaning in a config or an attribute of the model or its parts."""
    for module in model.modules():
        for holder in (getattr(module, "config", None), getattr(module, "cfg", None), module):
            items = holder if isinstance(holder, Mapping) else getattr(holder, "__dict__", {})
            for name, value in items.items():
                if type(value) is int and NAMES[meaning].search(str(name)):
                    return value
    return None
