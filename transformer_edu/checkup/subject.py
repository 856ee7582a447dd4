"""The model that is examined: copies of it that can be asked, and how they are asked."""

import contextlib
import copy
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_edu.checkup import calling
from transformer_edu.checkup.calling import Text, named_number
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
    """A model under examination. ``original`` is the model itself.

    ``model`` is asked: a copy in float32, in which parameters that are all zero become small
    numbers, because a branch that starts at zero shows nothing. What cannot be copied is asked
    itself.

    Args:
        model: Reads token ids and answers with logits or vectors.
        kind: One of KINDS; None to tell it from the model.
        adapter: What the signature does not tell.
        training_step: As for ``check_up``.

    Raises:
        CheckupError: If the model cannot be asked.
    """

    def __init__(
        self, model: nn.Module, kind: str | None, adapter: Adapter, training_step: Callable | None
    ) -> None:
        if not isinstance(model, nn.Module):
            raise CheckupError(f"model must be a torch.nn.Module, got {type(model).__name__}")
        if kind not in (None, *KINDS):
            raise CheckupError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
        self.original, self.kind, self.adapter = model, kind, adapter
        self.training_step, self.name, self.notes = training_step, type(model).__name__, []
        weight = next((each for each in (*model.parameters(), *model.buffers())), torch.zeros(0))
        self.device, self.convention = weight.device, "none"
        self.labels = self.swapped = self.is_asked = self.is_logits = False
        self.drops_always = self.is_learned = False
        rates = [rate for each in model.modules() for rate in dropout_rates(each).values()]
        self.dropout_rate = max((rate for rate in rates if rate < 1), default=0.0)
        self._copy()
        self._read_signature()
        tables = [each.padding_idx for each in model.modules() if isinstance(each, nn.Embedding)]
        size = adapter.vocabulary_size or named_number(model, SIZE)
        self.sizes = [size or 10, size or 10]  # of the text or target, of the source
        self.knows_size = size is not None
        known = [adapter.padding_id, named_number(model, PADDING), *tables]
        known = [each for each in known if each is not None]
        self.knows_padding = bool(known) or adapter.ask is not None or bool(self.masks)
        self.padding_id = max(known[0], 0) if known else 0
        self.end_id = named_number(model, END) if adapter.end_id is None else adapter.end_id

    def _copy(self) -> None:
        try:
            self.model, self.precision = copy.deepcopy(self.original).float(), torch.float32
        except Exception as error:  # whatever a model keeps that cannot be copied
            self.ask_itself(f"It cannot be copied ({type(error).__name__})")
            return
        generator, woken = torch.Generator().manual_seed(2), []
        for name, weight in self.model.named_parameters():
            if weight.numel() and not weight.detach().any():
                noise = torch.randn(weight.shape, generator=generator, device="cpu") / 50
                weight.data.copy_(noise)
                woken += [name] if weight.dim() > 1 else []
        if woken:
            words = f"{len(woken)} matrices start at zero, such as {woken[0]}: in a copy they got "
            self.notes.append(f"{words}small numbers.")

    def ask_itself(self, why: str) -> None:
        """Examine the model itself, not a copy."""
        weight = next(self.original.parameters(), torch.zeros(0))
        self.model, self.precision = self.original, weight.dtype
        self.notes = [f"{why}: the model itself was asked, and is left as it was."]

    def _read_signature(self) -> None:
        self.parameters: list[calling.Parameter] = []
        if self.adapter.ask is None:
            try:
                found = calling.read_signature(self.original.forward)
            except (TypeError, ValueError) as error:
                raise self.refusal(str(error)) from None
            two = any(each.role == "target" for each in found)
            own = [
                e for e in found if e.optional and callable(getattr(self.original, e.name, None))
            ]
            self.parameters = [each for each in found if each not in own]  # it makes its own masks
        else:
            two = len(inspect.signature(self.adapter.ask).parameters) == 5
        if self.kind is not None and two != self.has_source:
            raise self.refusal(f"it reads {1 + two} streams of tokens, got kind={self.kind!r}")
        self.kind = KINDS[0] if two else self.kind

    @property
    def has_source(self) -> bool:
        """Whether the model is an encoder–decoder."""
        return self.kind == KINDS[0]

    @property
    def masks(self) -> list[str]:
        """The names of the masks that forward takes."""
        return [each.name for each in self.parameters if each.role in ("padding", "attention")]

    def refusal(self, reason: str) -> CheckupError:
        """The error that asks for an adapter."""
        names, ids = "ids, real", "ids"
        if self.has_source:
            names, ids = (
                "source_ids, target_ids, source_real, target_real",
                "source_ids, target_ids",
            )
        reason = re.sub(r"\s+", " ", reason).rstrip(".")[:300]
        return CheckupError(ASK.format(name=self.name, reason=reason, names=names, ids=ids))

    # ---- What to ask ----------------------------------------------------------------------------

    def words(self, stream: int = 0) -> Tensor:
        """Ordinary token ids, in order; stream 1 is the source."""
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
            drawn = (batch, size)
            steps = torch.randint(1, len(words), drawn, generator=generator, device="cpu")
            ids = words[(steps.cumsum(dim=1) % len(words)).to(self.device)]
            streams += [ids, torch.ones_like(ids, dtype=torch.bool)]
        return Text(*streams)

    def changed(self, text: Text, position: int | slice, *, stream: int = 0) -> Text:
        """The text with different words at a position; stream 1 is the source."""
        ids, words = text[2 * stream].clone(), self.words(stream)
        old = ids[:, position].contiguous()
        ids[:, position] = words[(torch.searchsorted(words, old) + 1) % len(words)]
        return Text(*text[: 2 * stream], ids, *text[2 * stream + 1 :])

    def padded(self, text: Text, more: int, *, stream: int = 0, left: bool = False) -> Text:
        """The text with so many columns of padding; stream 1 is the source."""
        ids, real = text[2 * stream : 2 * stream + 2]
        room = (more, 0) if left else (0, more)
        both = F.pad(ids, room, value=self.padding_id), F.pad(real, room, value=False)
        return Text(*text[: 2 * stream], *both, *text[2 * stream + 2 :])

    # ---- Asking ---------------------------------------------------------------------------------

    def answer(self, text: Text, *, training: bool = False, seed: int = 0) -> Tensor:
        """The answers without dropout, shape (batch, position, width)."""
        is_quiet = training or self.drops_always
        quiet = without_dropout(self.model) if is_quiet else contextlib.nullcontext()
        torch.manual_seed(seed)
        with torch.no_grad(), quiet:
            return self.read(self.call(self.model.train(training), text), text)

    def differences(self, *, training: bool, seeds: tuple[int, ...]) -> list[Tensor]:
        """How far answers with dropout and another seed are from those with the first seed."""
        text, answers, states = self.text(), [], []
        for seed in seeds:
            torch.manual_seed(seed)
            with torch.no_grad():
                answers.append(self.read(self.call(self.model.train(training), text), text))
            states.append(torch.get_rng_state())
        if seeds[0] != seeds[-1] and not training and states[0].equal(states[-1]):
            self.notes.append("It sets torch's global random seed while it answers.")
        return [self.moved(answers[0], each).max() for each in answers[1:]]

    def call(self, model: nn.Module, text: Text, *, hides: bool = True, **more: object) -> object:
        """Whatever a model answers to a text; without ``hides`` masks show it the future."""
        if self.adapter.ask is not None:
            both = (text.source_ids, text.ids, text.source_real, text.real)
            return self.adapter.ask(model, *(both if self.has_source else both[1::2]))
        hides = hides and self.kind != KINDS[2]
        given = calling.arguments(
            self.parameters, text, self.convention, causal=hides, labels=self.labels
        )
        for name, role, _ in self.parameters if self.swapped else ():
            if role in ("text", "target"):
                given[name] = given[name].T
        return model(**given | more)

    def read(self, answer: object, text: Text) -> Tensor:
        """The logits or vectors of an answer, in float32, shape (batch, position, width)."""
        return calling.read_answer(answer, text, self.sizes[0], swapped=self.swapped).float()

    def watched(self, text: Text) -> tuple[Watch, Tensor]:
        """What happened inside while a text was read, and the answers with gradients."""
        torch.manual_seed(0)
        with torch.enable_grad(), Watch([each for each in text[::2] if each is not None]) as watch:
            return watch, self.read(self.call(self.model.eval(), text), text)

    @cached_property
    def inside(self) -> Watch:
        """What happened inside while three rows were read."""
        return self.watched(self.text())[0]

    @cached_property
    def training_note(self) -> str:
        """What to say if training mode draws random numbers for more than dropout; else empty."""
        answers = [self.answer(self.text(), training=True, seed=seed) for seed in (0, 1)]
        is_random = self.moved(*answers).any()
        return " Training mode is random, and was not compared." if is_random else ""

    def gradient(self, text: Text, chosen: Tensor, *, stream: int = 0) -> Tensor:
        """How much each position's vector moves the chosen answers, as a share of the largest.

        Args:
            text: What to ask.
            chosen: Which answers, shape (batch, position).
            stream: Whose vectors: 0 the text's or target's, 1 the source's.

        Returns:
            Shape (batch, position); zero if no embedding was observed.
        """
        watch, answers = self.watched(text)
        size, deltas = torch.zeros_like(text[2 * stream], dtype=torch.float), watch.deltas[stream]
        if deltas and answers.requires_grad:
            generator = torch.Generator().manual_seed(1)
            weights = torch.randn(answers.shape[1:], generator=generator, device="cpu")
            total = (answers * weights.to(self.device))[chosen[:, : answers.size(1)]].sum()
            for each in torch.autograd.grad(total, deltas, allow_unused=True):
                if each is not None:
                    each = each.abs().amax(dim=-1)
                    size = size + (each.T if self.swapped else each.reshape(size.shape))
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
        rounding = ROUNDINGS * torch.finfo(self.precision).eps * kept.abs().max() / scale
        size = (before - after).abs().amax(dim=-1) / scale
        return size.masked_fill(~real | ~(size > rounding.clamp(min=NOISE)), 0.0)


def dropout_rates(module: nn.Module) -> dict[str, float]:
    """The rates of dropout among a module's own attributes."""
    is_dropout = isinstance(module, nn.Dropout)
    items = vars(module).items()
    return {k: v for k, v in items if isinstance(v, float) and ("drop" in k or is_dropout)}


@contextlib.contextmanager
def without_dropout(model: nn.Module) -> Iterator[None]:
    """Inside the block all rates of dropout are zero, and F.dropout does nothing."""
    rates = [(each, dropout_rates(each)) for each in model.modules()]
    try:
        for module, found in rates:
            vars(module).update(dict.fromkeys(found, 0.0))
        with Watch():
            yield
    finally:
        for module, found in rates:
            vars(module).update(found)
