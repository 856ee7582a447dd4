"""What reaches what in a model: what the probes measure, and how a new model is asked."""

import re
from collections.abc import Callable

import torch
from torch import Tensor, nn

from transformer_edu.checkup.calling import CONVENTIONS, Text
from transformer_edu.checkup.subject import KINDS, LENGTH, MORE, Adapter, Subject

DECODERS = re.compile(r"CausalLM|LMHead|GPT|LanguageModel|Decoder|Llama|Mistral|Gemma", re.I)
ENCODERS = re.compile(r"MaskedLM|BERT|Encoder|Classif", re.I)
SMALLEST = 4  # tokens of the smallest vocabulary
REPEATED = 8  # texts of one repeated word


def understand(
    model: nn.Module, kind: str | None, adapter: Adapter, training_step: Callable | None
) -> Subject:
    """Find out how a model is asked: the masks' convention, the batch's axis, the vocabulary.

    Every convention that runs is scored by what a healthy model shows; the best one is taken.

    Raises:
        CheckupError: If the model cannot be asked.
    """
    subject = Subject(model, kind, adapter, training_step)
    is_guess, best, failure = subject.kind is None, None, None
    if is_guess:
        writes = getattr(model, "can_generate", lambda: hasattr(model, "generate"))
        is_decoder = bool(DECODERS.search(subject.name)) or writes()
        subject.kind = KINDS[1] if is_decoder and not ENCODERS.search(subject.name) else KINDS[2]
    for subject.swapped, subject.convention in _ways(subject):
        try:
            _learn_sizes(subject)
            scores = _scores(subject)
        except Exception as error:  # whatever a model raises when it is asked wrongly
            failure = failure or error
            continue
        is_better = best is None or sum(scores) > sum(best[0])
        if is_better and (best is None or scores[1] or not subject.swapped):
            best = scores, subject.swapped, subject.convention
        if all(best[0]):
            break
    if best is None:
        raise subject.refusal(f"it raised {type(failure).__name__}: {failure}")
    _, subject.swapped, subject.convention = best
    if subject.convention != "none" and _makes_masks(subject):
        subject.convention = "none"
    if subject.kind != KINDS[1] and not subject.knows_padding:  # it may hide the id 0
        subject.knows_padding = padding_moved(subject, stream=int(subject.has_source)) == 0
    if subject.swapped:
        subject.notes.append("The batch is the second axis: token ids are (position, batch).")
    if subject.masks:
        names = ", ".join(each.name for each in subject.masks)
        subject.notes.append(f"Given {names}: {subject.convention}.")
    if is_guess:
        _settle_kind(subject)
    return subject


def influence(subject: Subject, *, training: bool = False) -> Tensor:
    """Which answers move with which word of the text: booleans, (answering, changed position)."""
    text = subject.text(batch=1).rows([0, 0])
    texts = [text, *(subject.changed(text, position) for position in range(LENGTH))]
    before, *after = (subject.answer(each, training=training) for each in texts)
    return torch.stack([subject.moved(before, each)[0] > 0 for each in after], dim=-1).cpu()


def rows_moved(subject: Subject) -> float:
    """How far a row's answers move when the other rows are taken away."""
    text = subject.text()
    alone = [subject.answer(text.rows([row])) for row in range(len(text.ids))]
    return subject.moved(subject.answer(text), torch.cat(alone)).max().item()


def padding_moved(subject: Subject, *, stream: int = 0, left: bool = False) -> float:
    """How far the answers to real words move when padding is added to the text or the source."""
    text = subject.text(batch=2)
    before = subject.answer(text)
    after = subject.answer(subject.padded(text, stream=stream, left=left))
    is_later = left and after.size(1) > before.size(1)
    return subject.moved(before, after[:, MORE:] if is_later else after).max().item()


def repeated_words(subject: Subject) -> Text:
    """Texts of one repeated word each."""
    text, words = subject.text(batch=REPEATED), subject.words()
    each = words[torch.arange(REPEATED, device=words.device) % len(words)]
    return text._replace(ids=each.unsqueeze(1).expand_as(text.ids).contiguous())


def has_absolute_positions(subject: Subject) -> bool:
    """Whether a repeated word gets different answers at different positions."""
    answers = subject.answer(repeated_words(subject))
    return bool(subject.moved(answers, answers[:, :1].expand_as(answers)).any())


def _ways(subject: Subject) -> list[tuple[bool, str]]:
    """The batch's axis and the conventions of masks to try, the likeliest first."""
    order = list(CONVENTIONS)[not all(each.optional for each in subject.masks) :]
    if any(each.name == "attention_mask" for each in subject.masks):
        order.sort(key=lambda name: CONVENTIONS[name][0] != "ones")
    order = order if subject.masks else order[:1]
    axes = (False, True) if subject.adapter.ask is None else (False,)
    return [(swapped, convention) for swapped in axes for convention in order]


def _makes_masks(subject: Subject) -> bool:
    """Whether masks that hide nothing give other answers than none: then the model has its own."""
    if not all(each.optional for each in subject.masks):
        return False
    text, asked, answers = subject.text(batch=2), subject.convention, []
    for stream in range(1 + subject.has_source):
        text = subject.padded(text, stream=stream)
    hidden = [each if each is None or each.dtype != torch.bool else each | True for each in text]
    for subject.convention in (asked, "none"):
        with torch.no_grad():
            answer = subject.call(subject.model.eval(), Text(*hidden), hides=False)
        answers.append(subject.read(answer, text))
    subject.convention = asked
    return bool(subject.moved(*answers).any())


def _learn_sizes(subject: Subject) -> None:
    """In a first trial, learn which tables read the ids, and whether the answers are logits."""
    if subject.is_learned:
        return
    try:
        watch, answers = subject.watched(subject.text(batch=2))
    except IndexError:
        subject.sizes = subject.sizes if subject.knows_size else [SMALLEST, SMALLEST]
        watch, answers = subject.watched(subject.text(batch=2))
    if answers.size(1) == 1 and any(each.role == "labels" for each in subject.parameters):
        subject.labels = True  # without labels some models answer for the last position only
        watch, answers = subject.watched(subject.text(batch=2))
    named = subject.sizes[0]
    for stream, tables in enumerate(watch.tables):
        if tables or not subject.knows_size:
            subject.sizes[stream] = max(tables, default=answers.size(-1))
    if answers.size(-1) == named < subject.sizes[0]:  # the table has rows that no token needs
        subject.sizes[0] = named
    subject.is_logits, subject.is_learned = answers.size(-1) == subject.sizes[0], True


def _scores(subject: Subject) -> list[bool]:
    """What a healthy model shows if its masks are given as it expects them."""
    text = subject.text(batch=2)
    answers = subject.answer(text)
    scores = [bool(answers.isfinite().all())]
    try:
        scores.append(rows_moved(subject) == 0)  # its place is known to ``understand``
    except (IndexError, RuntimeError, ValueError, TypeError):  # a batch of one may fail
        scores.append(False)
    scores += [padding_moved(subject, stream=each) == 0 for each in range(1 + subject.has_source)]
    if subject.masks and not subject.has_source:  # what stands where padding is does not matter
        left = subject.padded(text, left=True)
        after = subject.answer(subject.changed(left, slice(MORE)))
        scores.append(not subject.moved(subject.answer(left), after, left.real).any())
    first, last = (
        subject.moved(answers, subject.answer(subject.changed(text, place))) for place in (0, -1)
    )
    is_causal = [] if subject.kind == KINDS[2] else [not last[:, :-1].any()]
    return [*scores, bool(first[:, -1].any()), *is_causal]


def _settle_kind(subject: Subject) -> None:
    """A model with one stream is what its influences show, where its name says nothing."""
    seen = influence(subject)
    is_encoder = bool(ENCODERS.search(subject.name)) or len(seen) == 1
    if len(seen) == 1:  # one answer for a text
        subject.kind = KINDS[2]
    elif not seen.triu(1).any() or not (seen.equal(seen.T) or is_encoder):
        subject.kind = KINDS[1]
    subject.is_asked = subject.kind == KINDS[2] and not is_encoder
