"""Examine a model: ``python -m transformer_edu.checkup my_file:build_model``.

``my_file`` is a module or the path of a Python file, ``build_model`` a function without arguments
that returns the model, or the model and an Adapter. The exit status is 0 without an illness, 1
with one, and 2 if the model or a given training step could not be examined or the report written.
"""

if __name__ == "__main__":  # before the imports that take seconds
    from transformer_edu.training.machine.failures import run_command

    run_command("transformer_edu.checkup.__main__")

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace

from transformer_edu.checkup.examination import check_up
from transformer_edu.checkup.subject import KINDS, CheckupError
from transformer_edu.training.machine.failures import one_line_errors

ILL, NOT_EXAMINED = 1, 2


@one_line_errors
def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line, examine the model, print the report; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m transformer_edu.checkup", description=__doc__)
    parser.add_argument("model", help="my_file:build_model")
    kinds = parser.add_mutually_exclusive_group()
    for kind in KINDS:
        kinds.add_argument(f"--{kind}", dest="kind", action="store_const", const=kind)
    about = "(model, ids) → loss, or (model, source_ids, target_ids) → loss"
    parser.add_argument("--training-step", metavar="FILE:FUNCTION", help=about)
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    chosen = parser.parse_args(arguments)
    try:
        with redirect_stdout(sys.stderr):  # what the user's own code prints is no report
            step = None if (at := chosen.training_step) is None else named(at)
            made = named(at := chosen.model)()
            model, adapter = made if isinstance(made, tuple) and len(made) == 2 else (made, None)
            report = check_up(model, kind=chosen.kind, adapter=adapter, training_step=step)
        at = "writing the report"
        print(report.to_json() if chosen.json else report, flush=True)
    except (Exception, SystemExit) as error:  # of the user's own code, too
        raised = f"{at} raised {type(error).__name__}: "
        print(f"error: {'' if isinstance(error, CheckupError) else raised}{error}", file=sys.stderr)
        return NOT_EXAMINED
    tried = [each.probe for each in report.findings if each.status != "not tried"]
    return ILL if report.illnesses else NOT_EXAMINED if step and "labels" not in tried else 0


def named(address: str) -> Callable[..., object]:
    """The function at an address such as ``my_file:build_model``, or a CheckupError."""
    place, _, name = address.rpartition(":")
    is_file = place.endswith(".py")
    sys.path.insert(0, str(Path(place).parent if is_file else Path.cwd()))
    try:
        module = SimpleNamespace(**run_path(place)) if is_file else import_module(place.lstrip("."))
        return getattr(module, name)
    except (ImportError, ValueError, AttributeError, FileNotFoundError) as error:
        words = f"my_file:build_model must be what can be loaded, got {address!r} ({error})"
        raise CheckupError(words) from None
    finally:
        sys.path.append(sys.path.pop(0))  # what it imports later is found, and hides nothing
