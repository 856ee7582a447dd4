"""Nothing leaks: not the future, not padding, not the other sentences of the batch.

Causality and padding hold in training (without dropout) and evaluation, in every precision.
"""

import pytest
import torch
from torch import Tensor

from transformer_edu.model.masks import target_mask
from transformer_edu.model.transformer import Transformer, TransformerConfig

VOCABULARY, SOURCE, TARGET = 19, 6, 5
SIZES = {"d_model": 12, "num_heads": 3, "num_layers": 2, "d_ff": 20, "dropout": 0.0}
# How far apart the same numbers may come out when other shapes change the order of a sum.
TOLERANCES = {
    torch.float64: 1e-12,
    torch.float32: 1e-5,
    torch.float16: 2e-2,
    torch.bfloat16: 1e-1,
}
SOURCE_IDS = torch.tensor([[4, 5, 6, 7, 8, 9], [10, 4, 11, 5, 0, 0], [12, 13, 0, 0, 0, 0]])
TARGET_IDS = torch.tensor([[1, 14, 5, 15, 16], [1, 17, 18, 0, 0], [1, 4, 14, 6, 0]])

each_type = pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
each_mode = pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
each_norm = pytest.mark.parametrize("norm_first", [True, False], ids=["pre-norm", "post-norm"])


def build(dtype: torch.dtype = torch.float64, training: bool = False, **changes) -> Transformer:
    """A small model; untied, so that a token is asked about and answered with other weights."""
    switches = {"tie_embeddings": False} | SIZES | changes
    model = Transformer(TransformerConfig(vocabulary_size=VOCABULARY, **switches))
    return model.to(dtype).train(training)


def pad(token_ids: Tensor, extra: int) -> Tensor:
    """Append so many padding tokens to every row."""
    return torch.cat([token_ids, token_ids.new_zeros(len(token_ids), extra)], dim=1)


def assert_same(actual: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(actual, expected, rtol=0, atol=TOLERANCES[actual.dtype])


# The future


@each_type
@each_mode
@each_norm
def test_changing_the_future_changes_no_past_output(dtype, training, norm_first):
    model = build(dtype, training, norm_first=norm_first)
    before = model(SOURCE_IDS, TARGET_IDS)
    for position in range(1, TARGET):
        changed = TARGET_IDS.clone()
        changed[:, position] = 3
        after = model(SOURCE_IDS, changed)
        assert torch.equal(after[:, :position], before[:, :position])
        assert not torch.allclose(after[:, position], before[:, position])


@each_norm
def test_the_gradient_of_an_output_reaches_no_later_token(norm_first):
    model = build(norm_first=norm_first)
    target_ids = TARGET_IDS[:1]  # all different and all real
    table = model.target_embedding.table.weight
    for position in range(TARGET):
        model.zero_grad()
        model(SOURCE_IDS[:1], target_ids)[0, position, 0].backward()
        reached = table.grad[target_ids[0]].abs().sum(dim=-1)
        assert (reached[: position + 1] > 0).all()
        assert (reached[position + 1 :] == 0).all()


@each_type
def test_a_prefix_alone_gives_the_outputs_of_the_whole(dtype):
    model = build(dtype)
    whole = model(SOURCE_IDS, TARGET_IDS)
    for length in range(1, TARGET):
        assert_same(model(SOURCE_IDS, TARGET_IDS[:, :length]), whole[:, :length])


# Padding


@each_type
@each_mode
@each_norm
def test_appended_padding_changes_nothing(dtype, training, norm_first):
    model = build(dtype, training, norm_first=norm_first)
    before = model(SOURCE_IDS, TARGET_IDS)
    assert_same(model(pad(SOURCE_IDS, 3), TARGET_IDS), before)
    assert_same(model(SOURCE_IDS, pad(TARGET_IDS, 4))[:, :TARGET], before)


@each_mode
def test_what_the_padding_tokens_vector_holds_does_not_matter(training):
    model = build(training=training)
    before = model(SOURCE_IDS, TARGET_IDS)
    with torch.no_grad():
        model.source_embedding.table.weight[0] = 1e4
        model.target_embedding.table.weight[0] = -1e4
    real = TARGET_IDS != 0
    assert_same(model(SOURCE_IDS, TARGET_IDS)[real], before[real])


def test_padding_gets_no_gradient_from_real_tokens():
    model = build()
    model(SOURCE_IDS, TARGET_IDS)[TARGET_IDS != 0].logsumexp(dim=-1).sum().backward()
    for embedding in (model.source_embedding, model.target_embedding):
        assert (embedding.table.weight.grad[0] == 0).all()
        assert embedding.table.weight.grad[4].abs().sum() > 0


@each_type
@each_mode
def test_a_source_of_padding_alone_gives_numbers_and_harms_no_neighbour(dtype, training):
    model = build(dtype, training)
    source_ids = SOURCE_IDS.clone()
    source_ids[1] = 0
    logits = model(source_ids, TARGET_IDS)
    assert logits.isfinite().all()
    others = torch.tensor([0, 2])
    assert_same(logits[others], model(SOURCE_IDS, TARGET_IDS)[others])
    logits.float().logsumexp(dim=-1).sum().backward()
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())


def test_a_target_of_padding_alone_gives_numbers_and_harms_no_neighbour():
    model = build()
    target_ids = TARGET_IDS.clone()
    target_ids[2] = 0
    assert not target_mask(target_ids)[2].any()
    logits = model(SOURCE_IDS, target_ids)
    assert logits.isfinite().all()
    assert_same(logits[:2], model(SOURCE_IDS, TARGET_IDS)[:2])


# The batch


@each_type
def test_a_sentence_means_the_same_alone_and_in_company(dtype):
    model = build(dtype)
    together = model(SOURCE_IDS, TARGET_IDS)
    for row in range(len(SOURCE_IDS)):
        alone = model(SOURCE_IDS[row : row + 1], TARGET_IDS[row : row + 1])
        assert_same(alone, together[row : row + 1])
        source_ids = SOURCE_IDS[row : row + 1, : int((SOURCE_IDS[row] != 0).sum())]
        assert_same(model(source_ids, TARGET_IDS[row : row + 1]), together[row : row + 1])


def test_reordering_the_batch_reorders_the_result():
    model = build()
    order = torch.tensor([2, 0, 1])
    expected = model(SOURCE_IDS, TARGET_IDS)[order]
    assert_same(model(SOURCE_IDS[order], TARGET_IDS[order]), expected)


# Sight and order


def test_every_target_position_depends_on_every_real_source_token():
    model = build()
    before = model(SOURCE_IDS, TARGET_IDS)
    for position in range(SOURCE):
        changed = SOURCE_IDS.clone()
        changed[:, position] = changed[:, position].where(changed[:, position] == 0, 3)
        differs = (model(changed, TARGET_IDS) != before).any(dim=-1).all(dim=-1)
        assert torch.equal(differs, SOURCE_IDS[:, position] != 0)


def test_the_encoder_sees_both_ways():
    model = build()
    before = model.encode(SOURCE_IDS[:1])
    for position in range(SOURCE):
        changed = SOURCE_IDS[:1].clone()
        changed[:, position] = 3
        assert (model.encode(changed) != before).any(dim=-1).all()


def test_word_order_matters():
    model = build()
    before = model(SOURCE_IDS, TARGET_IDS)
    swapped = SOURCE_IDS[:, [1, 0, 2, 3, 4, 5]]
    assert (model(swapped, TARGET_IDS) - before).abs().amax(dim=(1, 2)).min() > 1e-3
    model.positions.table.zero_()
    without = model(SOURCE_IDS, TARGET_IDS)
    assert_same(model(swapped, TARGET_IDS), without)


# The caller's tensors


def test_what_is_given_is_left_as_it_was():
    model = build()
    source_mask, its_target_mask = model.source_mask(SOURCE_IDS), target_mask(TARGET_IDS)
    given = (SOURCE_IDS, TARGET_IDS, source_mask, its_target_mask)
    before = [tensor.clone() for tensor in given]
    model(SOURCE_IDS, TARGET_IDS, source_mask=source_mask, target_mask=its_target_mask)
    memory = torch.randn(3, SOURCE, 12, dtype=torch.float64)
    kept = memory.clone()
    model.project(model.decode(TARGET_IDS, memory, source_mask=source_mask))
    assert torch.equal(memory, kept)
    for tensor, old in zip(given, before, strict=True):
        assert torch.equal(tensor, old)


def test_strides_do_not_matter():
    model = build()
    source_ids = SOURCE_IDS.T.contiguous().T
    target_ids = TARGET_IDS.repeat_interleave(2, dim=1)[:, ::2]
    assert not source_ids.is_contiguous()
    assert not target_ids.is_contiguous()
    assert torch.equal(model(source_ids, target_ids), model(SOURCE_IDS, TARGET_IDS))


def test_token_ids_of_32_bits_are_as_good():
    model = build()
    expected = model(SOURCE_IDS, TARGET_IDS)
    assert torch.equal(model(SOURCE_IDS.int(), TARGET_IDS.int()), expected)
