"""Add & Norm adds, drops and normalises in the order that §3.1 and §5.4 give."""

import pytest
import torch
from torch import Tensor, nn

from transformer_edu.model.add_and_norm import AddAndNorm

BATCH, POSITION, D_MODEL = 2, 3, 8


@pytest.fixture
def x() -> Tensor:
    return 5 + 3 * torch.randn(BATCH, POSITION, D_MODEL)


@pytest.fixture
def sublayer() -> nn.Linear:
    return nn.Linear(D_MODEL, D_MODEL)


def build(*, dropout: float = 0.0, norm_first: bool = False) -> AddAndNorm:
    """A box whose normalisation scales and shifts, as a trained one does."""
    box = AddAndNorm(d_model=D_MODEL, dropout=dropout, norm_first=norm_first)
    nn.init.normal_(box.norm.weight)
    nn.init.normal_(box.norm.bias)
    return box


def normalise(x: Tensor, norm: nn.LayerNorm) -> Tensor:
    """Layer normalisation, written out: mean 0, variance 1, then scale and shift."""
    centred = x - x.mean(dim=-1, keepdim=True)
    scale = (centred.pow(2).mean(dim=-1, keepdim=True) + 1e-5).sqrt()
    return centred / scale * norm.weight + norm.bias


def test_post_norm_normalises_the_sum(x, sublayer):
    box = build()
    torch.testing.assert_close(box(x, sublayer), normalise(x + sublayer(x), box.norm))


def test_pre_norm_normalises_what_the_sublayer_reads(x, sublayer):
    box = build(norm_first=True)
    torch.testing.assert_close(box(x, sublayer), x + sublayer(normalise(x, box.norm)))


def test_a_fresh_post_norm_box_gives_mean_zero_and_variance_one(x, sublayer):
    output = AddAndNorm(d_model=D_MODEL, dropout=0.0)(x, sublayer)
    torch.testing.assert_close(output.mean(dim=-1), torch.zeros(BATCH, POSITION))
    variance = output.var(dim=-1, unbiased=False)
    torch.testing.assert_close(variance, torch.ones(BATCH, POSITION), rtol=0, atol=1e-4)


def test_nothing_stands_on_the_residual_path_of_pre_norm(x):
    assert torch.equal(build(norm_first=True)(x, torch.zeros_like), x)


@pytest.mark.parametrize("norm_first", [True, False])
def test_dropout_meets_the_sublayers_output_and_nothing_else(x, norm_first):
    # Dropping everything leaves what went round the sub-layer.
    box = build(dropout=1.0, norm_first=norm_first)
    expected = x if norm_first else normalise(x, box.norm)
    torch.testing.assert_close(box(x, torch.ones_like), expected)


@pytest.mark.parametrize("norm_first", [True, False])
def test_dropout_stands_aside_in_eval_mode(x, sublayer, norm_first):
    box = build(dropout=0.5, norm_first=norm_first)
    assert not torch.equal(box(x, sublayer), box(x, sublayer))
    box.eval()
    assert torch.equal(box(x, sublayer), box(x, sublayer))


def test_dropping_scales_up_what_is_left(x):
    box = build(dropout=0.75, norm_first=True)
    added = (box(x, torch.ones_like) - x).round(decimals=3)
    assert set(added.unique().tolist()) == {0.0, 4.0}


@pytest.mark.parametrize("norm_first", [True, False])
def test_gradients_are_right(norm_first):
    box = build(norm_first=norm_first).double()
    sublayer = nn.Linear(D_MODEL, D_MODEL).double()
    x = torch.randn(BATCH, POSITION, D_MODEL, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: box(x, sublayer), (x,))


@pytest.mark.parametrize("norm_first", [True, False])
def test_what_is_given_is_left_as_it_was(x, norm_first):
    before = x.clone()
    build(dropout=0.5, norm_first=norm_first)(x, lambda y: y)
    assert torch.equal(x, before)
