"""A continuation answers the same with and without its cache, whatever is kept or reordered."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from torch import Tensor, nn

from tests.generation.test_greedy import SOURCES, VOCABULARY, padded, transformer
from transformer_course.breaking.faults import FAULTS
from transformer_course.pattern_with_torch.pytorch_transformer import PytorchTransformer
from transformer_edu.generation.beam import beam_search
from transformer_edu.generation.continuation import (
    EXTRA_LENGTH,
    Continuation,
    Targets,
    can_cache,
    length_limits,
    looping_tokens,
    padding_id_of,
)
from transformer_edu.generation.greedy import greedy_search
from transformer_edu.model.masks import padding_mask
from transformer_edu.model.special_ids import END_ID, PADDING_ID, START_ID
from transformer_edu.model.transformer import Transformer, TransformerConfig

CONFIG = TransformerConfig(
    vocabulary_size=13, d_model=12, num_heads=3, num_layers=2, d_ff=20, max_length=9
)
SOURCE_IDS = torch.tensor([[4, 5, 6, 7, 8], [9, 4, 0, 0, 0]])


def model() -> Transformer:
    torch.manual_seed(0)
    return Transformer(CONFIG).eval()


@torch.no_grad()
@pytest.mark.parametrize("half", [False, True])
def test_the_logits_are_those_of_the_whole_target(half):
    ours = model()
    with torch.autocast("cpu", torch.bfloat16, enabled=half):
        found = Continuation(ours, SOURCE_IDS, start_id=1)
        for step in range(4):
            expected = ours(SOURCE_IDS, found.written)[:, -1]
            torch.testing.assert_close(found.next_logits(), expected)
            found.append(torch.tensor([4, 7]) + step)
    assert found.written.tolist() == [[1, 4, 5, 6, 7], [1, 7, 8, 9, 10]]


@torch.no_grad()
def test_reordered_and_kept_rows_go_on_with_what_they_have_written():
    ours = model()
    with_cache, without = (
        Continuation(ours, SOURCE_IDS, start_id=1, cached=cached) for cached in (True, False)
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
def test_what_was_read_of_the_source_stays_where_it_is_when_rows_change_places():
    found = Continuation(model(), SOURCE_IDS[[0, 0]], start_id=1)
    found.next_logits()
    before = [layer.cross_attention.keys.data_ptr() for layer in found.cache.layers]
    found.reorder(torch.tensor([1, 0]))
    assert [layer.cross_attention.keys.data_ptr() for layer in found.cache.layers] == before


@torch.no_grad()
@pytest.mark.parametrize("appended", [torch.int32, torch.int64])
@pytest.mark.parametrize("read", [torch.int32, torch.int64])
def test_ids_may_be_of_either_size_and_stay_of_the_sources(read, appended):
    ours = model()
    found = Continuation(ours, SOURCE_IDS.to(read), start_id=1)
    for token_ids in ([4, 5], [6, 7]):
        found.next_logits()
        found.append(torch.tensor(token_ids, dtype=appended))
    assert found.written.dtype == read
    assert found.written.tolist() == [[1, 4, 6], [1, 5, 7]]
    torch.testing.assert_close(found.next_logits(), ours(SOURCE_IDS, found.written.long())[:, -1])


class Own(nn.Module):
    """A learner's attention, which takes no cache."""

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
    others = [model(), model(), model(), PytorchTransformer(CONFIG).eval()]
    others[0].decoder.layers[1].self_attention = Own()
    others[1].decoder.layers[0].cross_attention = Own()
    others[2].positions = OwnPositions()
    for other in others:
        assert not can_cache(other)
        target = Continuation(other, SOURCE_IDS, start_id=1)
        target.append(torch.tensor([4, 5]))
        expected = other(SOURCE_IDS, target.written)[:, -1]
        torch.testing.assert_close(target.next_logits(), expected)


# Dropout is random, and eval() does not reach the layers of a plain list; a norm over the positions
# depends on how many a pass computes.
UNSTEADY = {"dropout in evaluation", "layers in a plain list", "norm over the positions"}


@torch.no_grad()
@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault not in UNSTEADY])
def test_a_fault_is_not_mended_by_the_cache(fault):
    torch.manual_seed(0)
    faulty = FAULTS[fault](CONFIG).eval()
    found = [Continuation(faulty, SOURCE_IDS, start_id=1, cached=c) for c in (True, False)]
    for token_ids in ([4, 5], [6, 7], [8, 9]):
        first, second = (each.next_logits() for each in found)
        torch.testing.assert_close(first, second)
        for each in found:
            each.append(torch.tensor(token_ids))


MASK = padding_mask(torch.tensor([[4, 5, 6], [4, 0, 0]]))


def model_with(max_length: int | None) -> SimpleNamespace:
    return SimpleNamespace(config=SimpleNamespace(max_length=max_length))


def test_a_row_may_have_fifty_tokens_more_than_its_source_and_never_more_than_the_model():
    assert EXTRA_LENGTH == 50
    assert length_limits(SimpleNamespace(), MASK, None).tolist() == [53, 51]
    assert length_limits(model_with(52), MASK, None).tolist() == [52, 51]
    assert length_limits(model_with(52), MASK, 7).tolist() == [7, 7]


def test_start_and_end_are_tokens_that_the_model_can_write():
    config = replace(CONFIG, target_vocabulary_size=7)
    asked = {"source_ids": SOURCE_IDS, "max_length": 3, "cached": True}
    assert Targets(Transformer(config).eval(), start_id=5, end_id=6, **asked).end_id == 6
    with pytest.raises(ValueError, match="end_id must be at most 6, got 7"):
        Targets(Transformer(config).eval(), start_id=5, end_id=7, **asked)


def test_padding_is_what_the_models_config_says():
    assert padding_id_of(Transformer(replace(CONFIG, padding_id=3))) == 3
    assert padding_id_of(torch.nn.Linear(2, 2)) == 0


def begun(**changes: object) -> Targets:
    """Targets for SOURCES, begun as greedy search begins them without further arguments."""
    defaults = {"max_length": None, "start_id": START_ID, "end_id": END_ID, "cached": True}
    given = {"model": transformer(0).eval(), "source_ids": padded(SOURCES)} | defaults | changes
    return Targets(given.pop("model"), given.pop("source_ids"), **given)


def test_each_source_begins_a_target_with_a_limit_of_its_own():
    targets = begun()
    assert targets.limits == [len(source) + 50 for source in SOURCES]
    assert targets.written.tolist() == [[START_ID]] * len(SOURCES)
    assert targets.next_logits().shape == (len(SOURCES), VOCABULARY)


def test_what_was_asked_for_is_followed():
    targets = begun(max_length=7, start_id=5, end_id=6, cached=False)
    assert targets.limits == [7, 7, 7]
    assert targets.written.tolist() == [[5]] * len(SOURCES)
    assert (targets.end_id, targets.cache) == (6, None)


def test_a_row_is_read_up_to_its_end_without_start_and_padding():
    targets = begun()
    assert targets.read([START_ID, 7, PADDING_ID, 8, START_ID, END_ID, 9]) == [7, 8]
    assert targets.read([START_ID, 7, 8]) == [7, 8]


@pytest.mark.parametrize(
    ("row", "loops"),
    [
        ([1, 7, 7], [7]),
        ([1, 7, 8], []),
        ([1, 5, 6, 5, 6, 5], [6]),
        ([1, 5, 6, 5, 6], []),
        ([1, 9, 5, 5, 6, 5, 5, 6, 5, 5], [5, 6]),
        ([1, 7, 7, 8, 7, 7, 8, 7, 7], [7, 8]),
        ([1, *range(4, 12), *range(4, 12), *range(4, 11)], [11]),  # as long as is watched
        ([1, *range(4, 13), *range(4, 13), *range(4, 12)], []),
        ([1], []),
        ([7, 7], [7]),  # no token before the first n-gram
        ([7, 8, 7, 8, 7], [8]),
    ],
)
def test_a_token_that_makes_an_n_gram_stand_three_times_is_found(row, loops):
    rows, token_ids = looping_tokens(torch.tensor([[1, *range(20, 19 + len(row))], row]))
    assert sorted(token_ids.tolist()) == loops
    assert set(rows.tolist()) <= {1}


def most_repeated(written: list[int]) -> int:
    """How often an n-gram of up to 8 tokens stands in a row at the most."""
    longest = 1
    for n in range(1, 9):
        same = 0
        for here, before in zip(written[n:], written, strict=False):
            same = same + 1 if here == before else 0
            longest = max(longest, 1 + same // n)
    return longest


@pytest.mark.parametrize("width", [1, 3])
def test_a_search_that_ends_loops_writes_nothing_three_times_and_no_more_than_twice_the_source(
    width,
):
    torch.manual_seed(2)
    ours = Transformer(replace(CONFIG, max_length=60))
    with torch.no_grad():
        ours.output_projection.bias[END_ID] = -30.0
        ours.output_projection.bias[5:7] = 4.0  # two tokens that it cannot leave

    def write(end_loops: bool) -> list[list[int]]:
        if width == 1:
            return greedy_search(ours, SOURCE_IDS, end_loops=end_loops)
        found = beam_search(ours, SOURCE_IDS, width=width, end_loops=end_loops)
        return [best.token_ids for best, *_ in found]

    assert max(map(most_repeated, write(False))) > 2
    ended = write(True)
    assert max(map(most_repeated, ended)) == 2
    lengths = ours.source_mask(SOURCE_IDS).flatten(1).sum(dim=1).tolist()
    assert [len(ids) for ids in ended] == [2 * length + 10 for length in lengths]


def test_a_switch_that_is_none_is_refused():
    with pytest.raises(TypeError, match="end_loops must be True or False, got 3"):
        greedy_search(model(), SOURCE_IDS, end_loops=3)
