"""A list of heads gets the numbers of large matrices, and computes the same."""

import pytest
import torch
from torch import nn

from transformer_course.multi_head_attention.list_of_heads import ListOfHeads, as_list
from transformer_course.our_transformer import MultiHeadAttention

QUERY, KEY = torch.randn(2, 4, 12), torch.randn(2, 5, 12)


class ByKind(nn.Module):
    """A reader's class that keeps its matrices kind by kind, the keys first."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        for kind in ("k", "q", "v"):
            layers = [
                nn.Linear(d_model, d_model // num_heads, bias=False) for _ in range(num_heads)
            ]
            setattr(self, kind, nn.ModuleList(layers))
        self.w_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, query, key, value, mask=None):
        outputs = [
            (q(query) @ k(key).mT / k.out_features**0.5).softmax(-1) @ v(value)
            for q, k, v in zip(self.q, self.k, self.v, strict=True)
        ]
        return self.w_o(torch.cat(outputs, dim=-1))


class Scaffold(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()

    def forward(self, query, key, value, mask=None):
        return ...


@pytest.mark.parametrize(
    ("kind", "whose"),
    [(ListOfHeads, "Your ListOfHeads"), (ByKind, "Your"), (Scaffold, "The course's"), (int, "The")],
)
def test_a_list_of_heads_computes_what_large_matrices_compute(kind, whose, capsys):
    large = MultiHeadAttention(12, 3)
    listed = as_list(large, kind, num_heads=3)
    assert capsys.readouterr().out.startswith(whose)
    expected = large(QUERY, KEY, KEY)
    torch.testing.assert_close(listed(QUERY, KEY, KEY), expected, atol=1e-6, rtol=0)
