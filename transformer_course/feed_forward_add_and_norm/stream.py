"""The residual stream of an encoder: what each sub-layer reads from it, and what it adds."""

from typing import NamedTuple

import torch
from torch import Tensor

from transformer_edu.generation.evaluation_mode import evaluation_mode
from transformer_edu.model.encoder import Encoder, EncoderLayer
from transformer_edu.training.machine.device import device_of


class Addition(NamedTuple):
    """One sub-layer around the stream, for all words; every tensor is (word, d_model)."""

    before: Tensor  # the stream
    read: Tensor  # what the sub-layer reads of it: with pre-norm, the stream after a norm
    added: Tensor  # the sub-layer's output
    after: Tensor  # the stream: the sum, and with post-norm the sum after a norm


def additions(encoder: Encoder, x: Tensor) -> list[Addition]:
    """Run an encoder and keep what every sub-layer does: attention, feed-forward, and so on.

    Args:
        encoder: Nothing is dropped.
        x: The vectors that enter the first layer, shape (word, d_model).

    Returns:
        Two for each layer. A norm after the last layer is not among them.
    """
    found: list[Addition] = []
    stream = x.unsqueeze(0)  # a batch of one
    with evaluation_mode(encoder):
        for layer in encoder.layers:
            attention = layer.self_attention
            for around, sublayer in (
                (layer.around_self_attention, lambda y, of=attention: of(y, y, y)),
                (layer.around_feed_forward, layer.feed_forward),
            ):
                read = around.norm(stream) if around.norm_first else stream
                added = sublayer(read)
                after = around(stream, lambda _, output=added: output)
                found.append(Addition(stream[0], read[0], added[0], after[0]))
                stream = after
    return found


def lengths_and_angles(encoder: Encoder, x: Tensor) -> Tensor:
    """Six numbers for every word at every place: the input, each sub-layer, and the last norm.

    Args:
        encoder, x: As for additions.

    Returns:
        Shape (place, word, 6): the lengths of what is read, of what is added, of the sum and of
        the stream after it; the cosine of stream and addition; and the cosine of the stream after
        it with the input. At the input and at the last norm, which only an encoder with such a
        norm has, nothing is read or added.
    """
    nothing = torch.zeros_like(x)
    steps = [Addition(x, nothing, nothing, x), *additions(encoder, x)]
    if encoder.final_norm is not None:
        end = steps[-1].after
        steps.append(Addition(end, nothing, nothing, encoder.final_norm(end).detach()))
    return torch.stack([_numbers(step, x) for step in steps])


def _numbers(step: Addition, x: Tensor) -> Tensor:
    vectors = (step.read, step.added, step.before + step.added, step.after)
    cosines = ((step.before, step.added), (step.after, x))
    return torch.stack(
        [
            *(each.norm(dim=-1) for each in vectors),
            *(torch.cosine_similarity(*pair, dim=-1) for pair in cosines),
        ],
        dim=-1,
    )


def untrained_twins(encoder: Encoder) -> dict[str, Encoder]:
    """Encoders of the same sizes with random weights, always the same: pre-norm and post-norm.

    Args:
        encoder: Gives the sizes and the device.

    Returns:
        Both by name, without a norm after the last layer.
    """
    first = encoder.layers[0]
    sizes = {
        "d_model": first.self_attention.d_model,
        "num_heads": first.self_attention.num_heads,
        "d_ff": first.feed_forward.widen.out_features,
    }
    twins = {}
    with torch.random.fork_rng(devices=[]):
        for order in ("pre-norm", "post-norm"):
            torch.manual_seed(0)
            options = {"norm_first": order == "pre-norm"}
            layers = [EncoderLayer(**sizes, **options) for _ in encoder.layers]
            twins[f"{order}, untrained"] = Encoder(layers).to(device_of(encoder))
    return twins
