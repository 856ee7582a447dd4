"""The model that is examined: copies of it that can be asked, and how they are asked."""

import contextlib
import copy
import inspect
import random
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_edu.checkup import calling
from transformer_edu.checkup.calling import Text, named_number
from transformer_edu.checkup.watch import Watch
from transformer_edu.training.machine.device import random_state_restored

KINDS = ("encoder-decoder", "decoder-only", "encoder-only")
SPECIAL = 4  # ids below are often padding, start, end and unknown
SMALLEST = 4  # tokens of the smallest vocabulary
LENGTH, SOURCE_LENGTH = 7, 6  # of the probes' texts: no other axis should have these lengths
MORE = 4  # columns of padding
NOISE, ROUNDINGS = 1e-4, 30  # of the answers' own variation; of the largest number
ASK = """The check-up cannot ask {name}: {reason}.
Show it how in three lines; ids are (batch, position), real is False on padding:
    def ask(model, {names}):  # its forward may want names, a dictionary, another order of axes
        return model({ids})  # logits, (batch, position, vocabulary)
    check_up(model, adapter=Adapter(ask=ask, vocabulary_size=...))"""


class CheckupError(ValueError):
    """The model could not be examined; the message says what is missing."""


class UntriedError(Exception):
    """A probe that could not be tried; the message says why."""


def require(is_possible: object, reason: str) -> None:
    """Raise an UntriedError with this reason unless a probe can be tried."""
    if not is_possible:
        raise UntriedError(reason)


@dataclass(frozen=True, kw_only=True)
class Adapter:
    """What a model's signature does not tell; everything may be left out.

    An encoder–decoder's functions take the arguments in brackets, too.

    Args:
        ask: Takes model, ids, real, or for an encoder–decoder model, source_ids, target_ids,
            source_real, target_real, each (batch, position); returns the logits.
        step: Takes model, [source_ids], the ids that follow, and a cache, which is None at first;
            returns the logits of these ids and the new cache.
        generate: Takes model, prompts or sources, and a number of tokens; returns the ids that
            were written greedily, (batch, position).
        vocabulary_size, padding_id, end_id: The number of tokens, and the ids of two of them.
    """

    ask: Callable[..., object] | None = None
    step: Callable[..., tuple[object, object]] | None = None
    generate: Callable[..., Tensor] | None = None
    vocabulary_size: int | None = None
    padding_id: int | None = None
    end_id: int | None = None


class Subject:
    """A model under examination, as ``borrowed`` lends it; the arguments are ``check_up``'s."""

    def __init__(
        self, model: nn.Module, kind: str | None, adapter: Adapter, training_step: Callable | None
    ) -> None:
        self.model, self.adapter, self.training_step = model, adapter, training_step
        self.name, self.notes, self.convention = type(model).__name__, [], "none"
        self.greed, self.shifted = "greedily", False  # how it was asked to generate; its labels
        self.device = next((each.device for each in model.parameters()), torch.device("cpu"))
        self.labels = self.swapped = self.is_asked = self.is_logits = False
        self.drops_always = True  # until it is known: noise says nothing of masks
        self._read_signature(kind)
        norms = [each for each in model.modules() if "Norm" in type(each).__name__]
        scales = [weight.flatten() for each in norms for weight in each.parameters(recurse=False)]
        self.is_fresh = bool(scales) and all((each == each[0]).all() for each in scales)
        generator, asleep = torch.Generator().manual_seed(2), []
        for name, weight in model.named_parameters():  # a branch of zeros shows nothing
            if weight.numel() and not weight.detach().any():
                asleep += [name] if weight.dim() > 1 else []
                weight.data.copy_(torch.randn(weight.shape, generator=generator, device="cpu") / 50)
        if asleep:
            words = f"{len(asleep)} matrices start at zero, such as {asleep[0]}"
            self.notes.append(f"{words}: they were examined with small numbers.")
        attributes = [each for module in model.modules() for each in vars(module).items()]
        rates = [each for name, each in attributes if name == "p" or "drop" in name]
        self.dropout_rate = max((x for x in rates if isinstance(x, float) and x < 1), default=0.0)
        size = adapter.vocabulary_size or named_number(model, "vocabulary size")
        self.known_size, self.sizes = size, [size or SMALLEST] * 2  # of the text, of the source
        padding_id, end_id = (named_number(model, each) for each in ("padding id", "end id"))
        padding_id = padding_id if adapter.padding_id is None else adapter.padding_id
        self.end_id = end_id if adapter.end_id is None else adapter.end_id
        self.knows_padding = bool(padding_id is not None or adapter.ask or self.masks)
        self.padding_id = max(padding_id or 0, 0)

    def _read_signature(self, kind: str | None) -> None:
        self.parameters, self.has_source = [], kind == KINDS[0]
        try:
            if self.adapter.ask is None:
                self.parameters = calling.read_signature(self.model.forward)
            two = len(inspect.signature(self.adapter.ask or (lambda: None)).parameters) == 5
        except (TypeError, ValueError) as error:
            raise self.refusal(str(error)) from None
        two = two or any(each.role == "target" for each in self.parameters)
        if kind is not None and two != self.has_source:
            raise self.refusal(f"it reads {1 + two} streams of tokens, got kind={kind!r}")
        self.has_source, self.kind = two, KINDS[0] if two else kind
        self.masks = [each for each in self.parameters if each.role in ("padding", "attention")]

    def refusal(self, reason: str) -> CheckupError:
        """The error that asks for an adapter."""
        ids = "source_ids, target_ids" if self.has_source else "ids"
        names = f"{ids}, source_real, target_real" if self.has_source else "ids, real"
        reason = re.sub(r"\s+", " ", reason).rstrip(".")[:300]
        return CheckupError(ASK.format(name=self.name, reason=reason, names=names, ids=ids))

    def words(self, stream: int = 0) -> Tensor:
        """Ordinary token ids, in order."""
        special = {self.padding_id, self.end_id, *range(SPECIAL)}
        found = [each for each in range(min(self.sizes[stream], 200)) if each not in special]
        if len(found) < 3:
            found = [each for each in range(self.sizes[stream]) if each != self.padding_id]
        return torch.tensor(found, device=self.device)

    def text(self, length: int = LENGTH, *, batch: int = 3) -> Text:
        """Random words without padding, neighbors different."""
        streams = []
        for stream, size in enumerate((length, SOURCE_LENGTH)[: 1 + self.has_source]):
            words, generator = self.words(stream), torch.Generator().manual_seed(stream)
            steps = torch.randint(1, len(words), (batch, size), generator=generator, device="cpu")
            streams.append(words[(steps.cumsum(dim=1) % len(words)).to(self.device)])
        return Text.of(*streams)

    def changed(self, text: Text, position: int | slice, *, stream: int = 0) -> Text:
        """The text with different words at a position."""
        (ids, real), words = text.stream(stream), self.words(stream)
        ids, old = ids.clone(), ids[:, position].contiguous()
        ids[:, position] = words[(torch.searchsorted(words, old) + 1) % len(words)]
        return text.replaced(stream, ids, real)

    def padded(self, text: Text, *, stream: int = 0, left: bool = False) -> Text:
        """The text with MORE columns of padding."""
        (ids, real), room = text.stream(stream), (MORE, 0) if left else (0, MORE)
        ids = F.pad(ids, room, value=self.padding_id)
        return text.replaced(stream, ids, F.pad(real, room, value=False))

    def answer(
        self, text: Text, *, training: bool = False, drops: bool = False, seed: int = 0
    ) -> Tensor:
        """The answers, (batch, position, width); without dropout unless it ``drops``."""
        is_quiet = (training or self.drops_always) and not drops
        torch.manual_seed(seed)
        self.model.train(training)
        with torch.no_grad(), Watch() if is_quiet else contextlib.nullcontext():
            return self.read(self.call(text), text)

    def call(self, text: Text, *, hides: bool = True, **more: object) -> object:
        """Whatever a model answers to a text; without ``hides`` masks show it the future."""
        if self.adapter.ask is not None:
            both = (text.source_ids, text.ids, text.source_real, text.real)
            return self.adapter.ask(self.model, *(both if self.has_source else both[1::2]))
        how = {"causal": hides and self.kind != KINDS[2], "labels": self.labels}
        given = calling.arguments(self.parameters, text, self.convention, **how)
        for name, role, _ in self.parameters if self.swapped else ():
            if role in ("text", "target", self.swapped) and name in given:
                given[name] = given[name].T
        return self.model(**given | more)

    def read(self, answer: object, text: Text) -> Tensor:
        """The logits or vectors of an answer, in float32, shape (batch, position, width)."""
        return calling.read_answer(answer, text, self.sizes[0], swapped=self.swapped).float()

    def watched(self, text: Text) -> tuple[Watch, Tensor]:
        """What happened inside while a text was read, and the answers with gradients."""
        torch.manual_seed(0)
        self.model.eval()
        with Watch([each for each in text[::2] if each is not None]) as watch:
            return watch, self.read(self.call(text), text)

    @cached_property
    def inside(self) -> Watch:
        """What happened inside while three rows were read."""
        return self.watched(self.text())[0]

    def gradient(self, text: Text, chosen: Tensor, *, stream: int = 0) -> Tensor:
        """How much each position's vector moves the chosen answers, as a share of the largest."""
        watch, answers = self.watched(text)
        size = torch.zeros_like(text.stream(stream)[0], dtype=torch.float)
        if watch.deltas[stream] and answers.requires_grad:
            total = answers.sin()[chosen[:, : answers.size(1)]].sum()  # any function of them
            for each in torch.autograd.grad(total, watch.deltas[stream], materialize_grads=True):
                size = size + each.abs().amax(dim=-1)
        return size / size.max().clamp(min=1e-30)

    def moved(self, before: Tensor, after: Tensor, real: Tensor | None = None) -> Tensor:
        """How far answers moved, as a share of their variation; rounding and padding are zero."""
        length = min(before.size(1), after.size(1))
        before, after = before[:, :length], after[:, :length]
        real = torch.ones_like(before[..., 0]).bool() if real is None else real[:, :length]
        kept = before[real]
        scale = (kept - kept.mean(dim=0)).std().clamp(min=1e-30)
        rounding = ROUNDINGS * torch.finfo(torch.float32).eps * kept.abs().max() / scale
        size = (before - after).abs().amax(dim=-1) / scale
        return size.masked_fill(~real | ~(size > rounding.clamp(min=NOISE)), 0.0)


@contextlib.contextmanager
def borrowed(model: nn.Module, dtype: torch.dtype) -> Iterator[None]:
    """Inside the block weights and buffers are copies of this type; then all is as it was."""
    parts, states = [*model.modules()], (random.getstate(), np.random.get_state())
    items = [each for part in parts for each in (vars(part), *vars(part).values())]
    held = [(each, copy.copy(each)) for each in items if type(each) in (dict, list)]
    numbers = [(x, x.data, x.grad) for x in (*model.parameters(), *model.buffers())]
    try:
        for each, data, _ in numbers:
            each.grad = None
            each.data = data.to(dtype if data.is_floating_point() else data.dtype, copy=True)
        with random_state_restored(), warnings.catch_warnings(record=True):
            yield
    finally:
        for each, content in held:
            each.clear()
            each.update(content) if isinstance(each, dict) else each.extend(content)
        for each, data, gradient in numbers:
            each.grad = None
            each.data, each.grad = data, gradient
        random.setstate(states[0])
        np.random.set_state(states[1])
