"""How runs get better: loss and BLEU at every evaluation, one beside another.

Used in notebooks/14_translation.ipynb.
"""

from collections.abc import Mapping, Sequence
from numbers import Real

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from transformer_edu.teaching.style import literal, styled

PANELS = {"validation_loss": "loss (nats per token)", "bleu": "BLEU"}
Record = Mapping[str, float]


@styled
def plot_progress(runs: Mapping[str, Sequence[Record]], *, title: str) -> Figure:
    """Draw the loss and the BLEU of runs on held-out pairs; their lengths may differ much.

    Args:
        runs: By name, their records: each has step, validation_loss and bleu.
        title: What the reader should see, as a sentence.

    Returns:
        A new figure; equal steps along x multiply.

    Raises:
        TypeError: If runs does not map names to lists of records.
        ValueError: If there is no run, one has no record, or a record lacks one of the numbers.
    """
    _require_records(runs)
    figure, panels = plt.subplots(1, 2, figsize=(9, 3.7))
    for axes, (measure, label) in zip(panels, PANELS.items(), strict=True):
        for name, records in runs.items():
            steps = [record["step"] for record in records]
            values = [record[measure] for record in records]
            every = max(1, len(steps) // 8)
            axes.plot(steps, values, label=literal(name, longest=None), markevery=every)
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.set(xlabel="training step", ylabel=label)
        axes.set_ylim(bottom=0)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    figure.suptitle(title, fontsize=14, x=0.01, ha="left")
    return figure


def describe_progress(runs: Mapping[str, Sequence[Record]]) -> str:
    """Where each run begins and ends, in words: for the figure's alternative text.

    Args:
        runs: As for plot_progress, which refuses the same.
    """
    _require_records(runs)
    return "; ".join(
        f"{name}: from step {records[0]['step']:,} to {records[-1]['step']:,} the loss goes from "
        f"{records[0]['validation_loss']:.1f} to {records[-1]['validation_loss']:.1f}, BLEU from "
        f"{records[0]['bleu']:.0f} to {records[-1]['bleu']:.0f}"
        for name, records in runs.items()
    )


def _require_records(runs: Mapping[str, Sequence[Record]]) -> None:
    """Refuse what are no runs, and records without the numbers that are shown."""
    if not isinstance(runs, Mapping):
        raise TypeError(f"runs must map names to records, got {type(runs).__name__}")
    if not runs:
        raise ValueError("runs must hold at least one run, got none")
    for name, records in runs.items():
        if not isinstance(name, str):
            raise TypeError(f"runs must have texts for names, got {name!r}")
        if not isinstance(records, Sequence):
            raise TypeError(f"run {name!r} must be a list of records, got {records!r}")
        if len(records) == 0:
            raise ValueError(f"run {name!r} must have at least one record, got none")
        for record in records:
            _require_numbers(name, record)


def _require_numbers(name: str, record: Record) -> None:
    if not isinstance(record, Mapping):
        raise TypeError(f"run {name!r} must hold records with names, got {record!r}")
    for measure in ("step", *PANELS):
        value = record.get(measure)
        if not isinstance(value, Real):
            raise ValueError(f"run {name!r} must have a number for {measure}, got {value!r}")
