"""The check-up finds no illness in healthy models, and leaves them as they were."""

import random

import numpy as np
import pytest
import torch
from torch import nn

from tests.checkup.healthy_models import BUILDERS, built
from transformer_edu.checkup import assert_healthy, check_up

KINDS = {
    "our Transformer": "encoder-decoder",
    "nn.Transformer, the batch second": "encoder-decoder",
    "T5": "encoder-decoder",
    "our LanguageModel, rotary": "decoder-only",
    "nanoGPT-like": "decoder-only",
    "Mistral, window of 3": "decoder-only",
    "x-transformers decoder": "decoder-only",
    "nn.TransformerEncoder, fast path": "encoder-only",
    "BERT": "encoder-only",
    "x-transformers encoder": "encoder-only",
}
# Probes that must have been tried, and passed: not left out as unknown.
PASSED = {
    "our Transformer": "future source_padding padding order cache generation stopping gradients",
    "the reader's Transformer": "future source_padding padding order generation gradients tied",
    "GPT-2": "future padding left_padding empty_row cache generation stopping labels entropy",
    "BART": "future source_padding padding cache generation stopping labels loss_padding",
    "BERT": "padding left_padding empty_row order gradients dropout half depth",
    "nanoGPT-like": "future neighbors generation labels entropy tied unsure",
    "nn.TransformerEncoder, fast path": "padding empty_row order gradients dropout",
}


@pytest.mark.parametrize("name", BUILDERS)
def test_a_healthy_model_has_no_illness(name):
    report = check_up(built(name))
    assert report.illnesses == [], f"\n{report}"
    assert report.kind == KINDS.get(name, report.kind)
    passed = {each.probe for each in report.findings if each.status == "healthy"}
    assert {*PASSED.get(name, "").split()} <= passed, f"\n{report}"


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("name", ["our Transformer", "GPT-2", "BERT"])
def test_a_model_in_half_precision_is_healthy_too(name, dtype):
    assert_healthy(built(name).to(dtype))


def test_a_model_of_the_base_size_is_healthy():
    sizes = {"d_model": 512, "num_heads": 8, "num_layers": 6, "d_ff": 2048}
    from transformer_edu.model.transformer import Transformer, TransformerConfig

    torch.manual_seed(0)
    assert_healthy(Transformer(TransformerConfig(vocabulary_size=1000, **sizes)))


def state_of(model: nn.Module) -> list[object]:
    tensors = [*model.parameters(), *model.buffers()]
    return [
        [each.detach().clone() for each in tensors],
        [None if each.grad is None else each.grad.clone() for each in model.parameters()],
        [module.training for module in model.modules()],
        [len(module._forward_hooks) for module in model.modules()],
    ]


@pytest.mark.parametrize("name", ["our Transformer", "nanoGPT-like", "BERT"])
def test_a_model_and_the_random_states_are_left_as_they_were(name):
    model = built(name)
    model.train()
    next(model.modules()).eval()
    for weight in model.parameters():
        weight.grad = torch.ones_like(weight)
    before = state_of(model)
    states = torch.get_rng_state(), random.getstate(), repr(np.random.get_state())
    check_up(model)
    assert torch.get_rng_state().equal(states[0])
    assert (random.getstate(), repr(np.random.get_state())) == states[1:]
    for old, new in zip(before[0] + before[1], sum(state_of(model)[:2], []), strict=True):
        assert old.equal(new)
    assert state_of(model)[2:] == before[2:]


@pytest.mark.parametrize("name", ["our Transformer", "GPT-2", "nn.TransformerEncoder"])
def test_a_second_check_up_says_the_same(name):
    torch.manual_seed(7)
    first = check_up(built(name))
    torch.manual_seed(8)
    assert check_up(built(name)).to_json() == first.to_json()
