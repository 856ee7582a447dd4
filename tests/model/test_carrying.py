"""Weights are carried as they are; what a part lacks becomes zero, what it is not is refused."""

import pytest
import torch
from torch import nn

from transformer_edu.model.carrying import copy_part, fill, settle


def test_a_linear_layers_weights_are_copied_and_not_shared():
    source, target = nn.Linear(3, 2), nn.Linear(3, 2)
    copy_part(source, target)
    assert torch.equal(target.weight, source.weight) and torch.equal(target.bias, source.bias)
    assert target.weight.data_ptr() != source.weight.data_ptr()


def test_a_missing_bias_becomes_zero():
    target = nn.Linear(3, 2)
    copy_part(nn.Linear(3, 2, bias=False), target)
    assert not target.bias.any()


def test_a_dropout_gives_its_probability():
    target = nn.Dropout(0.1)
    copy_part(nn.Dropout(0.7), target)
    assert target.p == 0.7


def test_another_kind_of_part_is_refused():
    with pytest.raises(TypeError, match="must hold a LayerNorm here, got Identity"):
        copy_part(nn.Identity(), nn.LayerNorm(3))
    with pytest.raises(TypeError, match="must hold a Linear here, got Dropout"):
        copy_part(nn.Dropout(), nn.Linear(3, 2))


def test_another_eps_is_refused():
    with pytest.raises(ValueError, match="eps of 1e-05, got 0.1"):
        copy_part(nn.LayerNorm(3, eps=0.1), nn.LayerNorm(3))


def test_filling_nothing_is_nothing():
    fill(None, torch.ones(2))


def test_a_twin_gets_its_models_type_and_mode():
    like = nn.Sequential(nn.Linear(3, 2)).double().eval()
    twin = settle(nn.Linear(3, 2, device="meta"), like=like)
    assert twin.weight.dtype == torch.float64 and twin.weight.device.type == "cpu"
    assert not twin.training
