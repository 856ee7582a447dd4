"""The feed-forward network is equation 2 (§3.3), at every position on its own."""

import pytest
import torch
from torch import nn

from transformer_edu.model.feed_forward import FeedForward

BATCH, POSITION, D_MODEL, D_FF = 2, 3, 4, 7


@pytest.fixture
def feed_forward() -> FeedForward:
    return FeedForward(d_model=D_MODEL, d_ff=D_FF)


@pytest.fixture
def x() -> torch.Tensor:
    return torch.randn(BATCH, POSITION, D_MODEL)


def test_it_is_equation_two(feed_forward, x):
    inner = x @ feed_forward.widen.weight.T + feed_forward.widen.bias
    assert (inner < 0).any()
    assert (inner > 0).any()
    zero = torch.zeros(BATCH, POSITION, D_FF)
    expected = torch.maximum(zero, inner) @ feed_forward.narrow.weight.T + feed_forward.narrow.bias
    torch.testing.assert_close(feed_forward(x), expected)


def test_it_agrees_with_pytorchs_sequence_of_layers(feed_forward, x):
    pytorch = nn.Sequential(feed_forward.widen, nn.ReLU(), feed_forward.narrow)
    torch.testing.assert_close(feed_forward(x), pytorch(x))


@pytest.mark.parametrize(
    ("activation", "between"),
    [("relu", nn.ReLU()), ("gelu", nn.GELU()), ("gelu_tanh", nn.GELU("tanh")), ("silu", nn.SiLU())],
)
def test_the_function_between_the_layers_is_the_one_named(x, activation, between):
    feed_forward = FeedForward(d_model=D_MODEL, d_ff=D_FF, activation=activation)
    pytorch = nn.Sequential(feed_forward.widen, between, feed_forward.narrow)
    torch.testing.assert_close(feed_forward(x), pytorch(x))


def test_a_position_does_not_depend_on_the_others(feed_forward, x):
    for position in range(POSITION):
        alone = feed_forward(x[:, position : position + 1])
        torch.testing.assert_close(feed_forward(x)[:, position : position + 1], alone)
    turned = x.flip(dims=[1])
    torch.testing.assert_close(feed_forward(turned), feed_forward(x).flip(dims=[1]))


def test_without_the_bend_it_would_be_one_linear_map(feed_forward, x):
    origin = feed_forward(torch.zeros_like(x))
    opposite = feed_forward(x) + feed_forward(-x) - 2 * origin
    assert opposite.abs().max() > 0.1


def test_gradients_are_right():
    feed_forward = FeedForward(d_model=D_MODEL, d_ff=D_FF).double()
    x = torch.randn(BATCH, POSITION, D_MODEL, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(feed_forward, (x,))


def test_both_layers_have_weights_and_biases(feed_forward):
    sizes = {name: tuple(value.shape) for name, value in feed_forward.named_parameters()}
    assert sizes == {
        "widen.weight": (D_FF, D_MODEL),
        "widen.bias": (D_FF,),
        "narrow.weight": (D_MODEL, D_FF),
        "narrow.bias": (D_MODEL,),
    }


def test_what_is_given_is_left_as_it_was(feed_forward, x):
    before = x.clone()
    feed_forward(x)
    assert torch.equal(x, before)
