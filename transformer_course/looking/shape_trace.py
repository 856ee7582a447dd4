"""A trace: every tensor of one real forward pass, with its axes, numbers and source line.

Hooks watch from outside, so that any module can be traced, a learner's own too. They see what
goes into a module and what comes out. Attention fuses its scores and weights into one call:
these two are computed again, from the queries and keys that were recorded.
"""

import inspect
import linecache
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import PurePath

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_course.looking.recording import removed_at_the_end
from transformer_edu.generation.evaluation_mode import evaluation_mode
from transformer_edu.model.add_and_norm import AddAndNorm
from transformer_edu.model.attention import MultiHeadAttention, attention_weights, split_heads
from transformer_edu.model.decoder import Decoder, DecoderLayer
from transformer_edu.model.embeddings import PositionalEncoding, TokenEmbedding
from transformer_edu.model.encoder import Encoder, EncoderLayer
from transformer_edu.model.feed_forward import FeedForward
from transformer_edu.model.transformer import Transformer
from transformer_edu.training.machine.device import random_state_restored

MACHINERY = ("torch.nn.modules.module", "torch.utils._contextlib", __name__)  # calls our hooks
FIRST_NUMBERS = 8

HYPHENATED = {
    "around ": "Add & Norm around ",
    "self attention": "self-attention",
    "cross attention": "cross-attention",
    "feed forward": "feed-forward",
}
IDS = ("batch", "position")
VECTORS = ("batch", "position", "d_model")
WIDE = ("batch", "position", "d_ff")
QUERIES, KEYS = ("batch", "query", "d_model"), ("batch", "key", "d_model")
MASK = ("batch", "heads", "query", "key")

# What comes out of a part of a known module: the module, the part, then words and axes.
OUT_OF = {
    (MultiHeadAttention, "query_projection"): ("Q = query W_Q", QUERIES),
    (MultiHeadAttention, "key_projection"): ("K = key W_K", KEYS),
    (MultiHeadAttention, "value_projection"): ("V = value W_V", KEYS),
    (MultiHeadAttention, "output_projection"): ("times W_O", QUERIES),
    (FeedForward, "widen"): ("widened: x W₁ + b₁", WIDE),
    (FeedForward, "narrow"): ("narrowed: · W₂ + b₂", VECTORS),
    (AddAndNorm, "norm"): ("normalized", VECTORS),
    (TokenEmbedding, "table"): ("looked up", VECTORS),
    (Transformer, "output_projection"): ("logits", ("batch", "position", "vocabulary")),
}
# What goes into such a part, where it is computed between two modules.
INTO = {
    (MultiHeadAttention, "output_projection"): ("heads merged", QUERIES),
    (AddAndNorm, "norm"): ("x + sub-layer", VECTORS),
}
# The same between the two layers of a feed-forward network.
ACTIVATIONS = {F.relu: "ReLU: max(0, ·)", F.gelu: "GELU", F.silu: "SiLU: x · sigmoid(x)"}
# What attention is called with.
GIVEN = {"query": QUERIES, "key": KEYS, "value": KEYS, "key = value": KEYS}
# What comes out of a module as a whole.
WHOLE = {
    TokenEmbedding: "times √d_model",
    PositionalEncoding: "+ positions",
    AddAndNorm: "x + sub-layer",
}
KNOWN = (
    *(MultiHeadAttention, FeedForward, AddAndNorm, TokenEmbedding, PositionalEncoding),
    *(EncoderLayer, DecoderLayer, Encoder, Decoder, Transformer),
)


@dataclass(frozen=True)
class Step:
    """One tensor of the forward pass.

    Args:
        name: Path of the module that it goes into or comes out of; empty for the model itself.
        place: That module's surroundings in words.
        words: What the tensor is.
        axes: The names of its axes; empty when they are not known.
        shape: Their lengths.
        values: The first numbers of its first row: of one token.
        source: Where it is computed, as file:line.
        code: That line.
        is_input: Whether the traced model was given it.
        tensor: All of it, detached.
    """

    name: str
    place: str
    words: str
    axes: tuple[str, ...]
    shape: tuple[int, ...]
    values: tuple[float, ...]
    source: str
    code: str
    is_input: bool
    tensor: Tensor = field(repr=False, compare=False)


def trace(model: nn.Module, *inputs: object, **named_inputs: object) -> list[Step]:
    """Run a model once and note every tensor that goes into one of its modules or comes out.

    It runs without dropout and without gradients; training mode, gradients, random numbers
    and hooks are afterwards as they were.

    Args:
        model: Any module.
        inputs: What it takes.
        named_inputs: What it takes by name.

    Returns:
        One step for each new tensor, in the order of computation. A module that hands on the
        tensor of another adds no step.

    Raises:
        TypeError: If model is not a module.
    """
    recorder = _Recorder(model)
    with evaluation_mode(model), random_state_restored(), recorder.watching():
        model(*inputs, **named_inputs)
    return recorder.steps


class _Recorder:
    """Watches every module of a model and turns what passes into steps."""

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.steps: list[Step] = []
        self.seen: list[tuple[Tensor, Tensor]] = []  # kept alive, so that no memory is used twice
        self.masks: dict[str, Tensor | None] = {}
        self.projected: dict[str, Step] = {}  # the last queries, keys and values, by path

    @contextmanager
    def watching(self) -> Iterator[None]:
        hooks = []
        for path, module in self.model.named_modules():
            before, after = partial(self.before, path), partial(self.after, path)
            hooks.append(module.register_forward_pre_hook(before, with_kwargs=True))
            hooks.append(module.register_forward_hook(after))
        with removed_at_the_end(hooks):
            yield

    def parent(self, path: str) -> tuple[str, nn.Module | None]:
        above = path.rpartition(".")[0]
        return above, self.model.get_submodule(above) if path else None

    def before(self, path: str, module: nn.Module, args: tuple, kwargs: dict) -> None:
        given = _arguments(module, args, kwargs)
        above, parent = self.parent(path)
        if isinstance(module, MultiHeadAttention):
            self.masks[path] = given.get("mask")
        inside = isinstance(parent, MultiHeadAttention) and path.endswith("output_projection")
        for tensor in given.values():
            if not isinstance(tensor, Tensor) or self.is_seen(tensor):
                continue
            if inside:
                self.note_inside(above, parent, tensor)
            names = " = ".join(str(name) for name, value in given.items() if value is tensor)
            is_named = not path or names.endswith("mask")
            self.note(path, tensor, into=True, words=names if is_named else None)

    def after(self, path: str, module: nn.Module, args: tuple, output: object) -> None:
        for tensor in output if isinstance(output, tuple | list) else (output,):
            if isinstance(tensor, Tensor) and not self.is_seen(tensor):
                self.note(path, tensor, into=False)
        if isinstance(self.parent(path)[1], MultiHeadAttention):
            self.projected[path] = self.steps[-1]

    def is_seen(self, tensor: Tensor) -> bool:
        """Whether this tensor has its step already; not when it was changed in place since."""
        return any(
            tensor.shape == one.shape
            and (tensor is one or tensor.data_ptr() == one.data_ptr() != 0)
            and (tensor.is_meta or torch.equal(tensor, copy))
            for one, copy in reversed(self.seen)
        )

    def note(self, path: str, tensor: Tensor, *, into: bool, words: str | None = None) -> None:
        """One step for a tensor that a hook has met."""
        module = self.model.get_submodule(path)
        above, parent = self.parent(path)
        known, axes = name_tensor(module, parent, path.rpartition(".")[2], tensor, into=into)
        if not path and isinstance(module, MultiHeadAttention):
            axes = GIVEN.get(words, axes)
        alone = next(module.children(), None) is None
        place = place_in_words(self.model, above if alone else path)
        line = _caller() if path else _definition(module)
        step = _step((path, place, words or known), axes, tensor, line)
        self.steps.append(replace(step, is_input=into and not path))
        self.seen.append((tensor, self.steps[-1].tensor))

    def note_inside(self, path: str, attention: MultiHeadAttention, merged: Tensor) -> None:
        """What attention computes between its projections and the merged heads."""
        start = f"{path}." if path else ""
        projections = [f"{start}{name}_projection" for name in ("query", "key", "value")]
        if path not in self.masks or not all(name in self.projected for name in projections):
            return  # a learner's subclass with a different forward
        steps = [self.projected[name] for name in projections]
        place, fused = steps[0].place, _definition(attention, "fused_attention")
        query, key, value = (split_heads(step.tensor, attention.num_heads) for step in steps)
        for letter, axis, split, step in zip(
            "QKV", ("query", "key", "key"), (query, key, value), steps, strict=True
        ):
            axes = ("batch", "heads", axis, "d_head")
            line = (step.source, step.code)
            self.steps.append(_step((path, place, f"{letter} split into heads"), axes, split, line))
        wide = torch.promote_types(query.dtype, torch.float32)  # as attention_weights does
        scores = query.to(wide) @ key.to(wide).transpose(-2, -1) / math.sqrt(query.size(-1))
        weights = attention_weights(query, key, mask=self.masks[path])
        gathered = split_heads(merged, attention.num_heads)
        grid, vectors = ("batch", "heads", "query", "key"), ("batch", "heads", "query", "d_head")
        softmax = "softmax of scores" if self.masks[path] is None else "softmax under the mask"
        for words, axes, tensor in (
            ("scores: Q Kᵀ / √d_head", grid, scores),
            (softmax, grid, weights),
            ("weights times V", vectors, gathered),
        ):
            self.steps.append(_step((path, place, words), axes, tensor, fused))


def _step(
    names: tuple[str, str, str], axes: tuple[str, ...], tensor: Tensor, line: tuple[str, str]
) -> Step:
    copy = tensor.detach().clone()
    row = copy
    while row.dim() > 1 and row.numel():
        row = row[0]
    values = () if row.is_meta else tuple(row.flatten()[:FIRST_NUMBERS].tolist())
    return Step(*names, axes, tuple(tensor.shape), values, *line, False, copy)


def _arguments(module: nn.Module, args: tuple, kwargs: dict) -> dict[str, object]:
    """What a module is called with, by the names in its forward where they are known."""
    try:
        return dict(inspect.signature(module.forward).bind(*args, **kwargs).arguments)
    except (TypeError, ValueError):  # a wrong call: forward itself says what is wrong with it
        return dict(enumerate(args)) | kwargs


def _caller() -> tuple[str, str]:
    """The line that called the module whose hook is running: file:line and the code."""
    frame = sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__name__") in MACHINERY:
        frame = frame.f_back
    return _line(frame.f_globals.get("__name__"), frame.f_code.co_filename, frame.f_lineno)


def _definition(module: nn.Module, containing: str = "def forward") -> tuple[str, str]:
    """The line of a module's forward that holds some words, its first line when none does."""
    forward = inspect.unwrap(type(module).forward)
    try:
        lines, first = inspect.getsourcelines(forward)
    except (OSError, TypeError):
        return "", ""
    offset = next((index for index, line in enumerate(lines) if containing in line), 0)
    return _line(forward.__module__, inspect.getsourcefile(forward), first + offset)


def _line(module: str | None, file: str, number: int) -> tuple[str, str]:
    """file:line without the folders of this machine, and the line itself."""
    code = linecache.getline(file, number).strip()
    if module in (None, "__main__"):
        typed = file.startswith("<") or "ipykernel" in file
        return f"{'notebook' if typed else PurePath(file).name}:{number}", code
    package = module.replace(".", "/") + ("/__init__" if file.endswith("__init__.py") else "")
    return f"{package}.py:{number}", code


def in_words(name: str) -> str:
    """``self_attention`` as *self-attention*, ``my_layer`` as *my layer*, others as they are."""
    words = name.replace("_", " ").strip() if name.isidentifier() else name
    for plain, hyphenated in HYPHENATED.items():
        words = words.replace(plain, hyphenated)
    return words or name


def place_in_words(model: nn.Module, path: str) -> str:
    """``encoder.layers.0.feed_forward`` as *encoder · layer 1 · feed-forward*.

    A module that stands in several places is named after all of them.
    """
    if not path:
        return type(model).__name__
    module = model.get_submodule(path)
    everywhere = model.named_modules(remove_duplicate=False)
    return " = ".join(_one_place(model, place) for place, other in everywhere if other is module)


def _one_place(model: nn.Module, path: str) -> str:
    module, words = model, []
    for piece in path.split("."):
        parent, module = module, module.get_submodule(piece)
        if isinstance(parent, nn.ModuleList) and words:
            words[-1] = f"{words[-1].removesuffix('s')} {int(piece) + 1}"
        else:
            words.append(in_words(piece))
    return " · ".join(words)


def name_tensor(
    module: nn.Module, parent: nn.Module | None, part: str, tensor: Tensor, *, into: bool
) -> tuple[str, tuple[str, ...]]:
    """A tensor's words and axes; no axes for a module that the package does not know.

    Args:
        module: The module that it goes into or comes out of.
        parent: The module which that one is a part of.
        part: The part's name in the parent.
        tensor: The tensor.
        into: Whether it goes in.
    """
    for (kind, name), names in (INTO if into else OUT_OF).items():
        if isinstance(parent, kind) and part == name:
            return names
    if into and isinstance(parent, FeedForward) and part == "narrow":
        return ACTIVATIONS.get(parent.activation, "activation"), WIDE
    words = in_words(part) if part else type(module).__name__
    if into:
        words = f"into {words}"
    else:
        words = next((WHOLE[kind] for kind in WHOLE if isinstance(module, kind)), words)
    if not isinstance(module, KNOWN) and not isinstance(parent, KNOWN):
        return words, ()
    if tensor.dtype == torch.bool:
        return words, MASK[-tensor.dim() :] if 0 < tensor.dim() <= len(MASK) else ()
    return words, {2: IDS, 3: VECTORS, 4: MASK}.get(tensor.dim(), ())
