"""Building the stacks and starting their weights; ``Transformer`` is what uses both."""

from torch import nn

from transformer_edu.model.decoder import Decoder, DecoderLayer
from transformer_edu.model.encoder import Encoder, EncoderLayer


def build_stacks(
    *, num_layers: int, final_norm: bool, **sizes: int | float | bool
) -> tuple[Encoder, Decoder]:
    """An encoder and a decoder of equally many layers (paper §3.1).

    Every layer is built anew, so that no two start equal.

    Args:
        num_layers: Layers of each stack.
        final_norm: Whether each stack ends in a normalisation of its own.
        sizes: What every layer is built with: d_model, num_heads, d_ff and its other switches.

    Returns:
        The encoder and the decoder.
    """
    norms = [nn.LayerNorm(sizes["d_model"]) if final_norm else None for _ in range(2)]
    return (
        Encoder((EncoderLayer(**sizes) for _ in range(num_layers)), final_norm=norms[0]),
        Decoder((DecoderLayer(**sizes) for _ in range(num_layers)), final_norm=norms[1]),
    )


def initialise(model: nn.Module) -> None:
    """Xavier's uniform for matrices, zero for biases; embeddings stay N(0, 1/d_model).

    The paper does not say how its weights start; this is what most of its followers do.

    Args:
        model: Any module; its linear layers get new weights.
    """
    for linear in (module for module in model.modules() if isinstance(module, nn.Linear)):
        nn.init.xavier_uniform_(linear.weight)
        if linear.bias is not None:
            nn.init.zeros_(linear.bias)
