"""Probes of the training step: what its loss teaches, read from the gradients of the logits.

The step is the user's, or the loss that a model returns if it is given labels.
"""

import inspect
from typing import NamedTuple

import torch
from torch import Tensor, nn

from transformer_edu.checkup.calling import Text, named_number, tensors
from transformer_edu.checkup.report import HEALTHY, ILL, TOLD, UNTRIED, Finding
from transformer_edu.checkup.subject import START, Subject

IGNORED = (-100, -1)  # what F.cross_entropy ignores, and what nanoGPT ignores
WORDS = 6  # in the longer row
TOO_SMALL = 2.5  # times smaller than the gradient of the mean over real tokens
NO_STEP = Finding(UNTRIED, "no training step is known: check_up(model, training_step=…)")


class Taught(NamedTuple):
    """What a loss teaches: (row's ids, place of the word read, label) of each position."""

    steps: list[tuple[list[int], int, int]]
    times: float  # how many times smaller the gradient is than that of a sum over tokens


def labels(subject: Subject) -> Finding:
    taught = _taught(subject)
    if taught is None:
        return NO_STEP
    steps = [each for each in taught.steps if each[2] not in (subject.padding_id, subject.end_id)]
    found = [
        sum(row[place + ahead : place + ahead + 1] == [label] for row, place, label in steps)
        for ahead in (0, 1, 2)
    ]
    words = f"Of {len(steps)} labels {found[0]} are the word read, {found[1]} are the next word."
    if found[1] == max(found):
        return Finding(HEALTHY, words)
    if found[2] == max(found):
        return Finding(ILL, f"{words} {found[2]} are the one after it.", "labels are shifted twice")
    if subject.training_step is None and not hasattr(subject.original, "can_generate"):
        return Finding(TOLD, f"{words} Its loss wants labels that are shifted already.")
    return Finding(ILL, words, "labels are not shifted")


def ending(subject: Subject) -> Finding:
    taught = _taught(subject)
    if taught is None or subject.end_id is None:
        return NO_STEP if taught is None else Finding(UNTRIED, "no end token is known")
    count = [label for *_, label in taught.steps].count(subject.end_id)
    words = f"{count} of 2 rows have the end token among their labels."
    return (
        Finding(HEALTHY, words)
        if count > 1
        else Finding(ILL, words, "the end token is not trained")
    )


def loss_padding(subject: Subject) -> Finding:
    taught = _taught(subject)
    if taught is None or subject.end_id == subject.padding_id:
        return NO_STEP if taught is None else Finding(UNTRIED, "padding is the end token, too")
    count = [label for *_, label in taught.steps].count(subject.padding_id)
    words = f"{count} labels that are padding have a gradient."
    return Finding(ILL, words, "padding has a loss") if count else Finding(HEALTHY, words)


def entropy(subject: Subject) -> Finding:
    taught = _taught(subject)
    if taught is None:
        return NO_STEP
    times = taught.times / max(len(taught.steps), 1)
    words = f"Its gradient is {times:.2g} times smaller than that of the mean cross-entropy."
    if times > TOO_SMALL:
        return Finding(ILL, words, "the loss is not the cross-entropy")
    return Finding(HEALTHY, words)


def _taught(subject: Subject) -> Taught | None:
    """Take one training step and read the gradients of the logits; None if there is no step."""
    words = subject.words().tolist()[: 2 * WORDS - 1]
    if len(words) < WORDS + 1 or not subject.parameters or not subject.is_logits:
        return None
    start = named_number(subject.original, START)
    end = [] if subject.end_id is None else [subject.end_id]
    rows = [words[:WORDS] + end, words[: -WORDS + 2 : -1] + end]
    rows = [([start] if subject.has_source and start is not None else []) + row for row in rows]
    width = max(map(len, rows))
    full = [row + [subject.padding_id] * (width - len(row)) for row in rows]
    real = [[True] * len(row) + [False] * (width - len(row)) for row in rows]
    text = Text(*(torch.tensor(each, device=subject.device) for each in (full, real)))
    text = Text(*text[:2], *subject.text(batch=2)[2:])
    seen: list[tuple[Tensor, Tensor]] = []
    forward = inspect.signature(subject.model.forward)
    name = next(
        p.name for p in subject.parameters if p.role == ("target" if subject.has_source else "text")
    )

    def observe(module: nn.Module, args: tuple, kwargs: dict, answer: object) -> None:
        ids = forward.bind_partial(*args, **kwargs).arguments[name]
        for _, logits in tensors(answer):
            if logits.size(-1) == subject.sizes[0] and logits.requires_grad and not seen:
                logits.retain_grad()
                seen.append((ids, logits))

    hook = subject.model.train().register_forward_hook(observe, with_kwargs=True)
    try:
        with torch.enable_grad():
            loss = _loss(subject, text)
            if loss is None:
                return None
            if isinstance(loss, Tensor) and loss.requires_grad and seen and seen[0][1].grad is None:
                loss.backward()
    finally:
        hook.remove()
        subject.model.zero_grad()
    if not seen or seen[0][1].grad is None:
        return None
    ids, logits = seen[0]
    swap = (lambda each: each.transpose(0, 1)) if subject.swapped else (lambda each: each)
    ids = swap(ids)
    shape = (ids.size(1), 2, -1) if subject.swapped else (2, ids.size(1), -1)
    logits, gradient = (
        swap(each.detach().float().reshape(shape)) for each in (logits, logits.grad)
    )
    trained = gradient.abs().amax(dim=-1) > 1e-6 * gradient.abs().max()
    lowest, label = gradient.min(dim=-1)
    missing = 1 - logits.softmax(dim=-1).gather(-1, label.unsqueeze(-1)).squeeze(-1)
    steps = [
        (
            rows[i],
            rows[i].index(ids[i, j]) if ids[i, j] in rows[i] else len(rows[i]),
            int(label[i, j]),
        )
        for i, j in trained.nonzero().tolist()
    ]
    return Taught(steps, (missing / -lowest)[trained].median().item() if steps else 0.0)


def _loss(subject: Subject, text: Text) -> object:
    """The training step's loss, or the one that the model returns if it takes labels."""
    if subject.training_step is not None:
        ids = (text.source_ids, text.ids) if subject.has_source else (text.ids,)
        return subject.training_step(subject.model, *ids)
    role = next((each.name for each in subject.parameters if each.role == "labels"), None)
    if role is None:
        return None
    given = text.ids
    if role.startswith("target") or subject.has_source:  # shifted by the caller
        given = torch.cat([given[:, 1:], given[:, :1]], dim=1)
        text = text._replace(real=torch.cat([text.real[:, 1:], ~text.real[:, :1]], dim=1))
    for ignored in IGNORED:
        try:
            more = {role: given.masked_fill(~text.real, ignored)}
            answer = subject.call(subject.model, text, **more)
        except (IndexError, RuntimeError):
            continue
        return next((each for name, each in tensors(answer) if each.dim() == 0), None)
    return None
