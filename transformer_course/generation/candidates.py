"""The candidates for the next token, and which of them may be drawn."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from torch import Tensor

from transformer_course.drawing.style import (
    BLACK,
    BLUE,
    literal,
    require_one_each,
    styled,
)
from transformer_edu.generation.sampling import candidate_probabilities

EDGE = "#5C6670"
MOST_CANDIDATES = 10


@styled
def plot_candidates(
    logits: Tensor,
    *,
    tokens: Sequence[str],
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
) -> Figure:
    """Draw the likeliest tokens: the model's distribution and the one that is sampled from.

    A black line marks the model's own probability. A filled bar is the probability of being drawn;
    a hatched bar is a token that has been cut off. The last bar is all other tokens.

    Args:
        logits: Of every token, shape (vocabulary,).
        tokens: The token of every id.
        temperature, top_k, top_p, min_p: As for candidate_probabilities.

    Returns:
        A new figure.

    Raises:
        TypeError, ValueError: As for candidate_probabilities.
    """
    choice = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "min_p": min_p}
    names, own, drawn = _bars(logits, tokens, choice)
    figure, axes = plt.subplots(figsize=(8, 3.9))
    place, may, top = np.arange(len(names)), drawn > 0, max(own.max(), drawn.max())
    axes.bar(place[may], drawn[may], color=BLUE)
    axes.bar(place[~may], own[~may], fc="white", ec=EDGE, hatch="///", linewidth=1)
    axes.hlines(own, place - 0.46, place + 0.46, color=BLACK, linewidth=2.5)
    for x, (one, other) in enumerate(zip(own, drawn, strict=True)):
        label = f"{other:.2f}" if other > 0 else "cut"
        axes.text(x, max(one, other) + 0.02 * top, label, ha="center", fontsize=12)
    names = [literal(name) for name in names]
    axes.set_xticks(place, names, rotation=30, ha="right", rotation_mode="anchor")
    axes.set(ylim=(0, 1.12 * top), ylabel="probability")
    axes.legend(
        handles=[
            Patch(facecolor=BLUE, label="is drawn with this probability"),
            Patch(facecolor="white", edgecolor=EDGE, hatch="///", label="cut off"),
            axes.plot([], [], color=BLACK, linewidth=2.5, marker="", label="the model's own")[0],
        ],
        loc="upper center",  # between the likeliest tokens and the sum of all others
    )
    axes.set_title(_sentence(_drawn(logits, choice), tokens))
    return figure


def describe_candidates(
    logits: Tensor,
    *,
    tokens: Sequence[str],
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
) -> str:
    """The bars in words: the settings, and the likeliest tokens with both probabilities."""
    choice = {"temperature": temperature, "top_k": top_k, "top_p": top_p, "min_p": min_p}
    limits = f"top-k {top_k or 'off'}, top-p {top_p or 'off'}, min-p {min_p or 'off'}"
    bars = [
        f"{name} {one:.2f} → {other:.2f}"
        for name, one, other in zip(*_bars(logits, tokens, choice), strict=True)
    ]
    title = _sentence(_drawn(logits, choice), tokens)
    return (
        f"temperature {temperature:g}, {limits}: {title}; "
        f"the model's own probability → that of being drawn: {', '.join(bars)}"
    )


def _bars(
    logits: Tensor, tokens: Sequence[str], choice: dict[str, float | None]
) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Names, the model's own probabilities and those of being drawn; the last bar is the rest."""
    require_one_each(len(logits), "logits", tokens=tokens)
    drawn = _drawn(logits, choice)
    own = _drawn(logits, {})
    order = own.argsort(descending=True, stable=True)
    shown, others = order[:MOST_CANDIDATES], order[MOST_CANDIDATES:]
    names = [tokens[token_id] for token_id in shown.tolist()]
    if len(others):
        names.append(f"{len(others)} others")
    bars = (
        [
            *probabilities[shown].tolist(),
            *([float(probabilities[others].sum())] * bool(len(others))),
        ]
        for probabilities in (own, drawn)
    )
    return names, *map(np.array, bars)


def _drawn(logits: Tensor, choice: dict[str, float | None]) -> Tensor:
    """The probability of every token to be drawn, shape (vocabulary,)."""
    return candidate_probabilities(logits.detach().cpu(), **choice)


def _sentence(drawn: Tensor, tokens: Sequence[str]) -> str:
    count, best = int((drawn > 0).sum()), int(drawn.argmax())
    chance = f"“{literal(tokens[best])}” has probability {float(drawn[best]):.0%}"
    return f"{count} of {len(tokens)} tokens may be drawn; {chance}"
