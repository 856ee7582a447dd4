"""Write docs/checkup.md's tables of what is found: ``python -m experiments.checkup_tables``.

Every published bug and every healthy model of the tests gets a row, with a mark for each probe and
the processor time that it took. So does every mutant of our own models: a line of the library is
changed, and the changed copy of the library examines its own model. With names of tables, such as
``mutants``, only these are written.
"""

if __name__ == "__main__":  # before the imports that take seconds
    from transformer_edu.training.machine.failures import run_command

    run_command("experiments.checkup_tables")

import argparse
import compileall
import contextlib
import csv
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path

import torch
from torch import Tensor, nn

from tests.checkup.healthy_models import BUILDERS, built
from tests.checkup.published_bugs import BUGS, Bug
from tools.colab import write_if_changed
from tools.notebooks import ROOT
from tools.tables import table, with_block
from transformer_edu.checkup import calling, check_up
from transformer_edu.checkup.report import HEALTHY, ILL, TOLD, UNJUDGED, UNTRIED, Report
from transformer_edu.model.refusals import require_choice
from transformer_edu.training.machine.failures import one_line_errors

PAGE, MUTANTS = ROOT / "docs/checkup.md", Path(__file__).with_name("checkup_mutants.tsv")
LIBRARY = "transformer_edu"
PROBES = calling.table("probes")
MARKS = {HEALTHY: "✓", ILL: "✗", TOLD: "?", UNTRIED: "–", UNJUDGED: "~"}
NAME = 48  # letters of a row's name
SIZES = {"num_heads": 4, "num_layers": 2, "d_model": 48, "d_ff": 96, "max_length": 64}
OF_TODAY = {"feed_forward": "swiglu", "num_key_value_heads": 2, "norm_first": True}
NOTHING, RAISED = "–", "The model, or the training step, raised"  # no finding; a finding's words


def examined(bug: Bug) -> Report:
    """What is found in a published bug, its weights drawn from a seed."""
    torch.manual_seed(0)
    return check_up(bug.build(), **bug.how)


def headed(name: str, marks: str = "") -> str:
    """The beginning of a row: its name, cut to so many letters."""
    return f"{name if len(name) <= NAME else name[: NAME - 1] + '…':{NAME}} {marks}"


def marked(name: str, report: Report) -> str:
    """A row: a mark for every probe, a space where one does not concern this kind of model."""
    found = {each.probe: MARKS[each.status] for each in report.findings}
    return headed(name, "".join(found.get(probe, " ") for probe in PROBES))


def matrix(rows: Mapping[str, Callable[[], Report]]) -> str:
    """Rows of marks under the probes' numbers, with each report's seconds of processor time."""
    numbers = [f"{number:2}" for number in range(1, len(PROBES) + 1)]
    lines = [headed("", "".join(number[i] for number in numbers)) for i in (0, 1)]
    for name, examine in rows.items():
        started = time.process_time()
        row = marked(name, examine())
        lines.append(f"{row} {time.process_time() - started:5.1f} s")
        print(lines[-1], flush=True)
    return "\n".join(["```text", *lines, "```", ""])


def of_bugs() -> str:
    """The matrix of the published bugs."""
    return matrix({bug.thread: lambda bug=bug: examined(bug) for bug in BUGS})


def of_healthy_models() -> str:
    """The matrix of the healthy models."""
    return matrix({name: lambda name=name: check_up(built(name)) for name in BUILDERS})


def numbered_probes() -> str:
    """The probes in the order of the matrices' columns."""
    rows = [
        f"{number}. `{probe}`: {row['rule']}"
        for number, (probe, row) in enumerate(PROBES.items(), 1)
    ]
    return "\n".join([*rows, ""])


def mutants() -> list[dict[str, str]]:
    """What is changed: a name, a model, a file, a text in it, and what takes its place."""
    with MUTANTS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def of_mutants() -> str:
    """A row for each mutant, with what finds it."""
    rows = [["what was changed", "where", "found by"]]
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / LIBRARY, Path(folder, LIBRARY))
        compileall.compile_dir(folder, quiet=1)  # or every mutant would compile all of it
        for mutant in mutants():
            rows.append(row_of(mutant, Path(folder)))
            print(*rows[-1], sep=" | ", flush=True)
    return table(*rows)


def counts() -> str:
    """How many of the mutants in the page's table are found."""
    found = re.findall(
        r"(?m)^\| .*\| `\w+/\w+\.py`, .* \| (.*) \|$", PAGE.read_text(encoding="utf-8")
    )
    missed = found.count(NOTHING)
    return f"Of {len(found)} mutants {len(found) - missed} are found, and {missed} are not.\n"


def row_of(mutant: Mapping[str, str], folder: Path) -> list[str]:
    """A mutant's name, its place, and the probes that find it, with their names for it.

    Args:
        mutant: One of ``mutants``.
        folder: Has a copy of the library, which is left as it was.
    """
    with _library_with(mutant, folder):
        torch.manual_seed(0)
        try:
            report = _examined(mutant["model"])
            told = [each for each in report.findings if each.status == ILL or RAISED in each.seen]
            found = "; ".join(f"`{each.probe}` ({each.illness or 'raises'})" for each in told)
        except Exception as error:  # of any kind
            found = f"{type(error).__name__}, before a probe"
    place = f"`{mutant['file']}`, {mutant['model']}"
    return [mutant["mutant"], place, found or NOTHING]


@contextlib.contextmanager
def _library_with(mutant: Mapping[str, str], folder: Path) -> Iterator[None]:
    """Inside the block imports of the library get the folder's copy, with the mutant's line."""
    path = folder / LIBRARY / mutant["file"]
    text = path.read_text(encoding="utf-8")
    if mutant["line"] not in text:
        raise ValueError(f"{mutant['file']} must hold the text {mutant['line']!r}")
    path.write_text(text.replace(mutant["line"], mutant["mutated"], 1), encoding="utf-8")
    kept, writes = _unloaded(), sys.dont_write_bytecode
    sys.dont_write_bytecode = True  # or a mutant could be read from the bytes of another one
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        sys.dont_write_bytecode = writes
        _unloaded()
        sys.modules.update(kept)
        path.write_text(text, encoding="utf-8")


def _unloaded() -> dict[str, object]:
    """The library's modules, which the next import loads again."""
    names = [name for name in sys.modules if name.partition(".")[0] == LIBRARY]
    return {name: sys.modules.pop(name) for name in names}


def _examined(name: str) -> Report:
    """What the library that is imported now finds in a model of its own."""
    kind, _, detail = name.partition(", ")
    library = import_module(LIBRARY)
    if kind == "Transformer":
        config = library.TransformerConfig(
            vocabulary_size=40, **SIZES, norm_first=detail == "pre-norm"
        )
        model = library.Transformer(config)
    else:
        variant = import_module(f"{LIBRARY}.variants.language_model")
        options = SIZES | OF_TODAY | {"positions": detail}
        model = variant.LanguageModel(variant.LanguageModelConfig(vocabulary_size=40, **options))
    step = _step if detail == "training" else None
    return library.check_up(model, training_step=step)


def _step(model: nn.Module, source_ids: Tensor, target_ids: Tensor) -> Tensor:
    """The library's own batch and loss, of what the check-up gives."""
    batches = import_module(f"{LIBRARY}.data.batches")
    special = {model.config.padding_id, model.config.start_id, model.config.end_id}
    pairs = [
        [[token for token in row if token not in special] for row in pair]
        for pair in zip(source_ids.tolist(), target_ids.tolist(), strict=True)
    ]
    batch = batches.make_batch(pairs, model)
    return import_module(f"{LIBRARY}.training.loss").batch_loss(model, batch)


TABLES = {
    "probes": numbered_probes,
    "bugs": of_bugs,
    "healthy models": of_healthy_models,
    "mutants": of_mutants,
    "counts": counts,
}


@one_line_errors
def main(arguments: Sequence[str] | None = None) -> int:
    """Write tables into the page, all if none is named; returns the exit status."""
    about = "Write docs/checkup.md's tables of what is found."
    parser = argparse.ArgumentParser(prog="python -m experiments.checkup_tables", description=about)
    parser.add_argument("tables", nargs="*", help=f"all when none: {', '.join(TABLES)}")
    names = parser.parse_args(arguments).tables
    for name in names:
        require_choice("table", name, TABLES)
    for name in names or TABLES:
        content = TABLES[name]()
        write_if_changed(PAGE, with_block(PAGE.read_text(encoding="utf-8"), name, content))
    return 0
