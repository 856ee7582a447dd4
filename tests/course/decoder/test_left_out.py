"""A word that is left out changes the outputs that may depend on it, and no others."""

import pytest
import torch

from transformer_course.decoder.left_out import change_without
from transformer_course.our_transformer import Decoder


def test_the_memory_changes_every_output_and_a_target_word_only_later_ones():
    torch.manual_seed(0)
    decoder, past = Decoder(2, 12, 3, 20, 0.0), torch.ones(4, 4, dtype=torch.bool).tril()
    x, memory = torch.randn(1, 4, 12), torch.randn(1, 5, 12)
    found = change_without(decoder, x, memory, past, side="memory")
    assert found.shape == (4, 5) and (found > 0).all()
    assert (change_without(decoder, x, memory, past, side="target") > 0).equal(past)
    without_second = memory.clone()
    without_second[:, 1] = 0
    before, after = decoder(x, memory, past)[0], decoder(x, without_second, past)[0]
    change = (after - before).norm(dim=-1) / before.norm(dim=-1)
    torch.testing.assert_close(found[:, 1], change.detach())
    with pytest.raises(ValueError, match="side must be memory or target, got 'x'"):
        change_without(decoder, x, memory, past, side="x")
