"""One step of generation: the likeliest tokens, and where every head attends.

Used in notebooks/11_generation.ipynb.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import matplotlib.pyplot as plt
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from transformer_edu.generation.evaluation_mode import evaluation_mode
from transformer_edu.generation.greedy import greedy_search
from transformer_edu.model.transformer import Transformer
from transformer_edu.model.vocabulary import START_ID
from transformer_edu.refusals import require_whole
from transformer_edu.teaching.figures.grid import draw_weights
from transformer_edu.teaching.inspect.recording import record_attention
from transformer_edu.teaching.style import BLUE, PALE, literal, styled
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

    Raises:
        TypeError, ValueError: If there is no such step.
    """
    shown = _step(steps, step)
    # Placed by hand: to let matplotlib find the places would take longer than to draw.
    figure = plt.figure(figsize=(9, 3.7), layout="none")
    bars, heads, scale = (figure.add_axes((left, 0.28, width, 0.6)) for left, width in PLACES)
    _draw_bars(bars, shown, tokens)
    rows = [f"head {head}" for head in range(1, len(shown.attention) + 1)]
    image = draw_weights(heads, shown.attention, rows, shown.source_words)
    heads.set_aspect("auto")
    figure.colorbar(image, cax=scale, label="attention weight")
    heads.set(xlabel="source word that is looked at")
    written = literal(" ".join(["<s>", *shown.written]), longest=60)
    figure.suptitle(
        f"Step {step} of {len(steps)}: {written} → {literal(shown.chosen)}",
        fontsize=14,
        x=0.01,
        ha="left",
    )
    return figure


def describe_decoding_step(
    steps: Sequence[DecodingStep], *, step: int, tokens: Sequence[str]
) -> str:
    """The step in words: the likeliest tokens, and each head's largest weight."""
    shown = _step(steps, step)
    names, probabilities = _likeliest(shown, tokens)
    likely = [f"{name} {p:.2f}" for name, p in zip(names, probabilities, strict=True)]
    looks = [
        f"head {head} at {shown.source_words[int(weights.argmax())]}"
        for head, weights in enumerate(shown.attention, start=1)
    ]
    written = " ".join(shown.written) or "nothing"
    return (
        f"step {step} of {len(steps)} for {' '.join(shown.source_words)}: written is {written}, "
        f"probabilities {', '.join(likely)}; most attention of {', '.join(looks)}"
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


def _step(steps: Sequence[DecodingStep], step: int) -> DecodingStep:
    require_whole("step", step)
    if step > len(steps):
        raise ValueError(f"step must be at most {len(steps)}, got {step}")
    return steps[step - 1]
