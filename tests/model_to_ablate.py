"""A small Transformer whose heads and sub-layers tests switch off, and ids for it to read."""

import torch
from torch import Tensor

from tests.small_model import small_transformer
from transformer_edu.model.transformer import Transformer

HEADS, D_HEAD, LAYERS, BATCH, SOURCE, TARGET = 4, 6, 2, 3, 7, 5
CROSS = "decoder.layers.1.cross_attention"
NAMES = [
    "encoder.layers.0.self_attention",
    "encoder.layers.1.self_attention",
    "decoder.layers.0.self_attention",
    "decoder.layers.0.cross_attention",
    "decoder.layers.1.self_attention",
    CROSS,
]


def model_to_ablate(*, norm_first: bool) -> Transformer:
    """Two layers of four heads on each side, without dropout."""
    sizes = {"d_model": HEADS * D_HEAD, "num_heads": HEADS, "num_layers": LAYERS, "d_ff": 20}
    return small_transformer(20, **sizes, dropout=0.0, norm_first=norm_first)


def source_and_target() -> tuple[Tensor, Tensor]:
    """Source ids, of which a row is padded, and target ids: (batch, position) each."""
    torch.manual_seed(1)
    source = torch.randint(4, 20, (BATCH, SOURCE))
    source[1, 4:] = 0
    return source, torch.randint(4, 20, (BATCH, TARGET))
