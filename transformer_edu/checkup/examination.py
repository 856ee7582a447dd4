"""``check_up``: every probe on one model, and which illness explains what."""

import contextlib
import io
import random
import time
import warnings
from collections.abc import Callable, Iterator
from importlib.resources import files

import numpy as np
import torch
from torch import nn

from transformer_edu.checkup import flow_probes as flow
from transformer_edu.checkup import part_probes as part
from transformer_edu.checkup import training_probes as training
from transformer_edu.checkup import writing_probes as writing
from transformer_edu.checkup.flows import understand
from transformer_edu.checkup.report import ILL, TOLD, UNJUDGED, UNTRIED, Finding, Report
from transformer_edu.checkup.subject import KINDS, Adapter, CheckupError, Subject, borrowed
from transformer_edu.training.machine.device import random_state_restored

PROBES = {
    each.__name__: each
    for each in (
        *(flow.finite, flow.axis, flow.mixing, flow.repeatable, flow.neighbors, flow.future),
        *(flow.context, flow.source_padding, flow.padding, flow.left_padding, flow.empty_row),
        *(flow.order, flow.beyond, part.registered, part.gradients, part.tied, part.dropout),
        *(part.scaling, part.half, part.unsure, part.depth, part.positions),
        *(writing.cache, writing.generation, writing.stopping),
        *(training.labels, training.ending, training.loss_padding, training.entropy),
    )
}
LETTERS = dict(zip(KINDS, "edn", strict=True))  # of the kinds, in probes.tsv


def check_up(
    model: nn.Module,
    *,
    kind: str | None = None,
    adapter: Adapter | None = None,
    training_step: Callable[..., object] | None = None,
) -> Report:
    """Examine a Transformer that reads token ids, trained or not; it is left as it was.

    Args:
        model: An encoder–decoder, a decoder or an encoder of any origin, on any device.
        kind: "encoder-decoder", "decoder-only" or "encoder-only"; None to tell it from the model.
        adapter: What the model's signature does not tell.
        training_step: Takes a model and padded ids, or for an encoder–decoder a model, source_ids
            and target_ids; calls the model and returns the loss, or calls backward() itself.

    Returns:
        A finding for every probe. ``print`` it, look at it in a notebook, or ask for ``illnesses``.

    Raises:
        CheckupError: If the model cannot be examined; the message says what is missing.
    """
    if not isinstance(model, nn.Module):
        raise CheckupError(f"model must be a torch.nn.Module, got {type(model).__name__}")
    if kind not in (None, *KINDS):
        raise CheckupError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
    started, printed = time.perf_counter(), io.StringIO()
    with _undisturbed(), borrowed(model, torch.float32), contextlib.redirect_stdout(printed):
        subject = understand(model, kind, adapter or Adapter(), training_step)
        findings = _findings(subject)
    if words := printed.getvalue().split():
        subject.notes.append(f"It prints while it answers: {' '.join(words)[:60]!r}.")
    seconds = time.perf_counter() - started
    return Report(subject.name, subject.kind, tuple(subject.notes), tuple(findings), seconds)


def assert_healthy(model: nn.Module, *, allow: tuple[str, ...] = (), **how: object) -> None:
    """Fail a test if a check-up finds an illness; the message is the report.

    Args:
        model: As for ``check_up``.
        allow: Names of illnesses that are on purpose.
        how: What ``check_up`` takes besides the model.

    Raises:
        AssertionError: If there is an illness that is not allowed.
    """
    report = check_up(model, **how)
    if not {*report.illnesses} <= {*allow}:
        raise AssertionError(f"\n{report}")


def _findings(subject: Subject) -> list[Finding]:
    """The findings of all probes for the subject's kind; what an illness explains is not judged."""
    illnesses = {row["illness"]: row for row in _table("illnesses.tsv")}
    found, explained = [], {}
    for row in _table("probes.tsv"):
        if LETTERS[subject.kind] not in row.pop("kinds"):
            continue
        try:
            state, seen, *leak = PROBES[row["probe"]](subject)
        except Exception as error:  # whatever a model raises
            state, seen, leak = UNTRIED, f"the model raised {type(error).__name__}: {error}", []
        by = explained.get(row["probe"], explained.get("*"))
        if by and (state == TOLD or state in illnesses or seen.startswith("the model raised")):
            state, seen, leak = UNJUDGED, f"this may follow from “{by}”: repair that first", []
        finding = {"status": state, "seen": " ".join(seen.split())[:240]} | row
        if illness := illnesses.get(state):
            finding |= {"status": ILL, "illness": state, "cause": illness["usual cause"]}
            finding |= {"leak": leak[0]} if leak else {}
            for each in illness["explains"].split():
                explained.setdefault(each, state)
        found.append(Finding(**finding))
    return found


def _table(name: str) -> list[dict[str, str]]:
    """The rows of probes.tsv or illnesses.tsv, which say what is tested and what it is called."""
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    head, *rows = (line.split("\t") for line in text.splitlines())
    return [dict(zip(head, row, strict=True)) for row in rows]


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Afterwards the random states are as before; nothing warns."""
    states = random.getstate(), np.random.get_state()
    try:
        with random_state_restored(), warnings.catch_warnings(record=True):
            yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])
