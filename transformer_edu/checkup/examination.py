"""``check_up``: every probe on one model, and which illness explains what."""

import contextlib
import inspect
import io
import time
from collections import ChainMap
from collections.abc import Callable

import torch
from torch import nn

from transformer_edu.checkup import flow_probes, part_probes, writing_probes
from transformer_edu.checkup.calling import NAMES, table
from transformer_edu.checkup.report import HEALTHY, ILL, UNJUDGED, UNTRIED, Finding, Report
from transformer_edu.checkup.subject import Adapter, CheckupError, Subject, UntriedError, borrowed
from transformer_edu.checkup.understanding import understand
from transformer_edu.checkup.watch import Bounds

PROBES = ChainMap(*map(vars, (flow_probes, part_probes, writing_probes)))
LETTERS = {"encoder-decoder": "e", "decoder-only": "d", "encoder-only": "n"}  # in probes.tsv


@torch.inference_mode(False)  # with gradients, also where a notebook has switched them off
def check_up(
    model: nn.Module,
    *,
    kind: str | None = None,
    adapter: Adapter | None = None,
    training_step: Callable[..., object] | None = None,
) -> Report:
    """Examine a Transformer that reads token ids, trained or not; its weights stay as they are.

    Args:
        model: An encoder–decoder, a decoder or an encoder of any origin, on any device.
        kind: "encoder-decoder", "decoder-only" or "encoder-only"; None to tell it from the model.
        adapter: What the model's signature does not tell.
        training_step: Takes a model and padded ids, or a model, source_ids and target_ids; calls
            the model and returns the loss, also as {"loss": loss}, or calls backward() itself.

    Returns:
        A finding for every probe. ``print`` it, look at it in a notebook, or ask for ``illnesses``.

    Raises:
        CheckupError: If the model cannot be examined; the message says what is missing.
    """
    if not isinstance(model, nn.Module):
        raise CheckupError(f"model must be a torch.nn.Module, got {type(model).__name__}")
    numbers = [*model.parameters(), *model.buffers()]
    if any(map(nn.parameter.is_lazy, numbers)):
        raise CheckupError("model must have run once, got Lazy layers that do not know their sizes")
    if any(each.is_meta for each in numbers):
        raise CheckupError("model must hold numbers, got weights on the meta device")
    if isinstance(model, torch.jit.ScriptModule):
        raise CheckupError("model must be the module itself, got its TorchScript")
    if any(map(torch.Tensor.is_inference, numbers)):
        raise CheckupError("model must be made outside of torch.inference_mode, got one made in it")
    if kind not in (None, *LETTERS):
        raise CheckupError(f"kind must be one of {', '.join(LETTERS)}, got {kind!r}")
    if adapter is not None and not isinstance(adapter, Adapter):
        raise CheckupError(f"adapter must be an Adapter, got {type(adapter).__name__}")
    if training_step is not None and not callable(training_step):
        raise CheckupError(f"training_step must be a function, got {training_step!r}")
    started, printed = time.perf_counter(), io.StringIO()
    is_elsewhere = any(each.device.type != "cpu" for each in numbers)
    bounds = Bounds() if is_elsewhere else contextlib.nullcontext()
    with borrowed(model, torch.float32), contextlib.redirect_stdout(printed), bounds:
        subject = Subject(model, kind, adapter or Adapter(), training_step)
        names = [*inspect.signature(model.forward).parameters] if subject.parameters else []
        given = {name for name in names if NAMES["left out"].search(name)}
        record = lambda _, args, kwargs: given.update(names[: len(args)], kwargs)  # noqa: E731
        with model.register_forward_pre_hook(record, with_kwargs=True):
            understand(subject)
            findings = _findings(subject)
    if missing := ", ".join(name for name in names if name not in given):
        subject.notes.append(f"Not given: {missing}; what they do was not examined.")
    if training_step is not None and subject.kind == "encoder-only":
        subject.notes.append("The training step of an encoder is not examined.")
    if words := printed.getvalue().split():
        subject.notes.append(f"It prints while it answers: {' '.join(words)[:60]!r}.")
    seconds = time.perf_counter() - started
    return Report(subject.name, subject.kind, tuple(subject.notes), tuple(findings), seconds)


def assert_healthy(model: nn.Module, *, allow: tuple[str, ...] = (), **how: object) -> None:
    """Fail a test with the report of ``check_up(model, **how)`` if it names what is not allowed."""
    if not {*(report := check_up(model, **how)).illnesses} <= {*allow}:
        raise AssertionError(f"\n{report}")


def _findings(subject: Subject) -> list[Finding]:
    """The findings of all probes for the subject's kind; what an illness explains is not judged."""
    names, findings, explained = table("findings"), [], {}
    for row in table("probes").values():
        names[HEALTHY]["seen"] = row.pop("healthy")
        if LETTERS[subject.kind] not in row.pop("kinds"):
            continue
        try:
            found = PROBES[row["probe"]](subject)
        except UntriedError as error:
            found = UNTRIED, error
        except Exception as error:  # whatever a model raises
            found = "the model raised", error
        name, *values = found if isinstance(found, tuple) else (found,)
        by = explained.get(row["probe"], explained.get("*"))
        if by and name not in (HEALTHY, UNTRIED):
            name, values = UNJUDGED, [by]
        status, words, cause, explains = [*names[name].values()][1:]
        leak = values.pop() if values and isinstance(values[-1], list) else []
        explained |= {each: name for each in explains.split() if each not in explained}
        seen = " ".join(words.format(*values).split())[:240]
        told = {"cause": cause, "illness": name if status == ILL else ""}
        findings.append(Finding(status, seen, leak=tuple(map(tuple, leak)), **told, **row))
    return findings
