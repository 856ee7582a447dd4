"""A beam search under the hand: its width, its length penalty, its steps."""

from collections.abc import Sequence

import ipywidgets as widgets
from matplotlib.figure import Figure
from torch import Tensor, nn
from traitlets import Bunch

from transformer_course.drawing.display import explore
from transformer_course.generation.search_tree import (
    branches_by_step,
    describe_beam_tree,
    plot_beam_tree,
    require_tokens,
)
from transformer_edu.generation.beam import beam_search
from transformer_edu.generation.hypotheses import BeamStep, Hypothesis
from transformer_edu.model.refusals import require_choice

WIDTHS = (1, 2, 3, 4, 5)
ALPHAS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


def explore_beams(
    model: nn.Module, source_ids: Tensor, *, tokens: Sequence[str], width: int, alpha: float
) -> None:
    """Let the reader widen a beam, change the length penalty, and see the tree grow.

    Args:
        model: What beam_search takes.
        source_ids: One source, shape (1, source position).
        tokens: The token of every id.
        width: The beam width of the first picture, one of WIDTHS.
        alpha: The length penalty's exponent in the first picture, one of ALPHAS.
    """
    require_choice("width", width, WIDTHS)
    require_choice("alpha", alpha, ALPHAS)
    searches = _search_all(model, source_ids)
    for steps, _ in searches.values():
        require_tokens(branches_by_step(steps), tokens)

    def draw(step: int, width: int, alpha: float) -> Figure:
        steps, best = searches[width, alpha]
        title = f"Width {width}, α = {alpha:g}, step {step} of {len(steps)}"
        if step == len(steps) and best.finished:
            words = " ".join(tokens[token_id] for token_id in best.token_ids)
            title = f"Width {width}, α = {alpha:g}: “{words}” wins"
        return plot_beam_tree(steps, tokens=tokens, title=title, until=step)

    def describe(step: int, width: int, alpha: float) -> str:
        words = describe_beam_tree(searches[width, alpha][0], tokens=tokens, until=step)
        return f"beam of {width}, alpha {alpha:g}: {words}"

    beam_width = _slider("beam width", WIDTHS, width)
    penalty = _slider("length penalty α", ALPHAS, alpha)
    step = _StepSlider(last=len(searches[width, alpha][0]))

    def follow(_: Bunch) -> None:
        step.end_at(len(searches[beam_width.value, penalty.value][0]))

    for control in (beam_width, penalty):  # before explore does, whose picture needs the new step
        control.observe(follow, "value")
    explore(draw, describe, step=step, width=beam_width, alpha=penalty)


class _StepSlider(widgets.IntSlider):
    """A slider from the first to the last step of a search that may be replaced."""

    def __init__(self, last: int) -> None:
        self._is_quiet = False
        super().__init__(value=last, min=1, max=last, description="step")

    def end_at(self, last: int) -> None:
        """Set the last step; a slider that stood at the last one stays at the last.

        Observers of the value are not notified: the control that changed the search notifies them.
        """
        step = last if self.value == self.max else min(self.value, last)
        self._is_quiet = True
        with self.hold_trait_notifications():
            self.max, self.value = last, step
        self._is_quiet = False

    def notify_change(self, change: Bunch) -> None:
        """Called by traitlets."""
        if self._is_quiet and change.name == "value":
            self.send_state("value")
        else:
            super().notify_change(change)


def _search_all(
    model: nn.Module, source_ids: Tensor
) -> dict[tuple[int, float], tuple[list[BeamStep], Hypothesis]]:
    """The records and the result of a search with every width and alpha of the sliders."""
    searches: dict[tuple[int, float], tuple[list[BeamStep], Hypothesis]] = {}
    for width in WIDTHS:
        for alpha in ALPHAS:
            steps, how = [], {"width": width, "alpha": alpha}
            ((best,),) = beam_search(model, source_ids, **how, after_step=steps.append)
            searches[width, alpha] = steps, best
    return searches


def _slider(description: str, options: Sequence, value: float) -> widgets.SelectionSlider:
    return widgets.SelectionSlider(options=options, value=value, description=description)
