"""Inside the block the package splits its heads by the given function, and only there."""

import pytest
import torch

from transformer_course.multi_head_attention.faults import heads_split_by
from transformer_edu.model.attention import MultiHeadAttention, split_heads


def view_split(x, num_heads):
    return x.view(x.size(0), num_heads, x.size(1), -1)


def test_the_split_changes_inside_the_block_only():
    layer, x = MultiHeadAttention(d_model=6, num_heads=3), torch.randn(2, 4, 6)
    usual = layer(x, x, x)
    with heads_split_by(split_heads):
        torch.testing.assert_close(layer(x, x, x), usual)
    with heads_split_by(view_split):
        assert not torch.allclose(layer(x, x, x), usual)
    torch.testing.assert_close(layer(x, x, x), usual)


def test_after_an_error_the_split_is_the_packages():
    layer, x = MultiHeadAttention(d_model=6, num_heads=3), torch.randn(2, 4, 6)
    usual = layer(x, x, x)
    with pytest.raises(KeyboardInterrupt), heads_split_by(view_split):
        raise KeyboardInterrupt
    torch.testing.assert_close(layer(x, x, x), usual)
