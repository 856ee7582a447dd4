"""S4, shapes of self-attention: the walk from words to words."""

import torch

from transformer_course.looking.shape_trace import trace
from transformer_edu.model.encoder import EncoderLayer

S4_BATCH, S4_LENGTH, S4_WIDTH, S4_HEADS = 2, 10, 512, 8


def test_s4_the_walk_is_printed_from_a_real_forward_pass():
    layer = EncoderLayer(d_model=S4_WIDTH, num_heads=S4_HEADS, d_ff=2048)
    shapes = {step.shape for step in trace(layer, torch.randn(S4_BATCH, S4_LENGTH, S4_WIDTH))}
    assert {(2, 10, 512), (2, 8, 10, 64), (2, 8, 10, 10), (2, 10, 2048)} <= shapes
