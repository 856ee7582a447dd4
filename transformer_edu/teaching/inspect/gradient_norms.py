"""How large the gradient of the loss is in each layer, for one batch.

Written out for one layer in notebooks/06_feed_forward_add_and_norm.ipynb; here for every layer.
Used in notebooks/16_looking_inside.ipynb.
"""

import math

import torch

from transformer_edu.generation.evaluation_mode import evaluation_mode
from transformer_edu.model.transformer import Transformer
from transformer_edu.training.data.batches import Batch
from transformer_edu.training.loss import token_loss
from transformer_edu.training.machine.device import device_of, suitable_threads

EMBEDDINGS = "embeddings"


def gradient_norms(model: Transformer, batch: Batch) -> dict[str, float]:
    """The norm of the loss's gradient in each layer, over all weights of the layer together.

    Dropout is off. The squares of all norms sum to the square of the whole gradient's norm.

    Args:
        model: Trained or not; it is not changed.
        batch: What the model predicts.

    Returns:
        Norms by name: "embeddings" (everything outside the layers, the output projection too),
        "encoder 1" …, "decoder 1" …; a final normalization counts with the layer before it.

    """
    weights = {name: each for name, each in model.named_parameters() if each.requires_grad}
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
