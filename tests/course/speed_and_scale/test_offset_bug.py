"""The bug of lesson 18 forgets the offset, and only inside its block."""

import torch

from tests.small_translator import small_translator
from transformer_course.speed_and_scale.offset_bug import offset_forgotten


def test_every_call_begins_at_position_0_inside_the_block():
    model = small_translator().model
    x = torch.zeros(1, 2, model.config.d_model)
    right = model.positions(x, offset=3)
    with offset_forgotten(model):
        torch.testing.assert_close(model.positions(x, offset=3), model.positions.table[:2][None])
    torch.testing.assert_close(model.positions(x, offset=3), right)
    assert not right.equal(model.positions(x))
