"""Attention is recorded and switched off in a language model as in a Transformer."""

import pytest
import torch
import torch.nn.functional as F

from transformer_course.looking.ablation import every_head, heads_switched_off
from transformer_course.looking.recording import record_attention
from transformer_edu.model.attention import merge_heads, split_heads
from transformer_edu.variants.language_model import LanguageModel, LanguageModelConfig

SIZES = {"vocabulary_size": 11, "d_model": 24, "num_heads": 6, "num_layers": 2, "d_ff": 20}
IDS = torch.tensor([[1, 5, 2, 9, 3], [4, 4, 0, 7, 10]])
LAST = "layers.1.self_attention"


@pytest.fixture(params=["sinusoidal", "learned", "rotary"])
def model(request):
    torch.manual_seed(0)
    groups = 3 if request.param == "rotary" else None
    config = LanguageModelConfig(
        **SIZES, positions=request.param, num_key_value_heads=groups, norm_first=True
    )
    return LanguageModel(config).eval()


@torch.no_grad()
def test_the_recorded_weights_are_those_that_made_the_output(model):
    layer, seen = model.get_submodule(LAST), []
    hook = layer.register_forward_hook(lambda _, given, output: seen.append((*given, output)))
    with record_attention(model) as attention:
        model(IDS)
    hook.remove()
    assert list(attention) == ["layers.0.self_attention", LAST]
    assert attention[LAST].shape == (2, 6, 5, 5)
    ((x, output),) = seen
    values = split_heads(layer.value_projection(x), layer.groups)
    values = values.repeat_interleave(layer.num_heads // layer.groups, dim=1)
    by_hand = layer.output_projection(merge_heads(attention[LAST] @ values))
    torch.testing.assert_close(by_hand, output)


@torch.no_grad()
def test_a_step_from_a_cache_records_the_row_of_its_newest_position(model):
    with record_attention(model) as attention:
        model(IDS)
    whole = attention[LAST]
    caches = model.new_caches()
    model(IDS[:, :4], caches=caches)
    with record_attention(model) as attention:
        model(IDS[:, 4:], caches=caches)
    torch.testing.assert_close(attention[LAST], whole[:, :, 4:])


@torch.no_grad()
def test_a_head_that_is_off_adds_nothing_and_comes_back(model):
    layer, whole = model.get_submodule(LAST), model(IDS)
    assert len(every_head(model)) == 12
    seen = []
    hook = layer.output_projection.register_forward_hook(lambda *call: seen.append(call[1:]))
    with heads_switched_off(model, [(LAST, 2)]):
        model(IDS)
    hook.remove()
    (((heads,), output),) = seen
    assert (heads.unflatten(-1, (6, -1))[..., 1, :] == 0).all()
    torch.testing.assert_close(output, F.linear(heads, layer.output_projection.weight))
    torch.testing.assert_close(model(IDS), whole)
