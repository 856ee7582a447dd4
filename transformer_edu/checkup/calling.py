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

UNKNOWN = re.compile(
    r"past|cache|^mems|mem_mask|prepend|head_mask|hidden|embed|state|return|output_"
)
POSITIONS = re.compile(r"position_ids|positions?|pos|input_pos")
LABELS = re.compile(r"labels?|targets?|lm_labels|y|y_true")
TARGET = re.compile(r"tgt|trg|target|dec", re.IGNORECASE)
OF_TARGET = re.compile(r"^(tgt|trg|target|dec)|look|causal|subsequent", re.IGNORECASE)
PADDING = re.compile(r"pad|^(decoder_|encoder_)?attention_mask$|key_mask")
NO_ANSWER = re.compile(r"past|hidden_states|attentions|loss|cache|encoder_")


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


class Convention(NamedTuple):
    """The forms of padding masks and of attention masks that belong together."""

    name: str
    padding: str
    attention: str


CONVENTIONS = (
    Convention("none", "none", "none"),
    Convention("1 is real", "ones", "ones"),
    Convention("True hides, as in torch.nn", "hidden", "hidden square"),
    Convention("True may be attended to, (batch, 1, query, key)", "real", "seen"),
    Convention("True may be attended to, (batch, query, key)", "real", "seen rows"),
    Convention("True is real", "real", "real"),
    Convention("-inf hides", "minus infinity", "minus infinity square"),
    Convention("True hides, (batch, 1, query, key)", "hidden", "hidden grid"),
    Convention("1.0 hides, (batch, 1, query, key)", "hidden", "hidden numbers"),
    Convention("1 may be attended to, (batch, 1, query, key)", "ones", "seen ones"),
    Convention("True may be attended to, (query, key)", "real", "seen square"),
)


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
        role = _role(each.name, optional, [one.role for one in found])
        if role == "unknown" and not optional:
            raise TypeError(f"its parameter {each.name!r} has a name without a known meaning")
        found += [Parameter(each.name, role, optional)] if role != "unknown" else []
    if not found:
        raise TypeError("its forward names no token ids")
    two = any(each.role == "target" for each in found)
    return [each for each in found if two or not each.name.startswith("encoder_")]


def _role(name: str, optional: bool, earlier: list[str]) -> str:
    if not earlier:
        return "text"
    if name == "use_cache":
        return name
    if UNKNOWN.search(name):
        return "unknown"
    if "mask" in name or "pad" in name:
        return "padding" if PADDING.search(name) else "attention"
    for role, pattern in (("positions", POSITIONS), ("lengths", re.compile(r"\w*len(gth)?s?"))):
        if pattern.fullmatch(name):
            return role
    if optional and LABELS.fullmatch(name):
        return "labels"
    can_be_target = "target" not in earlier and (not optional or TARGET.match(name))
    return "target" if can_be_target else "unknown"


def mask(form: str, real: Tensor, *, causal: bool) -> Tensor | None:
    """A mask in one of the forms of CONVENTIONS; None where nothing needs to be hidden.

    Args:
        form: The form's name.
        real: False on padding, shape (batch, position).
        causal: Whether later positions are hidden, too.
    """
    square = torch.ones(real.size(1), real.size(1), dtype=torch.bool, device=real.device)
    if form == "none" or ("square" in form and not causal):
        return None
    seen = real[:, None, None, :]
    if causal:
        square = square.tril()
        seen = seen & square
    forms = {"real": real, "seen": seen, "seen rows": seen[:, 0], "seen square": square}
    if form in forms:
        return forms[form]
    kind, _, of = form.partition(" ")
    allowed = square if "square" in of else seen if of in ("grid", "numbers") else real
    if kind == "minus":
        zeros = torch.zeros(allowed.shape, device=real.device)
        return zeros.masked_fill(~allowed, -torch.inf)
    if form in ("ones", "seen ones"):
        return (real if form == "ones" else seen).long()
    return (~allowed).float() if of == "numbers" else ~allowed


def arguments(
    parameters: list[Parameter], text: Text, convention: Convention, *, causal: bool, labels: bool
) -> dict[str, object]:
    """What to call a forward with, by name.

    Args:
        parameters: Those of ``read_signature``.
        text: What to ask about.
        convention: How masks are given.
        causal: Whether the masks that are given must hide the text's future.
        labels: Whether to give labels, if forward takes them.
    """
    two, given = text.source_ids is not None, {}
    for name, role, optional in parameters:
        on_text = not two or bool(OF_TARGET.search(name))
        real = text.real if on_text else text.source_real
        if role in ("padding", "attention"):
            hides = causal and on_text and role == "attention"
            value = mask(getattr(convention, role), real, causal=hides)
        elif role == "positions":
            has_masks = convention.padding != "none"
            value = (real.long().cumsum(dim=1) - 1).clamp(min=0) if has_masks else None
        elif role == "labels":
            value = text.ids if labels else None
        else:
            ids = text.source_ids if two and role == "text" else text.ids
            value = {"use_cache": False, "lengths": real.sum(dim=1)}.get(role, ids)
        if value is not None or not optional:
            given[name] = value
    return given


def tensors(answer: object, name: str = "") -> Iterator[tuple[str, Tensor]]:
    """Every floating-point tensor in an answer, with the names on the way to it."""
    items: list[tuple[object, object]] = []
    if isinstance(answer, Tensor) and answer.is_floating_point():
        yield name, answer
    elif isinstance(answer, Mapping):
        items = list(answer.items())
    elif is_dataclass(answer):
        items = list(vars(answer).items())
    elif isinstance(answer, tuple | list):
        items = list(zip(getattr(answer, "_fields", range(len(answer))), answer, strict=True))
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
    batch, length = text.ids.shape
    ranked = []
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
