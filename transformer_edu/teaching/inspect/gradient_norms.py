"""How strongly the loss pulls at each layer, for one batch, and a figure to compare models.

Written out for the decoder in notebooks/06_feed_forward_add_and_norm.ipynb; here for every weight.
Used in notebooks/15_looking_inside.ipynb.
"""

import math
from collections.abc import Mapping

import numpy as np
import torch
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from transformer_edu.generation.evaluation_mode import evaluation_mode
from transformer_edu.model.transformer import Transformer
from transformer_edu.teaching.style import PALE, literal, new_axes, styled
from transformer_edu.training.data.batches import Batch
from transformer_edu.training.loss import token_loss
from transformer_edu.training.machine.device import device_of, suitable_threads

EMBEDDINGS = "embeddings"
MOST_MODELS = 5  # as many colours and markers as the style has


def gradient_norms(model: Transformer, batch: Batch) -> dict[str, float]:
    """The length of the loss's gradient in each layer's weights, put into one long vector.

    Dropout is off. The squares of all lengths sum to the square of the whole gradient's.

    Args:
        model: Trained or not; it stays as it was.
        batch: What it is to predict.

    Returns:
        Lengths by name: "embeddings" (all that stands outside the layers, the output projection
        too), "encoder 1" …, "decoder 1" …; a final normalisation counts with the layer before it.

    Raises:
        TypeError: If model is no Transformer or batch no Batch.
        ValueError: If the batch has ids or lengths that are not the model's, or no weight of the
            model may learn.
    """
    if not isinstance(model, Transformer):
        raise TypeError(f"model must be a Transformer, got {type(model).__name__}")
    if not isinstance(batch, Batch):
        raise TypeError(f"batch must be a Batch, got {type(batch).__name__}")
    weights = {name: each for name, each in model.named_parameters() if each.requires_grad}
    if not weights:
        raise ValueError("model must have a weight that requires a gradient, got none")
    with evaluation_mode(model), suitable_threads(model), torch.enable_grad():
        batch = batch.to(device_of(model))
        loss = token_loss(model(batch.source_ids, batch.decoder_input_ids), batch.label_ids)
        # Not backward(): that would add to the gradients that the weights may hold.
        found = torch.autograd.grad(loss, list(weights.values()), materialize_grads=True)
    squares = dict.fromkeys(
        [EMBEDDINGS, *_layers("encoder", model), *_layers("decoder", model)], 0.0
    )
    for name, gradient in zip(weights, found, strict=True):
        squares[_place(name, model)] += float(gradient.cpu().double().square().sum())
    return {place: math.sqrt(square) for place, square in squares.items()}


@styled
def plot_gradient_norms(norms: Mapping[str, Mapping[str, float]], *, title: str) -> Figure:
    """Draw each model's gradient from the embeddings to the last layer, on one log scale.

    Args:
        norms: What gradient_norms returns, by what the model is called; one to five.
        title: What the reader should see, as a sentence.

    Returns:
        A new figure.

    Raises:
        TypeError: If norms is no such mapping.
        ValueError: If there are no models or too many, two have other layers, or a length is not
            above 0, where a log scale ends.
    """
    _require_norms(norms)
    places = list(next(iter(norms.values())))
    axes = new_axes(None, min(2.6 + 0.55 * len(places), 9), 4)
    stacks = [place.split()[0] for place in places]
    borders = [x for x in range(1, len(stacks)) if stacks[x] != stacks[x - 1]]
    for name, lengths in norms.items():
        heights = np.insert(list(lengths.values()), borders, np.nan)  # where no line is drawn
        x = np.insert(np.arange(len(places), dtype=float), borders, np.nan)
        axes.plot(x, heights, label=literal(name, longest=None))
    for border in borders:
        axes.axvline(border - 0.5, color=PALE, marker="", zorder=0)
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter("")
    axes.set_xticks(range(len(places)), places, rotation=45, ha="right", rotation_mode="anchor")
    axes.set_xlabel("where the weights are")
    axes.set_ylabel("length of the gradient")
    axes.set_title(title)
    if len(norms) > 1:
        axes.legend(loc="upper left", bbox_to_anchor=(1, 1))
    return axes.figure


def _require_norms(norms: Mapping[str, Mapping[str, float]]) -> None:
    """Refuse what cannot be drawn on one log scale."""
    if not isinstance(norms, Mapping) or not all(isinstance(x, Mapping) for x in norms.values()):
        raise TypeError(f"norms must map models to their layers' lengths, got {norms!r:.60}")
    if not 0 < len(norms) <= MOST_MODELS:
        raise ValueError(f"norms must be of 1 to {MOST_MODELS} models, got {len(norms)}")
    places = list(next(iter(norms.values())))
    if not places:
        raise ValueError("norms must hold at least one layer, got none")
    for name, lengths in norms.items():
        if list(lengths) != places:
            raise ValueError(
                f"norms must have the same layers, got {name!r} with {', '.join(lengths)}"
            )
        for place, length in lengths.items():
            if isinstance(length, bool) or not isinstance(length, int | float):
                raise TypeError(f"norms must be numbers, got {length!r} at {place}")
            if not 0 < length < math.inf:
                raise ValueError(f"norms must be finite and above 0, got {length} at {place}")


def _layers(stack: str, model: Transformer) -> list[str]:
    return [f"{stack} {number + 1}" for number in range(len(getattr(model, stack).layers))]


def _place(name: str, model: Transformer) -> str:
    """The layer that a weight belongs to, by the weight's name."""
    stack, *rest = name.split(".")
    if stack not in ("encoder", "decoder"):
        return EMBEDDINGS
    if rest[0] == "layers":
        return f"{stack} {int(rest[1]) + 1}"
    return _layers(stack, model)[-1]
