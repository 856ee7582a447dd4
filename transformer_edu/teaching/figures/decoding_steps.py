"""One step of generation: the likeliest tokens, where every head attends, and what may be drawn.

Used in notebooks/12_generation.ipynb.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from torch import Tensor

from transformer_edu.generation.evaluation_mode import evaluation_mode
from transformer_edu.generation.greedy import greedy_search
from transformer_edu.generation.sampling import candidate_probabilities
from transformer_edu.model.transformer import Transformer
from transformer_edu.model.vocabulary import START_ID
from transformer_edu.teaching.figures.grid import draw_weights
from transformer_edu.teaching.inspect.recording import record_attention
from transformer_edu.teaching.style import BLACK, BLUE, PALE, literal, styled, title_above
from transformer_edu.training.data.vocabulary import Vocabulary

MOST_BARS = 7  # tokens in question; the others together are one more bar
EDGE = "#5C6670"
# Left edge and width of the bars, the heads and the color scale, in parts of the figure.
PLACES = ((0.11, 0.32), (0.53, 0.36), (0.91, 0.02))


@dataclass(frozen=True, kw_only=True)
class DecodingStep:
    """The prefix, the logits and the attention of the step that chose one token.

    Args:
        source_words: The sentence that is translated.
        written: The words before this step.
        chosen: The token that greedy search has taken.
        logits: Of every token, shape (vocabulary,).
        attention: Of the last cross-attention, (heads, source word).
    """

    source_words: list[str]
    written: list[str]
    chosen: str
    logits: Tensor
    attention: Tensor


def decoding_steps(
    model: Transformer, vocabulary: Vocabulary, words: Sequence[str]
) -> list[DecodingStep]:
    """Translate a sentence greedily and keep every step, the end token's included.

    Args:
        model: A trained model.
        vocabulary: Its joint vocabulary.
        words: The sentence, word by word; unknown words are read as the unknown token.

    Raises:
        TypeError, ValueError: If words is a single text or empty.
    """
    device = model.output_projection.weight.device
    source_ids = torch.tensor([vocabulary.encode(words)], dtype=torch.long, device=device)
    (written,) = greedy_search(model, source_ids)
    read = torch.tensor([[START_ID, *written][: model.config.max_length]], device=device)
    # One pass over the whole target repeats every step, as in training.
    with evaluation_mode(model), record_attention(model) as recorded:
        logits = model(source_ids, read)[0].cpu()  # (step, vocabulary)
    last = len(model.decoder.layers) - 1
    attention = recorded[f"decoder.layers.{last}.cross_attention"][0].cpu()
    chosen = vocabulary.decode(logits.argmax(dim=-1).tolist())
    return [
        DecodingStep(
            source_words=list(words),
            written=vocabulary.decode(written[:step]),
            chosen=chosen[step],
            logits=logits[step],
            attention=attention[:, step],
        )
        for step in range(len(logits))
    ]


@styled
def plot_decoding_step(
    steps: Sequence[DecodingStep], *, step: int, tokens: Sequence[str]
) -> Figure:
    """Draw one step: the likeliest tokens as bars, and next to them where the heads attend.

    The token that was taken is dark; all that are not among the likeliest are one bar.

    Args:
        steps: What decoding_steps returns.
        step: Which one, counted from 1.
        tokens: The token of every id.

    Returns:
        A new figure.
    """
    shown = steps[step - 1]
    # Placed by hand: matplotlib's own layout takes longer than the drawing.
    figure = plt.figure(figsize=(9, 3.7), layout="none")
    bars, heads, scale = (figure.add_axes((left, 0.28, width, 0.6)) for left, width in PLACES)
    _draw_bars(bars, shown, tokens)
    rows = [f"head {head}" for head in range(1, len(shown.attention) + 1)]
    image = draw_weights(heads, shown.attention, rows, shown.source_words)
    heads.set_aspect("auto")
    figure.colorbar(image, cax=scale, label="attention weight")
    heads.set(xlabel="source word (key)")
    written = literal(" ".join(["<s>", *shown.written]), longest=60)
    title_above(figure, f"Step {step} of {len(steps)}: {written} → {literal(shown.chosen)}")
    return figure


def describe_decoding_step(
    steps: Sequence[DecodingStep], *, step: int, tokens: Sequence[str]
) -> str:
    """The step in words: the likeliest tokens, and each head's largest weight."""
    shown = steps[step - 1]
    names, probabilities = _likeliest(shown, tokens)
    likely = [f"{name} {p:.2f}" for name, p in zip(names, probabilities, strict=True)]
    largest = [
        f"head {head} to {shown.source_words[int(weights.argmax())]}"
        for head, weights in enumerate(shown.attention, start=1)
    ]
    source, written = " ".join(shown.source_words), " ".join(shown.written) or "nothing"
    return (
        f"step {step} of {len(steps)} for {source}: generated so far: {written}; "
        f"probabilities {', '.join(likely)}; largest weight of {', '.join(largest)}"
    )


def _draw_bars(axes: Axes, shown: DecodingStep, tokens: Sequence[str]) -> None:
    names, probabilities = _likeliest(shown, tokens)
    colors = [BLUE, *[PALE] * (len(names) - 1)]
    bars = axes.barh(names, probabilities, color=colors, edgecolor=EDGE, linewidth=1)
    axes.bar_label(bars, [f"{each:.2f}" for each in probabilities], padding=3, fontsize=12)
    axes.set_yticks(range(len(names)), names)
    axes.get_yticklabels()[0].set_fontweight("bold")
    axes.set(xlim=(0, 1.18), xlabel="probability of the next token")
    axes.set_xticks([0, 0.5, 1])
    axes.invert_yaxis()


def _likeliest(shown: DecodingStep, tokens: Sequence[str]) -> tuple[list[str], list[float]]:
    """Names and probabilities of the likeliest tokens, and of all others together."""
    best = shown.logits.softmax(dim=-1).topk(min(MOST_BARS, len(shown.logits)))
    names = [literal(tokens[token_id]) for token_id in best.indices.tolist()]
    probabilities = best.values.tolist()
    others = len(shown.logits) - len(names)
    if others:
        names.append(f"{others} others")
        probabilities.append(max(0.0, 1 - sum(probabilities)))
    return names, probabilities


MOST_CANDIDATES = 10


@styled
def plot_candidates(
    logits: Tensor,
    *,
    tokens: Sequence[str],
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> Figure:
    """Draw the likeliest tokens: the model's distribution and the one that is sampled from.

    A black line marks the model's own probability. A filled bar is the probability of being drawn;
    a hatched bar is a token that top-k or top-p has cut off. The last bar is all other tokens.

    Args:
        logits: Of every token, shape (vocabulary,).
        tokens: The token of every id.
        temperature, top_k, top_p: As for candidate_probabilities.

    Returns:
        A new figure.

    Raises:
        TypeError, ValueError: As for candidate_probabilities.
    """
    choice = {"temperature": temperature, "top_k": top_k, "top_p": top_p}
    names, own, drawn = _bars(logits, tokens, choice)
    figure, axes = plt.subplots(figsize=(8, 3.9))
    place, may = np.arange(len(names)), drawn > 0
    axes.bar(place[may], drawn[may], color=BLUE)
    axes.bar(place[~may], own[~may], fc="white", ec=EDGE, hatch="///", linewidth=1)
    axes.hlines(own, place - 0.46, place + 0.46, color=BLACK, linewidth=2.5)
    for x, (one, other) in enumerate(zip(own, drawn, strict=True)):
        label = f"{other:.2f}" if other > 0 else "cut"
        axes.text(x, max(one, other) + 0.02, label, ha="center", fontsize=12)
    names = [literal(name) for name in names]
    axes.set_xticks(place, names, rotation=30, ha="right", rotation_mode="anchor")
    axes.set(ylim=(0, 1.1), ylabel="probability")
    axes.set_yticks([0, 0.5, 1])
    axes.legend(
        handles=[
            Patch(facecolor=BLUE, label="is drawn with this probability"),
            Patch(facecolor="white", edgecolor=EDGE, hatch="///", label="cut off"),
            axes.plot([], [], color=BLACK, linewidth=2.5, marker="", label="the model's own")[0],
        ],
        loc="upper center",
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
) -> str:
    """The bars in words: the settings, and the likeliest tokens with both probabilities."""
    choice = {"temperature": temperature, "top_k": top_k, "top_p": top_p}
    limits = f"top-k {top_k or 'off'}, top-p {top_p or 'off'}"
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
    chance = f"{literal(tokens[best])} has probability {float(drawn[best]):.0%}"
    return f"{count} of {len(tokens)} tokens may be drawn; {chance}"
