"""What the attention viewer shows: layers of weights with their tokens, checked once."""

import base64
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from torch import Tensor

from transformer_course.drawing.style import LONGEST_TOKEN
from transformer_edu.model.refusals import require_whole

MOST_TOKENS = 128  # along one axis; a token is hard to find among more
MOST_WEIGHTS = 1_500_000  # in all layers and heads: 4 MB of page
STEPS = 2**16 - 1  # a weight is stored as a whole number of these, 0.00002 at most beside itself
LONGEST_NAME = 100  # characters of a layer's name in a message
ABOVE_ONE = 1e-3  # rounding of half precision may exceed one by so much

PLACE = re.compile(
    r"(?:^|\.)(?:encoder\.layers\.(?P<encoder>\d+)\.self_attention"
    r"|decoder\.layers\.(?P<decoder>\d+)\.self_attention"
    r"|decoder\.layers\.(?P<cross>\d+)\.cross_attention)$"
)
KINDS_IN_WORDS = {
    "encoder": "Encoder self-attention",
    "decoder": "Decoder self-attention",
    "cross": "Cross-attention",
}


class Side(NamedTuple):
    """The tokens along one axis, as they are shown, and what they are called.

    Args:
        role: What they are called.
        tokens: The tokens that are read.
        writes: The token that each row writes, where these are a decoder's; else empty.
    """

    role: str
    tokens: tuple[str, ...]
    writes: tuple[str, ...] = ()

    def rows(self) -> list[str]:
        """What a row is called: the token that it reads and, in a decoder, the one it writes."""
        if not self.writes:
            return list(self.tokens)
        return [f"{read} → {write}" for read, write in zip(self.tokens, self.writes, strict=True)]

    @property
    def heading(self) -> str:
        """What stands above the rows."""
        return "reads → writes" if self.writes else "queries"


class AttentionMap(NamedTuple):
    """All heads of one layer.

    Args:
        name: What the caller calls it, for messages and for choosing the first one shown.
        kind: Which attention of the model it is, in words.
        layer: Which layer of that kind it is, in words; empty where there is only one.
        queries: The queries' tokens.
        keys: The keys' tokens.
        weights: From 0 to 1, shape (heads, query, key).
    """

    name: str
    kind: str
    layer: str
    queries: Side
    keys: Side
    weights: np.ndarray

    def codes(self) -> np.ndarray:
        """The weights as whole numbers of 1/65,535; only a weight of exactly 0 is coded as 0."""
        rounded = np.rint(self.weights * STEPS)
        return np.where(self.weights > 0, np.maximum(rounded, 1), 0).astype("<u2")

    def packed(self) -> str:
        """The codes as base64 text, two bytes each, the lower one first."""
        return base64.b64encode(self.codes().tobytes()).decode("ascii")


def maps_of_model(
    attention: Mapping[str, Tensor],
    *,
    source_tokens: Sequence[str],
    target_tokens: Sequence[str] | None,
    written_tokens: Sequence[str] | None = None,
    sentence: int,
) -> list[AttentionMap]:
    """The layers that ``record_attention`` recorded, by kind, each with its own tokens.

    Args:
        attention: Weights by the layer's name, each (batch, heads, query, key).
        source_tokens: What the encoder read.
        target_tokens: What the decoder read; None where only the encoder ran.
        written_tokens: What it wrote after each of them; None for the next one that it read.
        sentence: Which sentence of the batch, counted from 0.

    Raises:
        TypeError, ValueError, IndexError: If something is missing, does not fit or is no weight.
    """
    _require_layers("attention", attention)
    sides = {"source": Side("source", _shown("source_tokens", source_tokens))}
    if target_tokens is not None:
        sides["target"] = _target(target_tokens, written_tokens)
    maps = []
    for name, weights in attention.items():
        kind, number = _place(name)
        roles = {"encoder": ("source", "source"), "decoder": ("target", "target")}
        query, key = roles.get(kind, ("target", "source"))
        if query not in sides:
            raise ValueError(f"target_tokens must be given to show {name}, got None")
        weights = _heads(name, weights, (sides[query], sides[key]), sentence)
        words, layer = KINDS_IN_WORDS[kind], str(number + 1)
        maps.append(AttentionMap(name, words, layer, sides[query], sides[key], weights))
    kinds = list(KINDS_IN_WORDS.values())
    maps.sort(key=lambda each: (kinds.index(each.kind), int(each.layer)))
    _require_room("attention", maps)
    return maps


def maps_of_weights(
    weights: Tensor | Mapping[str, Tensor],
    *,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str],
    sentence: int,
) -> list[AttentionMap]:
    """Weights of any model: one layer, or several of the same shape by name.

    Args:
        weights: One layer, (batch, heads, query, key) or (heads, query, key), or layers by name.
        query_tokens: The queries' tokens.
        key_tokens: The keys' tokens.
        sentence: Which sentence of the batch, counted from 0.

    Raises:
        TypeError, ValueError, IndexError: If something is missing, does not fit or is no weight.
    """
    queries = Side("query", _shown("query_tokens", query_tokens))
    keys = Side("key", _shown("key_tokens", key_tokens))
    is_single = not isinstance(weights, Mapping)
    layers = {"weights": weights} if is_single else weights
    _require_layers("weights", layers)
    maps = [
        AttentionMap(
            name,
            "Attention",
            "" if is_single else printable(name),
            queries,
            keys,
            _heads(name, layer, (queries, keys), sentence),
        )
        for name, layer in layers.items()
    ]
    _require_room("weights", maps)
    return maps


def printable(text: str, *, longest: int | None = LONGEST_TOKEN) -> str:
    """A text on one line, where everything can be seen.

    Characters that would be invisible, break the line or turn the direction of reading are
    written as their escapes; an empty text and outer spaces are marked.

    Args:
        text: Whatever stands in it.
        longest: The characters that it may have; a longer one ends in an ellipsis. None for any.

    Returns:
        At most longest printable characters.
    """
    start, end = len(text) - len(text.lstrip(" ")), len(text.rstrip(" "))
    marked = "␣" * start + text[start:end] + "␣" * (len(text) - max(start, end)) or "(empty)"
    cut = marked if longest is None else marked[: longest + 1]
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in cut)
    if longest is None or len(shown) <= longest:
        return shown
    return shown[: longest - 1] + "…"


def columns(text: str) -> int:
    """How many columns of a typewriter a text takes: two for every wide character.

    Args:
        text: One line.
    """
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _require_layers(name: str, layers: Mapping[str, Tensor]) -> None:
    """Refuse what is no mapping from names to something."""
    if not isinstance(layers, Mapping):
        raise TypeError(f"{name} must map names to tensors, got {type(layers).__name__}")
    if not layers:
        raise ValueError(f"{name} must hold at least one layer, got none (has the model run?)")
    for each in layers:
        if not isinstance(each, str):
            raise TypeError(f"{name} must have texts for names, got {each!r}")


def _require_room(name: str, maps: Sequence[AttentionMap]) -> None:
    count = sum(each.weights.size for each in maps)
    if count > MOST_WEIGHTS:
        raise ValueError(f"{name} must hold at most {MOST_WEIGHTS:,} weights, got {count:,}")


def _place(name: str) -> tuple[str, int]:
    """The kind of attention and the layer, from 0, that a module's name tells."""
    found = PLACE.search(name)
    if not found:
        raise ValueError(
            "attention must have names like encoder.layers.0.self_attention "
            f"(view_weights takes any), got {printable(name, longest=LONGEST_NAME)!r}"
        )
    return next((kind, int(number)) for kind, number in found.groupdict().items() if number)


def _target(target_tokens: Sequence[str], written_tokens: Sequence[str] | None) -> Side:
    """What a decoder read and wrote; after the last token an ellipsis, unless that is told."""
    read = _shown("target_tokens", target_tokens)
    if written_tokens is None:
        return Side("target", read, (*read[1:], "…"))
    written = _shown("written_tokens", written_tokens)
    if len(written) != len(read):
        raise ValueError(
            f"written_tokens must be as many as target_tokens ({len(read)}), got {len(written)}"
        )
    return Side("target", read, written)


def _shown(name: str, tokens: Sequence[str]) -> tuple[str, ...]:
    """The tokens as they are shown, refused when they are no list of texts or too many."""
    if isinstance(tokens, str | bytes) or not isinstance(tokens, Sequence):
        raise TypeError(f"{name} must be a list of texts, got {type(tokens).__name__}")
    if not 0 < len(tokens) <= MOST_TOKENS:
        raise ValueError(f"{name} must be 1 to {MOST_TOKENS} tokens, got {len(tokens)}")
    for position, token in enumerate(tokens):
        if not isinstance(token, str):
            got = f"{type(token).__name__} at position {position}"
            raise TypeError(f"{name} must hold texts, got {got}")
    return tuple(map(printable, tokens))


def _heads(name: str, weights: Tensor, sides: tuple[Side, Side], sentence: int) -> np.ndarray:
    """One sentence's weights, shape (heads, query, key), refused when they are none."""
    name = printable(name, longest=LONGEST_NAME)
    if not isinstance(weights, Tensor) or not weights.is_floating_point():
        got = weights.dtype if isinstance(weights, Tensor) else type(weights).__name__
        raise TypeError(f"{name} must be a tensor of floating-point numbers, got {got}")
    shape = tuple(len(side.tokens) for side in sides)
    fits = weights.dim() in (3, 4) and tuple(weights.shape[-2:]) == shape and weights.numel() > 0
    if not fits:
        raise ValueError(
            f"{name} must have shape (batch, heads, {shape[0]}, {shape[1]}) or "
            f"(heads, {shape[0]}, {shape[1]}) to fit the tokens, got {tuple(weights.shape)}"
        )
    batch = weights if weights.dim() == 4 else weights.unsqueeze(0)
    require_whole("sentence", sentence, minimum=0)
    if sentence >= len(batch):
        raise IndexError(f"sentence must be below {len(batch)}, the batch's size, got {sentence}")
    numbers = batch[sentence].detach().float().cpu().numpy()
    require_zero_to_one(name, numbers)
    return numbers.clip(max=1)


def require_zero_to_one(name: str, numbers: np.ndarray) -> None:
    """Refuse, with a ValueError, numbers outside [0, 1] and NaN, except for rounding."""
    outside = numbers[~((numbers >= 0) & (numbers <= 1 + ABOVE_ONE))]
    if len(outside) > 0:
        raise ValueError(f"{name} must be from 0 to 1, got {outside[0].item()}")
