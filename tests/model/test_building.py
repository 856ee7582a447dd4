"""The stacks are built as they are asked for, and weights start as documented."""

import math

import torch
from torch import nn

from transformer_edu.model.building import build_stacks, initialise

SIZES = {"d_model": 6, "num_heads": 3, "d_ff": 10, "dropout": 0.0}


def test_both_stacks_have_as_many_layers_as_asked_for_and_no_two_are_alike():
    stacks = build_stacks(num_layers=3, final_norm=False, **SIZES)
    for stack in stacks:
        assert len(stack.layers) == 3
        first, second, _ = (layer.feed_forward.widen.weight for layer in stack.layers)
        assert not torch.equal(first, second)


def test_a_final_norm_stands_at_the_end_of_each_stack_or_of_none():
    for stack in build_stacks(num_layers=1, final_norm=True, **SIZES):
        assert isinstance(stack.final_norm, nn.LayerNorm)
    for stack in build_stacks(num_layers=1, final_norm=False, **SIZES):
        assert stack.final_norm is None


def test_matrices_start_within_xaviers_range_and_biases_at_zero():
    model = nn.Sequential(nn.Linear(40, 60), nn.Embedding(5, 4))
    before = model[1].weight.clone()
    initialise(model)
    largest = math.sqrt(6 / (40 + 60))
    weight = model[0].weight.detach()
    assert 0.9 * largest < weight.abs().max() <= largest
    assert torch.equal(model[0].bias, torch.zeros(60))
    assert torch.equal(model[1].weight, before)
