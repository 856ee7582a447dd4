"""Under autocast the model computes in half precision, and its attention stays safe and quick."""

import copy

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_edu.model.attention import MultiHeadAttention
from transformer_edu.model.transformer import Transformer, TransformerConfig

BATCH, QUERY, KEY, D_MODEL, HEADS, VOCABULARY = 2, 4, 5, 6, 3, 13
HALF = pytest.mark.parametrize("half", [torch.bfloat16, torch.float16])


@pytest.fixture
def attention() -> MultiHeadAttention:
    return MultiHeadAttention(d_model=D_MODEL, num_heads=HEADS)


@pytest.fixture
def model() -> Transformer:
    sizes = {"d_model": 12, "num_heads": 3, "num_layers": 2, "d_ff": 20, "dropout": 0.0}
    return Transformer(TransformerConfig(vocabulary_size=VOCABULARY, **sizes))


def draw_ids(length: int) -> Tensor:
    ids = torch.randint(4, VOCABULARY, (BATCH, length))
    ids[-1, -1] = 0
    return ids


def attended_in(attention: MultiHeadAttention, monkeypatch, **inputs: Tensor) -> list[torch.dtype]:
    """The types in which query, key and value, and the result, meet torch's attention."""
    seen, torchs_own = [], F.scaled_dot_product_attention

    def spy(*heads: Tensor, **options: object) -> Tensor:
        result = torchs_own(*heads, **options)
        seen.extend(tensor.dtype for tensor in (*heads, result))
        return result

    monkeypatch.setattr(F, "scaled_dot_product_attention", spy)
    attention(**inputs)
    return seen


@HALF
def test_on_a_cpu_attention_stays_in_float32_between_half_precision_projections(
    attention, monkeypatch, half
):
    query, memory = torch.randn(BATCH, QUERY, D_MODEL), torch.randn(BATCH, KEY, D_MODEL)
    projected = []
    for name in ("query", "key", "value", "output"):
        layer = getattr(attention, f"{name}_projection")
        layer.register_forward_hook(lambda *call: projected.append(call[-1].dtype))
    with torch.autocast("cpu", dtype=half):
        seen = attended_in(attention, monkeypatch, query=query, key=memory, value=memory)
    assert seen == [torch.float32] * 4
    assert projected == [half] * 4


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_without_autocast_attention_keeps_the_type_of_the_model(attention, monkeypatch, dtype):
    x = torch.randn(BATCH, QUERY, D_MODEL, dtype=dtype)
    assert attended_in(attention.to(dtype), monkeypatch, query=x, key=x, value=x) == [dtype] * 4


def test_autocast_leaves_float64_alone(attention, monkeypatch):
    x = torch.randn(BATCH, QUERY, D_MODEL, dtype=torch.float64)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        seen = attended_in(attention.double(), monkeypatch, query=x, key=x, value=x)
    assert seen == [torch.float64] * 4


def test_autocast_goes_on_after_attention(attention):
    x = torch.randn(BATCH, QUERY, D_MODEL)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        attention(x, x, x)
        attention.attention_weights(x, x)
        assert torch.is_autocast_enabled("cpu")
        assert nn.Linear(D_MODEL, 2)(x).dtype == torch.bfloat16
    assert not torch.is_autocast_enabled("cpu")


@HALF
def test_the_weights_to_look_at_are_the_ones_that_were_used(attention, half):
    x = torch.randn(BATCH, QUERY, D_MODEL)
    nn.init.eye_(attention.output_projection.weight)
    with torch.autocast("cpu", dtype=half):
        weights = attention.attention_weights(x, x)
        values = attention.value_projection(x).float().unflatten(-1, (HEADS, -1)).transpose(1, 2)
        output = attention(x, x, x)
    by_hand = (weights @ values).transpose(1, 2).flatten(-2)
    torch.testing.assert_close(output, by_hand.to(half))


@HALF
def test_scores_beyond_half_precision_do_not_overflow_under_autocast(attention, half):
    for layer in (attention.query_projection, attention.key_projection):
        nn.init.eye_(layer.weight)
    x = 1000.0 * torch.randn(BATCH, QUERY, D_MODEL)  # scores near 10⁶; float16 ends at 65,504
    x.requires_grad_()
    with torch.autocast("cpu", dtype=half):
        weights, output = attention.attention_weights(x, x), attention(x, x, x)
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(BATCH, HEADS, QUERY))
    output.float().sum().backward()
    assert output.isfinite().all()
    assert x.grad.isfinite().all()


@HALF
def test_a_training_step_under_autocast_is_near_the_one_in_float32(model, half):
    source_ids, target_ids = draw_ids(KEY), draw_ids(QUERY)
    narrow = copy.deepcopy(model)
    logits = model(source_ids, target_ids)
    with torch.autocast("cpu", dtype=half):
        narrow_logits = narrow(source_ids, target_ids)
    assert narrow_logits.dtype == half
    # bfloat16 has 8 bits and float16 11: twice 2⁻⁸ of the largest logit, after 12 sublayers
    allowed = 4 * 2**-8 * logits.abs().max().item()
    torch.testing.assert_close(narrow_logits.float(), logits, rtol=0, atol=allowed)
    narrow_logits.float().square().mean().backward()
    for name, weight in narrow.named_parameters():
        assert weight.dtype == torch.float32, name
        assert weight.grad.isfinite().all(), name


@pytest.mark.slow
def test_attention_still_compiles_into_one_graph_under_autocast(attention):
    torch.compiler.reset()
    x = torch.randn(BATCH, QUERY, D_MODEL)
    compiled = torch.compile(attention, fullgraph=True, backend="aot_eager")
    with torch.autocast("cpu", dtype=torch.bfloat16):
        torch.testing.assert_close(compiled(x, x, x), attention(x, x, x))
