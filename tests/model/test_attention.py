"""Attention does what the paper says (§3.2), and agrees with PyTorch's own."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_edu.model.attention import (
    MultiHeadAttention,
    attention_weights,
    merge_heads,
    scaled_dot_product_attention,
    split_heads,
)

# Every axis has its own length, so that no two axes can be swapped unnoticed.
BATCH, HEADS, QUERY, KEY, D_HEAD, D_VALUE = 2, 3, 4, 5, 6, 7
D_MODEL = HEADS * D_HEAD
LAST_KEY_HIDDEN = torch.tensor([True, True, True, True, False])
NOTHING = torch.zeros(QUERY, KEY, dtype=torch.bool)
SOME = torch.rand(BATCH, HEADS, QUERY, KEY, generator=torch.Generator().manual_seed(1)) < 0.6
SOME[0, 1, 2] = False  # one query of one head may attend to nothing

MASKS = {
    "none": None,
    "one cell for all": torch.tensor(True),
    "one row of keys": LAST_KEY_HIDDEN,
    "a column of queries": torch.tensor([[True], [False], [True], [True]]),
    "query and key": SOME[1, 0],
    "per head": SOME[1],
    "per sentence": SOME[:, :1],
    "padding": SOME[:, :1, :1],
    "every cell its own": SOME,
    "nothing at all": NOTHING,
}
each_mask = pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)


@pytest.fixture
def attention() -> MultiHeadAttention:
    return MultiHeadAttention(d_model=D_MODEL, num_heads=HEADS)


@pytest.fixture
def query() -> Tensor:
    return torch.randn(BATCH, QUERY, D_MODEL)


@pytest.fixture
def memory() -> Tensor:
    return torch.randn(BATCH, KEY, D_MODEL)


def draw_heads(dtype: torch.dtype = torch.float32) -> tuple[Tensor, Tensor, Tensor]:
    """A query, key and value that are already split into heads."""
    return (
        torch.randn(BATCH, HEADS, QUERY, D_HEAD, dtype=dtype),
        torch.randn(BATCH, HEADS, KEY, D_HEAD, dtype=dtype),
        torch.randn(BATCH, HEADS, KEY, D_VALUE, dtype=dtype),
    )


def attend_by_hand(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
    """Equation 1 in plain Python numbers, one query after another."""
    everything = torch.tensor(True) if mask is None else mask
    may = everything.expand(BATCH, HEADS, QUERY, KEY)
    output = torch.zeros(BATCH, HEADS, QUERY, D_VALUE, dtype=query.dtype)
    for row, head, position in torch.cartesian_prod(*map(torch.arange, may.shape[:3])).tolist():
        seen = [index for index in range(KEY) if may[row, head, position, index]]
        scores = [
            sum((query[row, head, position] * key[row, head, index]).tolist()) for index in seen
        ]
        raw = [math.exp(score / math.sqrt(D_HEAD)) for score in scores]
        for index, weight in zip(seen, raw, strict=True):
            output[row, head, position] += weight / sum(raw) * value[row, head, index]
    return output


# The written-out function


@each_mask
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 1e-5)])
def test_attention_is_equation_one(mask, dtype, tolerance):
    query, key, value = draw_heads(dtype)
    output, _ = scaled_dot_product_attention(query, key, value, mask=mask)
    expected = attend_by_hand(query, key, value, mask)
    torch.testing.assert_close(output, expected, rtol=0, atol=tolerance)


@each_mask
def test_the_written_out_form_agrees_with_pytorchs_function(mask):
    query, key, value = draw_heads(torch.float64)
    output, _ = scaled_dot_product_attention(query, key, value, mask=mask)
    pytorch = F.scaled_dot_product_attention(
        query, key, value, attn_mask=None if mask is None else torch.atleast_2d(mask)
    )
    torch.testing.assert_close(output, pytorch, rtol=0, atol=1e-12)


@each_mask
def test_weights_are_probabilities_and_hidden_keys_get_exactly_none(mask):
    query, key, _ = draw_heads()
    weights = attention_weights(query, key, mask=mask)
    may = (torch.tensor(True) if mask is None else mask).expand(BATCH, HEADS, QUERY, KEY)
    assert (weights[~may] == 0).all()
    assert (weights >= 0).all()
    torch.testing.assert_close(weights.sum(dim=-1), may.any(dim=-1).float())


def test_any_leading_axes_will_do():
    query, key, value = (heads[0, 0] for heads in draw_heads())
    output, weights = scaled_dot_product_attention(query, key, value)
    assert output.shape == (QUERY, D_VALUE)
    assert weights.shape == (QUERY, KEY)


def test_gradients_of_the_written_out_form_are_right():
    query, key, value = (heads.requires_grad_() for heads in draw_heads(torch.float64))
    assert not SOME.any(dim=-1).all(), "one query should see nothing"
    assert torch.autograd.gradcheck(
        lambda *inputs: scaled_dot_product_attention(*inputs, mask=SOME), (query, key, value)
    )


def test_a_query_that_sees_nothing_sends_no_gradient():
    query, key, value = (heads.requires_grad_() for heads in draw_heads())
    output, weights = scaled_dot_product_attention(query, key, value, mask=NOTHING)
    (output.sum() + weights.sum()).backward()
    for tensor in (query, key, value):
        assert torch.equal(tensor.grad, torch.zeros_like(tensor))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_scores_of_a_hundred_thousand_do_not_overflow(dtype):
    query = torch.full((QUERY, 4), 400.0, dtype=dtype)
    key = torch.full((KEY, 4), 500.0, dtype=dtype)
    key[1] = -500.0  # scores of ±400,000, float16 ends at 65,504
    weights = attention_weights(query, key, mask=LAST_KEY_HIDDEN)
    expected = torch.tensor([1 / 3, 0, 1 / 3, 1 / 3, 0], dtype=dtype).expand(QUERY, KEY)
    torch.testing.assert_close(weights, expected)


# Multi-head attention


@each_mask
def test_multi_head_attention_is_each_head_on_its_own(attention, query, memory, mask):
    heads = []
    for head in range(HEADS):
        part = slice(head * D_HEAD, (head + 1) * D_HEAD)
        own = None if mask is None else mask.expand(BATCH, HEADS, QUERY, KEY)[:, head]
        output, _ = scaled_dot_product_attention(
            query @ attention.query_projection.weight[part].T,
            memory @ attention.key_projection.weight[part].T,
            memory @ attention.value_projection.weight[part].T,
            mask=own,
        )
        heads.append(output)
    expected = torch.cat(heads, dim=-1) @ attention.output_projection.weight.T
    torch.testing.assert_close(attention(query, memory, memory, mask=mask), expected)


@each_mask
def test_the_weights_to_look_at_are_those_that_forward_uses(attention, query, memory, mask):
    weights = attention.attention_weights(query, memory, mask=mask)
    assert weights.shape == (BATCH, HEADS, QUERY, KEY)
    gathered = weights @ split_heads(attention.value_projection(memory), HEADS)
    expected = attention.output_projection(merge_heads(gathered))
    torch.testing.assert_close(attention(query, memory, memory, mask=mask), expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("training", [True, False])
def test_a_query_that_may_attend_to_nothing_gathers_nothing(
    attention, query, memory, dtype, training
):
    attention.to(dtype).train(training)
    query, memory = query.to(dtype).requires_grad_(), memory.to(dtype)
    first_sees_nothing = torch.ones(QUERY, KEY, dtype=torch.bool)
    first_sees_nothing[0] = False
    output = attention(query, memory, memory, mask=first_sees_nothing)
    assert torch.equal(output[:, 0], torch.zeros(BATCH, D_MODEL, dtype=dtype))
    others = attention(query, memory, memory)[:, 1:]
    torch.testing.assert_close(output[:, 1:], others, rtol=0, atol=8 * torch.finfo(dtype).eps)
    output.sum().backward()
    assert query.grad.isfinite().all()
    assert torch.equal(query.grad[:, 0], torch.zeros(BATCH, D_MODEL, dtype=dtype))


@pytest.mark.parametrize(
    ("dtype", "huge"), [(torch.float32, 1e30), (torch.bfloat16, 1e30), (torch.float16, 1e4)]
)
def test_finite_numbers_behind_the_mask_change_no_bit(attention, query, memory, dtype, huge):
    attention.to(dtype)
    query, memory = query.to(dtype), memory.to(dtype)
    changed = memory.clone()
    changed[:, -1] = huge
    before = attention(query, memory, memory, mask=LAST_KEY_HIDDEN)
    after = attention(query, changed, changed, mask=LAST_KEY_HIDDEN)
    assert torch.equal(after, before)
    shown = attention(query, changed, changed)
    assert not torch.allclose(shown, before), "the numbers should matter where they are seen"


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_half_precision_survives_enormous_scores(dtype, dropout):
    attention = MultiHeadAttention(d_model=D_MODEL, num_heads=HEADS, dropout=dropout).to(dtype)
    query = 1000 * torch.randn(BATCH, QUERY, D_MODEL, dtype=dtype)
    memory = 1000 * torch.randn(BATCH, KEY, D_MODEL, dtype=dtype)
    scores = split_heads(attention.query_projection(query), HEADS).float() @ (
        split_heads(attention.key_projection(memory), HEADS).float().transpose(-2, -1)
    )
    assert scores.abs().max() > 1e5
    output = attention(query, memory, memory, mask=LAST_KEY_HIDDEN)
    assert output.isfinite().all()
    weights = attention.attention_weights(query, memory, mask=LAST_KEY_HIDDEN)
    assert weights.isfinite().all()
    assert (weights[..., -1] == 0).all()


@each_mask
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.float64, 1e-12)])
def test_agrees_with_pytorch(mask, bias, dtype, tolerance):
    attention = MultiHeadAttention(d_model=D_MODEL, num_heads=HEADS, bias=bias).to(dtype)
    pytorch = nn.MultiheadAttention(D_MODEL, HEADS, bias=bias, batch_first=True, dtype=dtype)
    inward = [attention.query_projection, attention.key_projection, attention.value_projection]
    with torch.no_grad():
        pytorch.in_proj_weight.copy_(torch.cat([layer.weight for layer in inward]))
        pytorch.out_proj.weight.copy_(attention.output_projection.weight)
        if bias:
            pytorch.in_proj_bias.copy_(torch.cat([layer.bias for layer in inward]))
            pytorch.out_proj.bias.copy_(attention.output_projection.bias)
    query = torch.randn(BATCH, QUERY, D_MODEL, dtype=dtype)
    memory = torch.randn(BATCH, KEY, D_MODEL, dtype=dtype)
    may = (torch.tensor(True) if mask is None else mask).expand(BATCH, HEADS, QUERY, KEY)
    # PyTorch's module reads masks the other way round, and answers an empty row with NaN.
    expected, expected_weights = pytorch(
        query, memory, memory, attn_mask=~may.flatten(0, 1), average_attn_weights=False
    )
    weights = attention.attention_weights(query, memory, mask=mask)
    sees = may.any(dim=-1)
    torch.testing.assert_close(weights[sees], expected_weights[sees], rtol=0, atol=tolerance)
    output = attention(query, memory, memory, mask=mask)
    sees = sees.all(dim=1)  # a head that sees nothing makes PyTorch's whole output NaN
    torch.testing.assert_close(output[sees], expected[sees], rtol=0, atol=tolerance)


def test_self_attention_agrees_with_pytorch_for_any_strides(attention, memory):
    pytorch = nn.MultiheadAttention(D_MODEL, HEADS, bias=False, batch_first=True)
    inward = [attention.query_projection, attention.key_projection, attention.value_projection]
    pytorch.in_proj_weight.data = torch.cat([layer.weight for layer in inward])
    pytorch.out_proj.weight.data = attention.output_projection.weight
    strided = memory.transpose(0, 1).contiguous().transpose(0, 1)
    assert not strided.is_contiguous()
    expected, _ = pytorch(memory, memory, memory)
    torch.testing.assert_close(attention(strided, strided, strided), expected)
    wide = torch.randn(BATCH, KEY, 2 * D_MODEL)
    every_second = wide[..., ::2]
    torch.testing.assert_close(
        attention(every_second, every_second, every_second),
        attention(*[every_second.contiguous()] * 3),
    )


@pytest.mark.parametrize("bias", [True, False])
def test_gradients_of_multi_head_attention_are_right(bias):
    attention = MultiHeadAttention(d_model=6, num_heads=3, bias=bias).double()
    query = torch.randn(BATCH, QUERY, 6, dtype=torch.float64, requires_grad=True)
    memory = torch.randn(BATCH, KEY, 6, dtype=torch.float64, requires_grad=True)
    names = [name for name, _ in attention.named_parameters()]

    def run(query: Tensor, memory: Tensor, *parameters: Tensor) -> Tensor:
        weights = dict(zip(names, parameters, strict=True))
        inputs = (query, memory, memory)
        return torch.func.functional_call(attention, weights, inputs, {"mask": SOME})

    assert torch.autograd.gradcheck(run, (query, memory, *attention.parameters()))


def test_what_is_given_is_left_as_it_was(attention, query, memory):
    mask = LAST_KEY_HIDDEN.clone()
    before = [tensor.clone() for tensor in (query, memory, mask)]
    attention(query, memory, memory, mask=mask)
    attention.attention_weights(query, memory, mask=mask)
    for tensor, old in zip((query, memory, mask), before, strict=True):
        assert torch.equal(tensor, old)


def test_the_paper_drops_no_attention_weight(attention, query, memory):
    assert torch.equal(attention(query, memory, memory), attention(query, memory, memory))


def test_dropout_changes_the_output_in_training_alone_and_the_weights_never(query, memory):
    attention = MultiHeadAttention(d_model=D_MODEL, num_heads=HEADS, dropout=0.5)
    whole = attention.eval()(query, memory, memory)
    weights = attention.attention_weights(query, memory)
    torch.testing.assert_close(attention(query, memory, memory), whole)
    attention.train()
    assert not torch.allclose(attention(query, memory, memory), whole)
    assert torch.equal(attention.attention_weights(query, memory), weights)


def test_dropout_keeps_the_output_the_same_on_average():
    attention = MultiHeadAttention(d_model=D_MODEL, num_heads=HEADS, dropout=0.5)
    query = torch.randn(1, QUERY, D_MODEL).expand(4000, -1, -1)
    memory = torch.randn(1, KEY, D_MODEL).expand(4000, -1, -1)
    with torch.no_grad():
        dropped = attention(query, memory, memory)
        whole = attention.eval()(query, memory, memory)
    margin = 5 * dropped.std(dim=0) / math.sqrt(len(dropped))
    assert ((dropped.mean(dim=0) - whole[0]).abs() < margin).all()


def test_splitting_gives_every_head_its_own_part_of_every_position():
    x = torch.arange(BATCH * QUERY * D_MODEL).view(BATCH, QUERY, D_MODEL)
    heads = split_heads(x, HEADS)
    assert heads.shape == (BATCH, HEADS, QUERY, D_HEAD)
    for head in range(HEADS):
        assert torch.equal(heads[:, head], x[..., head * D_HEAD : (head + 1) * D_HEAD])


def test_merging_undoes_splitting(query):
    assert torch.equal(merge_heads(split_heads(query, HEADS)), query)
