"""What may be drawn next, under the hand, without a kernel."""

from collections.abc import Mapping, Sequence

from torch import Tensor

from transformer_course.drawing.style import require_one_each
from transformer_course.generation.candidates import describe_candidates, plot_candidates
from transformer_course.looking.attention_maps import printable
from transformer_course.viewer.live import show_live

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
        __file__,
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
    require_one_each(len(logits), "logits", tokens=tokens)
    ranked = logits.cpu().double().log_softmax(dim=-1).sort(descending=True, stable=True)
    below = (-100 * ranked.values[NAMED:]).round().long()  # in steps of 0.01
    top = int(below.min()) if len(below) else 0
    words = [printable(tokens[each], longest=12) for each in ranked.indices[:NAMED].tolist()]
    return {
        "words": "\n".join(words),
        "first": [round(each, 4) for each in ranked.values[:NAMED].tolist()],
        "rest": {"top": -top / 100, "counts": (below - top).bincount().tolist()},
    }
