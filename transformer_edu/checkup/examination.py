"""``check_up``: every probe on one model, and what explains what."""

import contextlib
import io
import random
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.resources import files

import numpy as np
import torch
from torch import Tensor, nn

from transformer_edu.checkup import flow_probes, part_probes, training_probes, writing_probes
from transformer_edu.checkup.flows import understand
from transformer_edu.checkup.report import ILL, TOLD, UNJUDGED, UNTRIED, Finding, Report
from transformer_edu.checkup.subject import KINDS, Adapter, Subject
from transformer_edu.training.machine.device import random_state_restored

ROOMS = (flow_probes, part_probes, writing_probes, training_probes)


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
        training_step: Takes the model and padded ids, or for an encoder–decoder the model,
            source_ids and target_ids; calls the model and returns the loss, or calls backward().

    Returns:
        A finding for every probe. ``print`` it, look at it in a notebook, or ask for ``illnesses``.

    Raises:
        CheckupError: If the model cannot be examined; the message says what is missing.
    """
    started = time.perf_counter()
    printed = io.StringIO()
    with _undisturbed(model), contextlib.redirect_stdout(printed):
        adapter = adapter or Adapter()
        subject = understand(model, kind, adapter)
        subject.training_step = training_step
        findings = _findings(subject)
    notes = [*subject.notes]
    if printed.getvalue().strip():
        notes.append(
            f"It prints while it answers: {printed.getvalue().strip().splitlines()[0][:60]!r}"
        )
    seconds = time.perf_counter() - started
    return Report(subject.name, subject.kind, tuple(notes), tuple(findings), seconds)


def assert_healthy(model: nn.Module, *, allow: tuple[str, ...] = (), **how: object) -> None:
    """Fail a test if a check-up finds an illness.

    Args:
        model: As for ``check_up``.
        allow: Names of illnesses that are on purpose.
        how: What ``check_up`` takes besides the model.

    Raises:
        AssertionError: If there is an illness that is not allowed; the message is the report.
    """
    report = check_up(model, **how)
    if {*report.illnesses} - {*allow}:
        raise AssertionError(f"\n{report}")


def _findings(subject: Subject) -> list[Finding]:
    """The findings of all probes for the subject's kind; what an illness explains is not judged."""
    found: list[Finding] = []
    illnesses = {row["illness"]: row for row in table("illnesses.tsv")}
    explained: dict[str, str] = {}
    for row in table("probes.tsv"):
        if "edn"[KINDS.index(subject.kind)] not in row["kinds"]:
            continue
        name = row.pop("probe")
        row.pop("kinds")
        try:
            finding = next(getattr(room, name) for room in ROOMS if hasattr(room, name))(subject)
        except Exception as error:  # whatever a model raises
            words = " ".join(str(error).split())[:150]
            finding = Finding(UNTRIED, f"the model raised {type(error).__name__}: {words}")
        by = explained.get(name) or explained.get("*")
        if by and finding.status in (ILL, TOLD, UNTRIED):
            finding = Finding(UNJUDGED, f"this may follow from “{by}”: repair that first")
        elif finding.status == ILL:
            illness = illnesses[finding.illness]
            finding = replace(finding, cause=illness["usual cause"])
            for each in illness["explains"].split():
                explained.setdefault(each, finding.illness)
        found.append(replace(finding, probe=name, **row))
    return found


def table(name: str) -> list[dict[str, str]]:
    """The rows of probes.tsv or illnesses.tsv, which say what is tested and what it is called."""
    text = files(__package__).joinpath(name).read_text(encoding="utf-8")
    head, *rows = (line.split("\t") for line in text.splitlines())
    return [dict(zip(head, row, strict=True)) for row in rows]


@contextlib.contextmanager
def _undisturbed(model: object) -> Iterator[None]:
    """Afterwards modes, gradients, buffers and random states are as before, and no one warned."""
    modules = list(model.modules()) if isinstance(model, nn.Module) else []
    modes = [(module, module.training) for module in modules]
    weights = [(weight, weight.grad) for module in modules for weight in module.parameters(False)]
    buffers = [(b, b.detach().clone()) for module in modules for b in module.buffers(False)]
    states = random.getstate(), np.random.get_state()
    threads = torch.get_num_threads()
    try:
        with random_state_restored(), warnings.catch_warnings(record=True):
            yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])
        torch.set_num_threads(threads)
        for module, mode in modes:
            module.training = mode
        for weight, gradient in weights:
            weight.grad = gradient
        for buffer, content in buffers:
            buffer.data.copy_(content)
