"""Short and long sentences compared: their probabilities, and the curve of equal score.

Used in notebooks/11_generation.ipynb.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from transformer_edu.generation.hypotheses import length_penalty
from transformer_edu.teaching.style import BLACK, BLUE, VERMILION, literal, new_axes, styled

UNSEEN = "#8A94A0"


@styled
def plot_sentence_scores(
    log_probabilities: Mapping[str, float],
    *,
    found: Sequence[str],
    alpha: float,
    axes: Axes | None = None,
) -> Figure:
    """Draw every sentence by its length and log-probability, with the curve of equal score.

    The curve goes through the best of the sentences that were found: what lies above it would
    score better, what lies below it worse. It is level when alpha is 0 and bends down when long
    sentences are favoured.

    Args:
        log_probabilities: Of every possible sentence, in nats; the empty one is "".
        found: The sentences that a search has finished, in its order; the others are hollow.
        alpha: The exponent of the length penalty.
        axes: Where to draw; a new figure when None.

    Returns:
        The figure drawn on.
    """
    best = best_sentence(log_probabilities, found=found, alpha=alpha)
    axes = new_axes(axes, 8, 4.2)
    longest = max(map(_length, log_probabilities))
    lengths = np.linspace(1, longest, 100)
    score = log_probabilities[best] / length_penalty(_length(best), alpha)
    curve = [score * length_penalty(length, alpha) for length in lengths]
    axes.plot(lengths, curve, "--", color=BLACK, marker="", label="equal score")
    _draw_points(axes, log_probabilities, set(found), best)
    for length in sorted(set(map(_length, found))):
        name = max((n for n in found if _length(n) == length), key=log_probabilities.get)
        _write(axes, name, log_probabilities[name], is_best=name == best, longest=longest)
    axes.set(xlabel="length in tokens, the end token included", ylabel="log-probability in nats")
    axes.set(xlim=(0.5, longest + 0.5), ylim=(1.06 * min(log_probabilities.values()), 0))
    axes.set_xticks(range(1, longest + 1))
    axes.legend(loc="upper right")
    axes.set_title(f"α = {alpha:g}: {_quoted(best)} wins")
    return axes.figure


def describe_sentence_scores(
    log_probabilities: Mapping[str, float], *, found: Sequence[str], alpha: float
) -> str:
    """The picture in words: what was found, with what scores, best first."""
    scores = {
        name: log_probabilities[name] / length_penalty(_length(name), alpha) for name in found
    }
    said = [
        f"{_quoted(name)} with log-probability {log_probabilities[name]:.2f} and score {each:.2f}"
        for name, each in sorted(scores.items(), key=lambda item: -item[1])
    ]
    return (
        f"{len(log_probabilities)} sentences by length and log-probability, alpha {alpha:g}; "
        f"found, best first: {', '.join(said)}"
    )


def best_sentence(
    log_probabilities: Mapping[str, float], *, found: Sequence[str], alpha: float
) -> str:
    """Which of the sentences that were found scores best; of equal scores, the earlier.

    Args:
        log_probabilities: Of every possible sentence, in nats.
        found: The sentences that a search has finished, in its order.
        alpha: The exponent of the length penalty.

    Raises:
        ValueError: If a sentence that was found is not one of log_probabilities.
    """
    for name in found:
        if name not in log_probabilities:
            raise ValueError(f"found must hold sentences of log_probabilities, got {name!r}")
    return max(
        found, key=lambda name: log_probabilities[name] / length_penalty(_length(name), alpha)
    )


def _draw_points(
    axes: Axes, log_probabilities: Mapping[str, float], found: set[str], best: str
) -> None:
    """Hollow what was not found, full what was, a star for the best."""
    for names, style in (
        (
            log_probabilities.keys() - found,
            {"mec": UNSEEN, "mfc": "white", "ms": 7, "label": "not found by this beam"},
        ),
        (found - {best}, {"color": BLUE, "ms": 9, "label": "found"}),
        ({best}, {"color": VERMILION, "marker": "*", "ms": 19, "label": "found, best score"}),
    ):
        lengths, heights = map(_length, names), map(log_probabilities.get, names)
        axes.plot([*lengths], [*heights], **({"ls": "", "marker": "o"} | style))


def _write(axes: Axes, name: str, y: float, *, is_best: bool, longest: int) -> None:
    """The sentence beside its point, where there is room; the best one's clear of the curve."""
    on_the_left = _length(name) > longest / 2
    axes.annotate(
        _quoted(name) if name else "(empty)",
        (_length(name), y),
        xytext=(-12, -12) if on_the_left else (12, 12 if is_best else -12),
        textcoords="offset points",
        ha="right" if on_the_left else "left",
        va="center",
        fontsize=12,
        fontweight="bold" if is_best else "normal",
    )


def _length(sentence: str) -> int:
    """Its tokens, the end token included."""
    return len(sentence.split()) + 1


def _quoted(sentence: str) -> str:
    return f"“{literal(sentence, longest=None)}”" if sentence else "the empty sentence"
