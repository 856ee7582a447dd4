"""The model that is examined: a copy that can be asked, and how it is asked."""

import contextlib
import copy
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor, nn

from transformer_edu.checkup import calling
from transformer_edu.checkup.calling import CONVENTIONS, Text
from transformer_edu.checkup.watch import Watch

KINDS = ("encoder-decoder", "decoder-only", "encoder-only")
SIZE = r"(tgt_|trg_|target_)?(vocab(ulary)?_?size|n_?vocab|n(um)?_?tokens?)"
PADDING = r"(\w+_)?pad(ding)?(_token)?_?(id|idx|index)"
END, START = r"(eos|end)(_token)?_(id|idx)", r"(decoder_start|start|bos|sos)(_token)?_(id|idx)"
SPECIAL = 4  # ids below are often padding, start, end and unknown
LENGTH, SOURCE_LENGTH = 7, 6  # of the probes' texts: no other axis should have these lengths
NOISE, ROUNDINGS = 1e-4, 30  # of the answers' own variation; of the largest number
ASK = """The check-up cannot ask {name}: {reason}.
Show it how in three lines; ids are (batch, position), real is False on padding:
    def ask(model, {names}):
        return model({ids})  # logits, (batch, position, vocabulary)
    check_up(model, adapter=Adapter(ask=ask, vocabulary_size=...))"""


class CheckupError(ValueError):
    """The model could not be examined; the message says what is missing."""


@dataclass(frozen=True, kw_only=True)
class Adapter:
    """What a model's signature does not tell; everything may be left out.

    Args:
        ask: Takes the model, ids and real, or for an encoder–decoder the model, source_ids,
            target_ids, source_real and target_real, each (batch, position); returns logits.
        step: Takes the model, the ids that follow and a cache (None at first), or for an
            encoder–decoder the model, source_ids, these ids and the cache; returns the logits of
            these ids and the new cache.
        generate: Takes the model, prompts or sources (batch, position) and a number of tokens;
            returns the ids that were written greedily, (batch, position).
        vocabulary_size: Number of tokens.
        padding_id: The token that fills short rows.
        end_id: The token that ends a text.
    """

    ask: Callable[..., object] | None = None
    step: Callable[..., tuple[object, object]] | None = None
    generate: Callable[..., Tensor] | None = None
    vocabulary_size: int | None = None
    padding_id: int | None = None
    end_id: int | None = None


class Subject:
    """A model under examination, which can be asked.

    ``original`` is the model itself, ``twin`` a copy. ``model`` is a copy in float32 without
    dropout, whose parameters that were all zero are small numbers: a branch that starts at zero
    shows nothing.

    Args:
        model: Reads token ids and answers with logits or vectors.
        kind: One of KINDS; None to tell it from the model.
        adapter: What the signature does not tell.

    Raises:
        CheckupError: If the model cannot be asked.
    """

    def __init__(self, model: nn.Module, kind: str | None, adapter: Adapter) -> None:
        if not isinstance(model, nn.Module):
            raise CheckupError(f"model must be a torch.nn.Module, got {type(model).__name__}")
        if kind not in (None, *KINDS):
            raise CheckupError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
        self.original, self.kind, self.adapter = model, kind, adapter
        self.name, self.notes = type(model).__name__, []
        weight = next((each for each in (*model.parameters(), *model.buffers())), torch.zeros(0))
        self.device, self.dtype = weight.device, weight.dtype
        self.convention, self.labels, self.swapped = CONVENTIONS[0], False, False
        self.drops_always = self.is_asked = self.is_logits = self.forces_end = False
        self.training_step: Callable[..., object] | None = None
        self.parameters: list[calling.Parameter] = []
        self.twin = self._copied()
        self.model = self._calmed()
        self._read_signature()
        tables = [each for each in model.modules() if isinstance(each, nn.Embedding)]
        size = adapter.vocabulary_size or calling.named_number(model, SIZE)
        self.knows_size = size is not None
        self.sizes = [size or 10, size or 10]  # of the text or target, of the source; learned later
        known = [adapter.padding_id, calling.named_number(model, PADDING)]
        known = [
            each for each in (*known, *(each.padding_idx for each in tables)) if each is not None
        ]
        self.knows_padding = bool(known) or adapter.ask is not None or bool(self.masks())
        self.padding_id = max(known[0], 0) if known else 0
        self.end_id = calling.named_number(model, END) if adapter.end_id is None else adapter.end_id

    def masks(self) -> list[str]:
        """The names of the masks that forward takes."""
        return [each.name for each in self.parameters if each.role in ("padding", "attention")]

    @property
    def has_source(self) -> bool:
        """Whether the model is an encoder–decoder."""
        return self.kind == "encoder-decoder"

    # ---- What to ask ----------------------------------------------------------------------------

    def words(self, stream: int = 0) -> Tensor:
        """Ordinary token ids, in order; stream 1 is the source."""
        avoided = {self.padding_id, self.end_id, *range(SPECIAL)}
        found = [each for each in range(min(self.sizes[stream], 200)) if each not in avoided]
        if len(found) < 3:
            found = [each for each in range(self.sizes[stream]) if each != self.padding_id]
        return torch.tensor(found, device=self.device)

    def text(self, length: int = LENGTH, *, batch: int = 3, seed: int = 0) -> Text:
        """Random words without padding, neighbors different."""
        streams = []
        for stream, size in enumerate((length, SOURCE_LENGTH)[: 1 + self.has_source]):
            words = self.words(stream)
            generator = torch.Generator().manual_seed(seed + stream)
            steps = torch.randint(
                1, len(words), (batch, size), generator=generator, device="cpu"
            ).cumsum(dim=1)
            ids = words[(steps % len(words)).to(self.device)]
            streams += [ids, torch.ones_like(ids, dtype=torch.bool)]
        return Text(*streams)

    def other(self, ids: Tensor, stream: int = 0) -> Tensor:
        """A different word in the place of each."""
        words = self.words(stream)
        return words[(torch.searchsorted(words, ids.contiguous()) + 1) % len(words)]

    def padded(self, text: Text, more: int, *, stream: int = 0, left: bool = False) -> Text:
        """The text with so many columns of padding; stream 1 is the source."""
        ids, real = text[2 * stream : 2 * stream + 2]
        room = (more, 0) if left else (0, more)
        ids = nn.functional.pad(ids, room, value=self.padding_id)
        both = [ids, nn.functional.pad(real, room, value=False)]
        return Text(*text[: 2 * stream], *both, *text[2 * stream + 2 :])

    # ---- Asking ---------------------------------------------------------------------------------

    def answer(self, text: Text, *, training: bool = False, seed: int = 0) -> Tensor:
        """The copy's answers, shape (batch, position, width)."""
        self.model.train(training)
        watch = Watch() if training or self.drops_always else contextlib.nullcontext()
        torch.manual_seed(seed)
        with torch.no_grad(), watch:
            return self.read(self.call(self.model, text), text)

    def call(self, model: nn.Module, text: Text, **more: object) -> object:
        """Whatever a model answers to a text."""
        if self.adapter.ask is not None:
            two = text.source_ids is not None
            order = (text.source_ids, text.ids, text.source_real, text.real)
            return self.adapter.ask(model, *(order if two else text[:2]))
        hides = self.kind != "encoder-only"
        given = calling.arguments(
            self.parameters, text, self.convention, causal=hides, labels=self.labels
        )
        for name, role, *_ in self.parameters if self.swapped else ():
            if role in ("text", "target"):
                given[name] = given[name].T
        return model(**given | more)

    def read(self, answer: object, text: Text) -> Tensor:
        """The logits or vectors of an answer, in float32, shape (batch, position, width)."""
        return calling.read_answer(answer, text, self.sizes[0], swapped=self.swapped).float()

    def watched(self, text: Text, *, training: bool = False) -> tuple[Watch, Tensor]:
        """The answers with what happened inside, and with gradients."""
        streams = [text.ids] if text.source_ids is None else [text.ids, text.source_ids]
        self.model.train(training)
        torch.manual_seed(0)
        with torch.enable_grad(), Watch(streams) as watch:
            return watch, self.read(self.call(self.model, text), text)

    @cached_property
    def inside(self) -> Watch:
        """What happened inside while three rows were read."""
        return self.watched(self.text())[0]

    @cached_property
    def is_random_in_training(self) -> bool:
        """Whether training mode draws random numbers for more than dropout."""
        answers = [self.answer(self.text(), training=True, seed=seed) for seed in (0, 1)]
        return bool(self.moved(*answers).any())

    def gradient(self, text: Text, chosen: Tensor, *, stream: int = 0) -> Tensor | None:
        """How much each position's vector moves the chosen answers, shape (batch, position).

        Args:
            text: What to ask.
            chosen: Which answers, shape (batch, position).
            stream: Whose vectors: 0 the text's or target's, 1 the source's.

        Returns:
            A share of the largest; None if no embedding was observed.
        """
        watch, answers = self.watched(text)
        deltas = watch.deltas[stream]
        if not deltas or not answers.requires_grad:
            return None
        generator = torch.Generator().manual_seed(1)
        weights = torch.randn(answers.shape[1:], generator=generator, device="cpu")
        total = (answers * weights.to(self.device))[chosen[:, : answers.size(1)]].sum()
        found = torch.autograd.grad(total, deltas, allow_unused=True)
        ids = text[2 * stream]
        sizes = [each.abs().amax(dim=-1) for each in found if each is not None]
        sizes = [each.T if self.swapped else each.reshape(ids.shape) for each in sizes]
        size = torch.stack(sizes).sum(dim=0) if sizes else torch.zeros(ids.shape)
        return size / size.max().clamp(min=1e-30)

    def moved(self, before: Tensor, after: Tensor, real: Tensor | None = None) -> Tensor:
        """How far answers moved, as a share of their own variation, shape (batch, position).

        What rounding can do counts as zero, and so do answers to padding.
        """
        length = min(before.size(1), after.size(1))
        before, after = before[:, :length], after[:, :length]
        real = torch.ones_like(before[..., 0]).bool() if real is None else real[:, :length]
        kept = before[real]
        scale = (kept - kept.mean(dim=0)).std().clamp(min=1e-30)
        rounding = ROUNDINGS * torch.finfo(self.dtype).eps * kept.abs().max() / scale
        size = (before - after).abs().amax(dim=-1) / scale
        return size.masked_fill(~real | ~(size > rounding.clamp(min=NOISE)), 0.0)

    # ---- Understanding --------------------------------------------------------------------------

    def _copied(self) -> nn.Module:
        try:
            return copy.deepcopy(self.original)
        except Exception as error:  # whatever a model keeps that cannot be copied
            self.notes.append(f"It cannot be copied ({type(error).__name__}): examined as it is.")
            return self.original

    def _calmed(self) -> nn.Module:
        """A copy in float32 without dropout and without parameters that are all zero."""
        if self.twin is self.original:
            return self.original
        model, self.dtype = copy.deepcopy(self.original).float(), torch.float32
        generator, woken = torch.Generator().manual_seed(2), ""
        for name, weight in model.named_parameters():
            if weight.numel() and not weight.detach().any():
                noise = torch.randn(weight.shape, generator=generator, device="cpu") / 50
                weight.data.copy_(noise)
                woken = woken or name * (weight.dim() > 1)
        if woken:
            self.notes.append(f"{woken} starts at zero: in a copy it got small numbers.")
        for module in model.modules():
            for name, value in list(vars(module).items()):
                if isinstance(value, float) and ("drop" in name or isinstance(module, nn.Dropout)):
                    setattr(module, name, 0.0)
        return model

    def _read_signature(self) -> None:
        if self.adapter.ask is None:
            try:
                self.parameters = calling.read_signature(self.original.forward)
            except (TypeError, ValueError) as error:
                raise self.refusal(str(error)) from None
            two = any(each.role == "target" for each in self.parameters)
        else:
            two = len(inspect.signature(self.adapter.ask).parameters) == 5
        if self.kind is not None and two != self.has_source:
            raise self.refusal(f"it reads {1 + two} streams of tokens, got kind={self.kind!r}")
        if two:
            self.kind = "encoder-decoder"

    def refusal(self, reason: str) -> CheckupError:
        """The error that asks for an adapter."""
        two = self.kind == "encoder-decoder"
        names = "source_ids, target_ids, source_real, target_real" if two else "ids, real"
        ids = "source_ids, target_ids" if two else "ids"
        reason = re.sub(r"\s+", " ", reason).rstrip(".")[:300]
        return CheckupError(ASK.format(name=self.name, reason=reason, names=names, ids=ids))
