"""Probes of the training step: what its loss teaches, read from the gradients of the logits.

The step is the user's, or the loss that a model returns if it is given labels. Each probe takes
the subject and returns what it found; probes.tsv says what it does and expects.
"""

import inspect
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_edu.checkup.calling import Text, named_number, tensors
from transformer_edu.checkup.flow_probes import Found
from transformer_edu.checkup.report import HEALTHY, TOLD, UNTRIED
from transformer_edu.checkup.subject import START, Subject, without_dropout

IGNORED = (-100, -1)  # what F.cross_entropy ignores, and what nanoGPT ignores
WORDS, FEWER = 6, 4  # in the two rows
TOO_SMALL = 2.5  # times smaller than the gradient of the mean over trained labels
NO_STEP = UNTRIED, "no training step is known: check_up(model, training_step=…)"


class Taught(NamedTuple):
    """What a loss teaches: (ids of the row, place of the word read, label) of each gradient."""

    steps: list[tuple[list[int], int, int]]
    times: float  # how many times smaller the gradient is than that of a sum over labels


def labels(subject: Subject) -> Found:
    if (taught := _taught(subject)) is None:
        return NO_STEP
    steps = [each for each in taught.steps if each[2] not in (subject.padding_id, subject.end_id)]
    same, following, after = (
        sum(row[place + ahead : place + ahead + 1] == [label] for row, place, label in steps)
        for ahead in (0, 1, 2)
    )
    words = f"Of {len(steps)} labels {same} are the word read, {following} the next, {after} later."
    if following >= max(same, after):
        return HEALTHY, words
    if after > same:
        return "labels are shifted twice", words
    if subject.training_step is None and not hasattr(subject.model, "can_generate"):
        return TOLD, f"{words} Its loss wants labels that are shifted already."
    return "labels are not shifted", words


def ending(subject: Subject) -> Found:
    return _counted(subject, subject.end_id, 2, "the end token is not trained")


def loss_padding(subject: Subject) -> Found:
    padding = None if subject.end_id == subject.padding_id else subject.padding_id
    return _counted(subject, padding, 0, "padding has a loss")


def _counted(subject: Subject, token: int | None, right: int, name: str) -> Found:
    if (taught := _taught(subject)) is None:
        return NO_STEP
    if token is None:
        return UNTRIED, "the token's id is not known"
    count = [label for *_, label in taught.steps].count(token)
    words = f"{count} labels with the id {token} have a gradient."
    return (HEALTHY if count == right else name), words


def entropy(subject: Subject) -> Found:
    if (taught := _taught(subject)) is None:
        return NO_STEP
    times = taught.times / max(len(taught.steps), 1)
    name = "the loss is not the cross-entropy" if times > TOO_SMALL else HEALTHY
    return name, f"Its gradient is {times:.2g} times smaller than that of the mean cross-entropy."


def _taught(subject: Subject) -> Taught | None:
    """Take one training step and read the gradients of the logits; None if there is no step."""
    words = subject.words().tolist()[: 2 * WORDS]
    if len(words) <= WORDS or not subject.parameters or not subject.is_logits:
        return None
    start, end = named_number(subject.model, START), subject.end_id
    before = [start] if subject.has_source and start is not None else []
    drawn = (words[:WORDS], words[::-1][:FEWER])
    rows = [[*before, *row, *([] if end is None else [end])] for row in drawn]
    full = [row + [subject.padding_id] * (len(rows[0]) - len(row)) for row in rows]
    real = [[place < len(row) for place in range(len(rows[0]))] for row in rows]
    both = (torch.tensor(each, device=subject.device) for each in (full, real))
    text, seen = Text(*both, *subject.text(batch=2)[2:]), []
    forward, role = inspect.signature(subject.model.forward), ("text", "target")[subject.has_source]
    name = next(each.name for each in subject.parameters if each.role == role)

    def observe(module: nn.Module, args: tuple, kwargs: dict, answer: object) -> None:
        for _, logits in tensors(answer):
            if logits.dim() > 1 and logits.size(-1) == subject.sizes[0] and not seen:
                logits.retain_grad()
                seen.extend((forward.bind_partial(*args, **kwargs).arguments[name], logits))

    model = subject.model.train()
    with (
        model.register_forward_hook(observe, with_kwargs=True),
        torch.enable_grad(),
        without_dropout(model),
    ):
        loss = _loss(subject, text)
        if isinstance(loss, Tensor) and loss.requires_grad and seen and seen[1].grad is None:
            loss.backward()
    model.zero_grad()
    if loss is None or not seen or seen[1].grad is None:
        return None
    ids = seen[0].T if subject.swapped else seen[0]
    shape = (*ids.shape[::-1], -1) if subject.swapped else (*ids.shape, -1)
    both = (each.detach().float().reshape(shape) for each in (seen[1], seen[1].grad))
    logits, gradient = (each.transpose(0, 1) if subject.swapped else each for each in both)
    trained = gradient.abs().amax(dim=-1) > 1e-6 * gradient.abs().max()
    lowest, label = gradient.min(dim=-1)
    missing = 1 - logits.softmax(dim=-1).gather(-1, label.unsqueeze(-1)).squeeze(-1)
    steps = []
    for i, j in trained.nonzero().tolist():
        place = rows[i].index(ids[i, j]) if ids[i, j] in rows[i] else len(rows[i])
        steps.append((rows[i], place, int(label[i, j])))
    return Taught(steps, (missing / -lowest)[trained].median().item() if steps else 0.0)


def _loss(subject: Subject, text: Text) -> object:
    """The training step's loss, or the one that the model returns if it takes labels."""
    if subject.training_step is not None:
        return subject.training_step(subject.model, *(text[2], text[0])[not subject.has_source :])
    role = next((each.name for each in subject.parameters if each.role == "labels"), "")
    given, real = text.ids, text.real
    if role.startswith("target") or subject.has_source:  # shifted by the caller
        given, real = (F.pad(each[:, 1:], (0, 1)) for each in (given, real))
    for ignored in IGNORED if role else ():
        try:
            more = {role: given.masked_fill(~real, ignored)}
            answer = subject.call(subject.model, text, **more)
            return next((each for _, each in tensors(answer) if each.dim() == 0), None)
        except (IndexError, RuntimeError):
            continue
    return None
