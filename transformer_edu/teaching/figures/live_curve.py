"""Watch a model learn: its curves while it trains, over those of a run made earlier."""

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from transformer_edu.refusals import require_whole
from transformer_edu.teaching.display import show_live
from transformer_edu.teaching.style import BLUE, VERMILION, styled
from transformer_edu.training.state import TrainingRun

REFERENCE = "#8A8F98"  # there to compare with: 3 : 1 on white


class LiveCurve:
    """A figure that follows a run: ``fit(model, task, after_step=LiveCurve(reference))``.

    It is shown at once, with the reference alone, which is also what a saved notebook keeps.

    Args:
        reference: A run made earlier, to be drawn in grey; None draws nothing behind. Its
            evaluations are enough: ``TrainingRun(evaluations=…)``.
        every: Steps between two drawings; each evaluation is drawn too.

    Raises:
        TypeError, ValueError: If every is not a whole number of at least 1.
    """

    def __init__(self, reference: TrainingRun | None = None, *, every: int = 50) -> None:
        require_whole("every", every)
        self.reference = TrainingRun() if reference is None else reference
        self.every = every
        self._replace = show_live(*self._drawn(TrainingRun()))
        self._evaluations_drawn = 0

    def __call__(self, run: TrainingRun) -> None:
        """Draw the run again, if it is time to."""
        evaluated = len(run.evaluations) != self._evaluations_drawn
        if evaluated or len(run.steps) % self.every == 0:
            self._evaluations_drawn = len(run.evaluations)
            self._replace(*self._drawn(run))

    def _drawn(self, run: TrainingRun) -> tuple[Figure, str]:
        return plot_run(run, reference=self.reference), describe_run(run, reference=self.reference)


@styled
def plot_run(run: TrainingRun, *, reference: TrainingRun | None = None) -> Figure:
    """Draw a run so far: the loss of every step, and what it can do on pairs held out.

    Args:
        run: What has happened; may be empty.
        reference: A run made earlier, drawn in grey behind.

    Returns:
        The figure.
    """
    reference = TrainingRun() if reference is None else reference
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4))
    figure.suptitle(_title(run), x=0.02, ha="left")
    _plot_loss(left, reference, color=REFERENCE, label="a run made earlier")
    _plot_loss(left, run, color=BLUE, label="this run")
    _plot_shares(right, reference, colors=(REFERENCE, REFERENCE), named=not run.evaluations)
    _plot_shares(right, run, colors=(BLUE, VERMILION), named=True)
    left.set_ylabel("loss (nats per token)")
    left.set_ylim(bottom=0)
    right.set_ylabel("share of held-out pairs")
    right.set_ylim(-0.03, 1.03)
    for axes in (left, right):
        axes.set_xlabel("step")
        axes.set_xlim(0, 1.03 * max(_last_step(reference), _last_step(run), 1))
        if axes.lines:
            axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2, columnspacing=1.2)
    return figure


def describe_run(run: TrainingRun, *, reference: TrainingRun | None = None) -> str:
    """The same in words, for the picture's alternative text.

    Args:
        run: What has happened; may be empty.
        reference: A run made earlier.
    """
    parts = []
    for name, each in (("a run made earlier", reference), ("this run", run)):
        if each is not None and _losses(each):
            step, loss = _losses(each)[-1]
            parts.append(f"{name}: loss {loss:.2f} at step {step}")
            if each.evaluations:
                parts[-1] += f", exact match {each.evaluations[-1].exact_match:.0%}"
    return "; ".join(parts) or "no step taken yet"


def _title(run: TrainingRun) -> str:
    """What the reader should see, as a sentence."""
    if not run.steps:
        return "A run will be drawn here while it learns"
    found = f"After {len(run.steps)} steps the loss is {run.steps[-1].loss:.2f}"
    if run.evaluations:
        found += f", and {run.evaluations[-1].exact_match:.0%} is written without a mistake"
    return found


def _losses(run: TrainingRun) -> list[tuple[int, float]]:
    """Step and loss of every batch, or of every evaluation where the batches' are not known."""
    return [(record.step, record.loss) for record in run.steps or run.evaluations]


def _last_step(run: TrainingRun) -> int:
    return _losses(run)[-1][0] if _losses(run) else 0


def _plot_loss(axes: Axes, run: TrainingRun, *, color: str, label: str) -> None:
    if _losses(run):
        axes.plot(*zip(*_losses(run), strict=True), color=color, label=label, marker="", lw=1.2)


def _plot_shares(axes: Axes, run: TrainingRun, *, colors: tuple[str, str], named: bool) -> None:
    """Exact match and token accuracy, told apart by more than their colors."""
    steps = [evaluation.step for evaluation in run.evaluations]
    exact = [evaluation.exact_match for evaluation in run.evaluations]
    tokens = [evaluation.token_accuracy for evaluation in run.evaluations]
    if steps:
        names = ("exact match", "token accuracy") if named else (None, None)
        axes.plot(steps, exact, color=colors[0], marker="o", label=names[0])
        axes.plot(steps, tokens, color=colors[1], marker="s", linestyle=":", label=names[1])
