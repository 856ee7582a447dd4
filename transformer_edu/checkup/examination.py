"""``check_up``: every probe on one model, and which illness explains what."""

import contextlib
import io
import random
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.resources import files

import numpy as np
from torch import nn

from transformer_edu.checkup import flow_probes as flow
from transformer_edu.checkup import part_probes as part
from transformer_edu.checkup import training_probes as training
from transformer_edu.checkup import writing_probes as writing
from transformer_edu.checkup.flows import understand
from transformer_edu.checkup.report import ILL, TOLD, UNJUDGED, UNTRIED, Finding, Report
from transformer_edu.checkup.subject import KINDS, Adapter, Subject
from transformer_edu.training.machine.device import random_state_restored

PROBES = {
    each.__name__: each
    for each in (
        *(flow.finite, flow.axis, flow.mixing, flow.repeatable, flow.neighbors, flow.future),
        *(flow.context, flow.source_padding, flow.padding, flow.left_padding, flow.empty_row),
        *(flow.order, flow.beyond, part.registered, part.gradients, part.layers, part.tied),
        *(part.dropout, part.scaling, part.half, part.unsure, part.depth, part.positions),
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
    started, printed = time.perf_counter(), io.StringIO()
    with _undisturbed(model), contextlib.redirect_stdout(printed):
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
        probe, kinds = row["probe"], row.pop("kinds")
        if LETTERS[subject.kind] not in kinds:
            continue
        has_raised = False
        try:
            finding = PROBES[probe](subject)
        except Exception as error:  # whatever a model raises
            has_raised = True
            finding = Finding(UNTRIED, f"the model raised {type(error).__name__}: {error}")
        finding = replace(finding, seen=" ".join(finding.seen.split())[:240])
        by = explained.get(probe, explained.get("*"))
        if by and (has_raised or finding.status in (ILL, TOLD)):
            finding = Finding(UNJUDGED, f"this may follow from “{by}”: repair that first")
        elif finding.status == ILL:
            finding = replace(finding, cause=illnesses[finding.illness]["usual cause"])
            for each in illnesses[finding.illness]["explains"].split():
                explained.setdefault(each, finding.illness)
        found.append(replace(finding, **row))
    return found


def _table(name: str) -> list[dict[str, str]]:
    """The rows of probes.tsv or illnesses.tsv, which say what is tested and what it is called."""
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    head, *rows = (line.split("\t") for line in text.splitlines())
    return [dict(zip(head, row, strict=True)) for row in rows]


@contextlib.contextmanager
def _undisturbed(model: object) -> Iterator[None]:
    """Afterwards modes, gradients, buffers and random states are as before; nothing warns."""
    modules = [*model.modules()] if isinstance(model, nn.Module) else []
    modes = [(each, each.training) for each in modules]
    gradients = [(weight, weight.grad) for each in modules for weight in each.parameters(False)]
    buffers = [(each, each.detach().clone()) for part in modules for each in part.buffers(False)]
    states = random.getstate(), np.random.get_state()
    try:
        with random_state_restored(), warnings.catch_warnings(record=True):
            yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])
        for module, mode in modes:
            module.training = mode
        for weight, gradient in gradients:
            weight.grad = gradient
        for buffer, content in buffers:
            buffer.data.copy_(content)
