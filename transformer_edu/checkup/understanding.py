"""How a new model is asked: the masks' convention, the batch's axis, the vocabulary, the kind."""

from contextlib import suppress
from itertools import product

import torch

from transformer_edu.checkup import flow_probes as flow
from transformer_edu.checkup.calling import CONVENTIONS, NAMES, Text
from transformer_edu.checkup.report import HEALTHY
from transformer_edu.checkup.subject import KINDS, LENGTH, MORE, Subject
from transformer_edu.checkup.watch import Watch


def understand(subject: Subject) -> None:
    """Find the convention by which a model seems healthiest, and its kind."""
    is_guess, best, failure, said = subject.kind is None, None, None, "it raised"
    if is_guess:
        writes = getattr(subject.model, "can_generate", lambda: hasattr(subject.model, "generate"))
        is_decoder = NAMES["class of a decoder"].search(subject.name) or writes()
        is_encoder = NAMES["class of an encoder"].search(subject.name)
        subject.kind = KINDS[1] if is_decoder and not is_encoder else KINDS[2]
    axes = (False, True, "padding")[: 2 + bool(subject.masks) if subject.parameters else 1]
    for way in product(axes, _conventions(subject)):
        subject.swapped, subject.convention = way
        try:
            _learn_sizes(subject)
            scores = _scores(subject)
        except Exception as error:  # whatever a model raises when it is asked wrongly
            failure = failure or (error, way)
            continue
        if best is None or (sum(scores) > sum(best[0]) and (scores[0] or not subject.swapped)):
            best = scores, way  # rows that see each other are no sign of a batch on axis 1
        if all(best[0]):
            break
    if failure and not failure[1][0] and (best is None or best[1][0]):
        subject.swapped, subject.convention = failure[1]
        with suppress(Exception):  # three words may have positions where more have none
            subject.answer(subject.text(3, batch=2))
            best, said = None, f"it must answer at {LENGTH + MORE} positions, and raised"
    if best is None:
        raise subject.refusal(f"{said} {type(failure[0]).__name__}: {failure[0]}")
    subject.swapped, subject.convention = best[1]
    if subject.convention != "none" and _makes_masks(subject):
        subject.convention = "none"
    if subject.swapped:
        what = "token ids" if subject.swapped is True else "token ids and masks"
        subject.notes.append(f"The batch is the second axis: {what} are (position, batch).")
    if subject.masks:
        names = ", ".join(each.name for each in subject.masks)
        subject.notes.append(f"Given {names}: {subject.convention}.")
    if is_guess:
        _settle_kind(subject)


def _conventions(subject: Subject) -> list[str]:
    """The conventions of masks to try, the likeliest first."""
    order = list(CONVENTIONS)[not all(each.optional for each in subject.masks) :]
    if any(each.name == "attention_mask" for each in subject.masks):
        order.sort(key=lambda name: CONVENTIONS[name]["padding mask"] != "ones")
    return order if subject.masks else order[:1]


def _learn_sizes(subject: Subject) -> None:
    """Learn from a trial which tables read the ids, and whether the answers are logits."""
    watch, answers = subject.watched(subject.text(batch=2))
    if answers.size(1) == 1 and any(each.role == "labels" for each in subject.parameters):
        with suppress(Exception):  # a classifier wants other labels
            subject.labels = True  # without labels some models answer for the last position only
            watch, answers = subject.watched(subject.text(batch=2))
        subject.labels = answers.size(1) > 1
    for stream, tables in enumerate(watch.tables):  # a table may have rows that no token needs
        size = max(tables, default=subject.known_size or answers.size(-1))
        subject.sizes[stream] = min(size, subject.known_size or size)
    subject.is_logits = answers.size(-1) == subject.sizes[0]


def _scores(subject: Subject) -> list[bool]:
    """What a healthy model shows if its masks are given as it expects them."""
    seen, two = flow.influence(subject), subject.has_source
    found = [probe(subject) == HEALTHY for probe in (flow.neighbors, flow.finite, flow.padding)]
    other = flow.padding(subject, stream=int(two), left=not two)
    found.append(not {"left padding is visible", "source padding is visible"} & {*other})
    return [*found, bool(seen[-1, 0]), subject.kind == KINDS[2] or not seen.triu(1).any()]


def _makes_masks(subject: Subject) -> bool:
    """Whether masks that hide nothing give other answers than none: then the model has its own."""
    if not all(each.optional for each in subject.masks):
        return False
    subject.model.eval()
    text, asked, answers = subject.text(batch=2), subject.convention, []
    for stream in range(1 + subject.has_source):
        text = subject.padded(text, stream=stream)
    text = Text.of(*(each for each in text[::2] if each is not None))
    more = {each.name: None for each in subject.parameters if each.role == "positions"}
    for subject.convention in ("none", asked):
        torch.manual_seed(0)
        with torch.no_grad(), Watch():  # without dropout
            answers.insert(0, subject.read(subject.call(text, hides=False, **more), text))
    return bool(subject.moved(*answers).any())


def _settle_kind(subject: Subject) -> None:
    """A model with one stream is what its influences show, where its name says nothing."""
    seen, name = flow.influence(subject), NAMES["class of an encoder"].search(subject.name)
    is_encoder = bool(name) or len(seen) == 1
    if len(seen) == 1:  # one answer for a text
        subject.kind = KINDS[2]
    elif not seen.triu(1).any() or not (seen.equal(seen.T) or is_encoder):
        subject.kind = KINDS[1]
    subject.is_asked = subject.kind == KINDS[2] and not is_encoder
