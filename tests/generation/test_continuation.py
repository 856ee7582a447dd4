"""A continuation answers the same with and without its cache, whatever is kept or reordered."""

import re

import pytest
import torch
from torch import Tensor, nn

from transformer_edu.generation.continuation import Continuation, can_cache
from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.peers import PytorchTransformer
from transformer_edu.training.faults import FAULTS

CONFIG = TransformerConfig(
    vocabulary_size=13, d_model=12, num_heads=3, num_layers=2, d_ff=20, max_length=9
)
SOURCE_IDS = torch.tensor([[4, 5, 6, 7, 8], [9, 4, 0, 0, 0]])
WITHOUT_CACHE = {"no causal mask", "softmax over queries"}


def model() -> Transformer:
    torch.manual_seed(0)
    return Transformer(CONFIG).eval()


@torch.no_grad()
def test_the_logits_are_those_of_the_whole_target():
    ours = model()
    found = Continuation(ours, SOURCE_IDS, start_id=1, longest=4)
    for step in range(4):
        expected = ours(SOURCE_IDS, found.written)[:, -1]
        torch.testing.assert_close(found.next_logits(), expected)
        found.append(torch.tensor([4, 7]) + step)
    assert found.written.tolist() == [[1, 4, 5, 6, 7], [1, 7, 8, 9, 10]]


@torch.no_grad()
def test_the_logits_are_those_of_the_whole_target_in_half_precision_too():
    ours = model()
    with torch.autocast("cpu", torch.bfloat16):
        found = Continuation(ours, SOURCE_IDS, start_id=1, longest=3)
        for step in range(3):
            expected = ours(SOURCE_IDS, found.written)[:, -1]
            torch.testing.assert_close(found.next_logits(), expected)
            found.append(torch.tensor([4, 7]) + step)


@torch.no_grad()
def test_reordered_and_kept_rows_go_on_with_what_they_have_written():
    ours = model()
    with_cache, without = (
        Continuation(ours, SOURCE_IDS, start_id=1, longest=5, cached=cached)
        for cached in (True, False)
    )
    assert with_cache.cache is not None and without.cache is None
    for each in (with_cache, without):
        each.next_logits()
        each.keep(torch.tensor([0, 0, 1, 1]))  # two for each source from now on
        each.append(torch.tensor([5, 6, 7, 8]))
        each.next_logits()
        each.reorder(torch.tensor([1, 0, 3, 3]))
        each.append(torch.tensor([9, 10, 11, 12]))
        each.next_logits()
        each.keep(torch.tensor([3, 0]))
        each.append(torch.tensor([4, 5]))
    assert with_cache.written.tolist() == [[1, 8, 12, 4], [1, 6, 9, 5]]
    torch.testing.assert_close(with_cache.next_logits(), without.next_logits())
    expected = ours(SOURCE_IDS[[1, 0]], without.written)[:, -1]
    torch.testing.assert_close(without.next_logits(), expected)


@torch.no_grad()
def test_the_cache_has_room_for_what_will_be_appended_and_no_more():
    assert Continuation(model(), SOURCE_IDS, start_id=1, longest=4).cache.max_length == 4


@torch.no_grad()
def test_what_was_read_of_the_source_stays_where_it_is_when_rows_change_places():
    found = Continuation(model(), SOURCE_IDS[[0, 0]], start_id=1, longest=4)
    found.next_logits()
    before = [layer.cross_attention.keys.data_ptr() for layer in found.cache.layers]
    found.reorder(torch.tensor([1, 0]))
    assert [layer.cross_attention.keys.data_ptr() for layer in found.cache.layers] == before


@torch.no_grad()
@pytest.mark.parametrize("appended", [torch.int32, torch.int64])
@pytest.mark.parametrize("read", [torch.int32, torch.int64])
def test_ids_may_be_of_either_size_and_stay_of_the_sources(read, appended):
    ours = model()
    found = Continuation(ours, SOURCE_IDS.to(read), start_id=1, longest=3)
    for token_ids in ([4, 5], [6, 7]):
        found.next_logits()
        found.append(torch.tensor(token_ids, dtype=appended))
    assert found.written.dtype == read
    assert found.written.tolist() == [[1, 4, 6], [1, 5, 7]]
    torch.testing.assert_close(found.next_logits(), ours(SOURCE_IDS, found.written.long())[:, -1])


@torch.no_grad()
@pytest.mark.parametrize("value", ["nan", "inf"])
@pytest.mark.parametrize("cached", [True, False])
def test_numbers_that_are_none_are_refused_with_the_step_named(cached, value):
    ours = model()
    target = Continuation(ours, SOURCE_IDS, start_id=1, longest=4, cached=cached)
    target.next_logits()
    target.append(torch.tensor([4, 5]))
    ours.output_projection.bias[3] = float(value)
    message = f"logits must have a finite maximum in every row, got {value} at step 2"
    with pytest.raises(ValueError, match=message):
        target.next_logits()


@torch.no_grad()
@pytest.mark.parametrize("cached", [True, False])
@pytest.mark.parametrize(
    ("method", "value", "error", "message"),
    [
        ("append", [4, 5], TypeError, "next_ids must be a tensor of token ids, got list"),
        (
            "append",
            torch.tensor([4.0, 5.0]),
            TypeError,
            "next_ids must be a tensor of token ids, got torch.float32",
        ),
        (
            "append",
            torch.tensor([[4, 5]]),
            ValueError,
            "next_ids must have shape (2,), one for each row, got (1, 2)",
        ),
        (
            "keep",
            [0, 1],
            TypeError,
            "rows must be a tensor of row numbers, shape (batch,), got [0, 1]",
        ),
        ("keep", torch.tensor([0, 2]), ValueError, "rows must be from 0 to 1, got [0, 2]"),
        ("reorder", torch.tensor([0, -1]), ValueError, "rows must be from 0 to 1, got [0, -1]"),
        ("reorder", torch.tensor([0]), ValueError, "rows must be 2, got 1"),
    ],
)
def test_bad_input_is_refused_and_loses_nothing(cached, method, value, error, message):
    target = Continuation(model(), SOURCE_IDS, start_id=1, longest=4, cached=cached)
    target.next_logits()
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        getattr(target, method)(value)
    assert target.written.tolist() == [[1], [1]]
    target.append(torch.tensor([4, 5]))
    target.next_logits()


class Own(nn.Module):
    """A learner's attention, which knows nothing of caches."""

    d_model, num_heads = CONFIG.d_model, CONFIG.num_heads

    def forward(self, query: Tensor, key: Tensor, value: Tensor, *, mask: Tensor | None = None):
        return query


class OwnPositions(nn.Module):
    """A learner's positions, which start at the beginning."""

    def forward(self, x: Tensor) -> Tensor:
        return x


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")  # of an odd number of heads
@torch.no_grad()
def test_a_learners_own_parts_do_without_a_cache():
    assert can_cache(model())
    with_own_attention = model()
    with_own_attention.decoder.layers[1].self_attention = Own()
    with_own_cross_attention = model()
    with_own_cross_attention.decoder.layers[0].cross_attention = Own()
    with_own_positions = model()
    with_own_positions.positions = OwnPositions()
    for other in (
        with_own_attention,
        with_own_cross_attention,
        with_own_positions,
        PytorchTransformer(CONFIG).eval(),
    ):
        assert not can_cache(other)
        target = Continuation(other, SOURCE_IDS, start_id=1, longest=3)
        target.append(torch.tensor([4, 5]))
        expected = other(SOURCE_IDS, target.written)[:, -1]
        torch.testing.assert_close(target.next_logits(), expected)


@torch.no_grad()
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_not_mended_by_the_cache(fault):
    torch.manual_seed(0)
    faulty = FAULTS[fault](CONFIG).eval()
    assert can_cache(faulty) == (fault not in WITHOUT_CACHE)
    found = [
        Continuation(faulty, SOURCE_IDS, start_id=1, longest=3, cached=c) for c in (True, False)
    ]
    for token_ids in ([4, 5], [6, 7], [8, 9]):
        first, second = (each.next_logits() for each in found)
        torch.testing.assert_close(first, second)
        for each in found:
            each.append(torch.tensor(token_ids))
