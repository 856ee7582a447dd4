"""What reaches what in a model: the measurements behind the probes, and how to ask a new model."""

import re

import torch
from torch import Tensor, nn

from transformer_edu.checkup.calling import CONVENTIONS, Convention, Text
from transformer_edu.checkup.subject import KINDS, Adapter, Subject

DECODERS = re.compile(r"CausalLM|LMHead|GPT|LanguageModel|Decoder|Llama|Mistral|Gemma", re.I)
ENCODERS = re.compile(r"MaskedLM|BERT|Encoder|Classif", re.I)
MORE, SMALLEST = 4, 4  # columns of padding; tokens of the smallest vocabulary


def understand(model: nn.Module, kind: str | None, adapter: Adapter) -> Subject:
    """Find out how a model is asked: the masks' convention, the batch's axis, the vocabulary.

    Every convention that runs is scored by what a healthy model shows; the best one is taken.

    Raises:
        CheckupError: If the model cannot be asked.
    """
    subject = Subject(model, kind, adapter)
    is_guess = subject.kind is None
    if is_guess:
        writes = getattr(model, "can_generate", lambda: hasattr(model, "generate"))
        is_decoder = bool(DECODERS.search(subject.name)) or writes()
        subject.kind = KINDS[1] if is_decoder and not ENCODERS.search(subject.name) else KINDS[2]
    best, failure = (), None
    for swapped in (False, True) if adapter.ask is None else (False,):
        for convention in _conventions(subject):
            subject.swapped, subject.convention = swapped, convention
            try:
                _learn_sizes(subject)
                found = (_score(subject), swapped, convention)
            except Exception as error:  # whatever a model raises when it is asked wrongly
                failure = failure or error
                continue
            best = found if not best or sum(found[0]) > sum(best[0]) else best
            if all(best[0]):
                break
        if best and all(best[0]):
            break
    if not best:
        raise subject.refusal(f"it raised {type(failure).__name__}: {failure}")
    _, subject.swapped, subject.convention = best
    if subject.swapped:
        subject.notes.append("The batch is the second axis: token ids are (position, batch).")
    if subject.masks():
        subject.notes.append(f"Given {', '.join(subject.masks())}: {subject.convention.name}.")
    if is_guess and not subject.has_source:
        _settle_kind(subject)
    return subject


def influence(subject: Subject, *, training: bool = False) -> Tensor:
    """Which answers move with which token of the text: booleans, (answering, changed position)."""
    text = subject.text(batch=1).rows([0, 0])
    before = subject.answer(text, training=training)
    columns = [
        subject.moved(before, subject.answer(change(subject, text, position), training=training))
        for position in range(text.ids.size(1))
    ]
    return torch.stack([each[0] > 0 for each in columns], dim=-1).cpu()


def change(subject: Subject, text: Text, position: int | slice, *, stream: int = 0) -> Text:
    """The text with different words at a position; stream 1 is the source."""
    ids = text[2 * stream].clone()
    ids[:, position] = subject.other(ids[:, position], stream)
    return Text(*text[: 2 * stream], ids, *text[2 * stream + 1 :])


def rows_moved(subject: Subject, *, training: bool = False) -> float:
    """How far a row's answers move when the other rows are taken away."""
    text = subject.text()
    together = subject.answer(text, training=training)
    alone = [subject.answer(text.rows([row]), training=training) for row in range(len(text.ids))]
    return subject.moved(together, torch.cat(alone)).max().item()


def padding_moved(subject: Subject, *, stream: int = 0, left: bool = False) -> float:
    """How far the answers to real tokens move when padding is added to the text or the source."""
    text = subject.text(batch=2)
    before = subject.answer(text)
    after = subject.answer(subject.padded(text, MORE, stream=stream, left=left))
    if left and stream == 0 and after.size(1) > before.size(1):
        after = after[:, MORE:]
    return subject.moved(before, after).max().item()


def _conventions(subject: Subject) -> list[Convention]:
    """The conventions to try, the likeliest first."""
    names = subject.masks()
    if not names:
        return [CONVENTIONS[0]]
    kinds = [each for each in subject.parameters if each.role in ("padding", "attention")]
    order = list(CONVENTIONS[not all(each.optional for each in kinds) :])
    if "attention_mask" in names:
        order.sort(key=lambda each: each.padding != "ones")
    return order


def _learn_sizes(subject: Subject) -> None:
    """The sizes of the tables that read the ids, seen in a trial with the smallest ids."""
    if subject.knows_size is None:
        return  # they have been learned
    try:
        watch, answers = subject.watched(subject.text(batch=2))
    except IndexError:
        if subject.knows_size or subject.sizes[0] <= SMALLEST:
            raise
        subject.sizes = [SMALLEST, SMALLEST]
        watch, answers = subject.watched(subject.text(batch=2))
    if answers.size(1) == 1 and any(each.role == "labels" for each in subject.parameters):
        subject.labels = True  # without labels some models answer for the last position only
        watch, answers = subject.watched(subject.text(batch=2))
    for stream, tables in enumerate(watch.tables):
        if tables:
            subject.sizes[stream] = max(tables)
        elif not subject.knows_size:
            subject.sizes[stream] = answers.size(-1)
    subject.is_logits = answers.size(-1) == subject.sizes[0]
    subject.knows_size = None


def _score(subject: Subject) -> list[bool]:
    """What a healthy model shows if its masks are given as it expects them."""
    text = subject.text(batch=2)
    answers = subject.answer(text)
    scores = [bool(answers.isfinite().all()), rows_moved(subject) == 0]
    scores += [padding_moved(subject, stream=each) == 0 for each in range(1 + subject.has_source)]
    if subject.masks() and not subject.has_source:  # what stands where padding is does not matter
        left = subject.padded(text, MORE, left=True)
        after = subject.answer(change(subject, left, slice(MORE)))
        scores.append(not subject.moved(subject.answer(left), after, left.real).any())
    last = subject.moved(answers, subject.answer(change(subject, text, -1)))
    first = subject.moved(answers, subject.answer(change(subject, text, 0)))
    scores.append(bool(first[:, -1].any()))
    return scores + ([not last[:, :-1].any()] if subject.kind != KINDS[2] else [])


def _settle_kind(subject: Subject) -> None:
    """A model with one stream is what its influences show, where its name says nothing."""
    seen = influence(subject)
    is_encoder = bool(ENCODERS.search(subject.name))
    if not seen.triu(1).any() or not (seen.equal(seen.T) or is_encoder):
        subject.kind = KINDS[1]
    elif subject.kind == KINDS[2]:
        subject.is_asked = not is_encoder
