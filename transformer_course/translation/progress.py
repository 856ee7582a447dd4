"""A translator's training: its losses and its BLEU."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from transformer_course.curves.run_figures import LABELS, add_head, draw_line, label_axes
from transformer_course.drawing.style import styled

Record = Mapping[str, float]


@styled
def plot_progress(runs: Mapping[str, Sequence[Record]], *, title: str) -> Figure:
    """Draw the loss and the BLEU of runs on held-out pairs; their lengths may differ much.

    Args:
        runs: By name, their records: each has step, validation_loss and bleu.
        title: What the reader should see, as a sentence.

    Returns:
        A new figure; x is logarithmic.
    """
    figure, panels = plt.subplots(1, 2, figsize=(9, 3.7))
    alone = {"marker": ""} if len(runs) == 1 else {}  # one line needs no marks to be told apart
    for axes, measure in zip(panels, ("validation_loss", "bleu"), strict=True):
        for name, records in runs.items():
            steps = [record["step"] for record in records]
            draw_line(axes, steps, [record[measure] for record in records], name, marks=8, **alone)
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.xaxis.set_minor_formatter(NullFormatter())  # labels between these would overlap
        label_axes(axes, LABELS[measure.removeprefix("validation_")])
    add_head(figure, title, legend_of=panels[0])
    return figure


def describe_progress(runs: Mapping[str, Sequence[Record]]) -> str:
    """Where each run begins and ends, in words; takes what plot_progress does."""
    return "; ".join(
        f"{name}: from step {records[0]['step']:,} to {records[-1]['step']:,} the loss goes from "
        f"{records[0]['validation_loss']:.1f} to {records[-1]['validation_loss']:.1f}, BLEU from "
        f"{records[0]['bleu']:.0f} to {records[-1]['bleu']:.0f}"
        for name, records in runs.items()
    )
