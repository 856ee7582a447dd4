"""How runs get better: loss and BLEU at every evaluation, one beside another.

Used in notebooks/14_translation.ipynb.
"""

from collections.abc import Mapping, Sequence

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
        ValueError: If there is no run, or one has no record.
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
    """Where each run begins and ends, in words: for the figure's alternative text."""
    _require_records(runs)
    return "; ".join(
        f"{name}: from step {records[0]['step']:,} to {records[-1]['step']:,} the loss goes from "
        f"{records[0]['validation_loss']:.1f} to {records[-1]['validation_loss']:.1f}, BLEU from "
        f"{records[0]['bleu']:.0f} to {records[-1]['bleu']:.0f}"
        for name, records in runs.items()
    )


def _require_records(runs: Mapping[str, Sequence[Record]]) -> None:
    if not runs:
        raise ValueError("runs must hold at least one run, got none")
    for name, records in runs.items():
        if len(records) == 0:
            raise ValueError(f"run {name!r} must have at least one record, got none")
