"""A model that writes, under the hand: its steps, a beam search, what may be drawn."""

from collections.abc import Mapping, Sequence

import ipywidgets as widgets
from matplotlib.figure import Figure
from torch import Tensor, nn
from traitlets import Bunch

from transformer_course.drawing.display import explore
from transformer_course.drawing.next_word_bars import (
    describe_candidates,
    plot_candidates,
    plot_decoding_step,
)
from transformer_course.drawing.search_tree import (
    describe_beam_tree,
    finished_sentences,
    plot_beam_tree,
)
from transformer_course.looking.attention_maps import printable
from transformer_course.looking.next_words import DecodingStep, decoding_steps, token_words
from transformer_course.viewer.live import show_live
from transformer_edu.generation.beam import beam_search
from transformer_edu.generation.hypotheses import BeamStep
from transformer_edu.generation.translator import Translator

WIDTHS = (1, 2, 3, 4, 5)
ALPHAS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
NAMED = 1000  # likeliest tokens that a page shows with their words; the others it only counts
# Of every slider the values, from the weakest cut to the strongest, 0 for none, and the index of
# the value at the start: at first only top-p cuts off a tail.
SETTINGS = {
    "temperature": {"values": (5, 2, 1.5, 1, 0.75, 0.5, 0.25, 0.1), "start": 3},
    "top-k": {"values": (0, 1000, 100, 50, 10, 5, 3, 2, 1), "start": 0},
    "top-p": {"values": (0, 0.99, 0.95, 0.9, 0.7, 0.5, 0.2, 0.1), "start": 3},
    "min-p": {"values": (0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1), "start": 0},
}


def show_sampling_live(logits: Mapping[str, Tensor], *, tokens: Sequence[str]) -> None:
    """Let the reader cut off the tail of a distribution, and draw tokens from what is left.

    Args:
        logits: Of every token, shape (vocabulary,), finite, by what the model has read. The last
            ones are shown first.
        tokens: The token of every id.
    """
    last = list(logits.values())[-1]
    top_p = SETTINGS["top-p"]
    choice = {"tokens": tokens, "top_p": top_p["values"][top_p["start"]]}
    show_live(
        "sampling",
        {
            "steps": {name: _ranked(each, tokens) for name, each in logits.items()},
            "settings": SETTINGS,
        },
        title="Temperature and three cuts decide which token can come next",
        still=plot_candidates(last, **choice),
        alt=describe_candidates(last, **choice),
        height=570,
        phone_height=820,
    )


def _ranked(logits: Tensor, tokens: Sequence[str]) -> dict[str, object]:
    """Log-probabilities from the highest to the lowest, the first ones with their words."""
    ranked = logits.cpu().double().log_softmax(dim=-1).sort(descending=True, stable=True)
    below = (-100 * ranked.values[NAMED:]).round().long()  # in steps of 0.01
    top = int(below.min()) if len(below) else 0
    words = [printable(tokens[each], longest=12) for each in ranked.indices[:NAMED].tolist()]
    return {
        "words": "\n".join(words),
        "first": [round(each, 4) for each in ranked.values[:NAMED].tolist()],
        "rest": {"top": -top / 100, "counts": (below - top).bincount().tolist()},
    }


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
    searches = _search_all(model, source_ids)

    def draw(step: int, width: int, alpha: float) -> Figure:
        steps = searches[width, alpha]
        best = max(finished_sentences(steps), key=lambda each: each.score, default=None)
        title = f"Width {width}, α = {alpha:g}, step {step} of {len(steps)}"
        if step == len(steps) and best is not None:
            words = " ".join(tokens[token_id] for token_id in best.token_ids)
            title = f"Width {width}, α = {alpha:g}: “{words}” wins"
        return plot_beam_tree(steps, tokens=tokens, title=title, until=step)

    def describe(step: int, width: int, alpha: float) -> str:
        words = describe_beam_tree(searches[width, alpha], tokens=tokens, until=step)
        return f"beam of {width}, alpha {alpha:g}: {words}"

    beam_width = _slider("beam width", WIDTHS, width)
    penalty = _slider("length penalty α", ALPHAS, alpha)
    step = _StepSlider(last=len(searches[width, alpha]))

    def follow(_: Bunch) -> None:
        step.end_at(len(searches[beam_width.value, penalty.value]))

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


def _search_all(model: nn.Module, source_ids: Tensor) -> dict[tuple[int, float], list[BeamStep]]:
    """The records of a search with every width and alpha of the sliders."""
    searches: dict[tuple[int, float], list[BeamStep]] = {}
    for width in WIDTHS:
        for alpha in ALPHAS:
            steps = searches[width, alpha] = []
            beam_search(model, source_ids, width=width, alpha=alpha, after_step=steps.append)
    return searches


def _slider(description: str, options: Sequence, value: float) -> widgets.SelectionSlider:
    return widgets.SelectionSlider(options=options, value=value, description=description)


FIRST_SHOWN = 5  # steps before the one that is shown at first: some words are written
ROW = 27  # pixels of a token


def show_decoder_live(
    translator: Translator, source: str, *, beginnings: Sequence[str] = ("",)
) -> None:
    """Let the reader step through translations: what is read, attended to, likely and chosen.

    Args:
        translator: Its tokenizer is the package's.
        source: The sentence that the encoder reads.
        beginnings: Words that are put in before the model chooses, one sentence each; "" for none.
    """
    source_tokens = token_words(translator, translator.tokenizer.encode(source))
    sentences = [decoding_steps(translator, source, beginning) for beginning in beginnings]
    step = min(FIRST_SHOWN, len(sentences[0]) - 1)
    title = "Every chosen token is read in the next step"
    rows = max(len(source_tokens), *map(len, sentences))
    show_live(
        "decoder",
        {
            "source": [printable(token) for token in source_tokens],
            "beginnings": beginnings,
            "sentences": [[_numbers(each) for each in steps] for steps in sentences],
            "step": step,
        },
        title=title,
        still=plot_decoding_step(source_tokens, sentences[0][step], title=title),
        height=210 + ROW * rows,
        phone_height=560 + ROW * rows,
    )


def _numbers(step: DecodingStep) -> dict[str, object]:
    """A step as JSON can hold it; the tokens read are those chosen in the steps before it."""
    return {
        "attention": [round(weight, 4) for weight in step.attention.tolist()],
        "candidates": [(printable(token), round(p, 4)) for token, p in step.candidates],
        "chosen": step.chosen,
        "given": step.is_given,
    }
