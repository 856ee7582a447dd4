"""What greedy search, beam search and sampling have in common."""

import pytest
import torch
from torch import Tensor, nn

from tests.generation.test_greedy import SOURCES, VOCABULARY, Copyist, padded, transformer
from transformer_course.pattern_with_torch.pytorch_transformer import PytorchTransformer
from transformer_edu.generation.beam import beam_search
from transformer_edu.generation.greedy import greedy_search
from transformer_edu.generation.sampling import sample
from transformer_edu.model.special_ids import END_ID, PADDING_ID, START_ID
from transformer_edu.model.transformer import TransformerConfig

SEARCHES = [greedy_search, beam_search, sample]

pytestmark = pytest.mark.parametrize("search", SEARCHES)


def written(search, model: nn.Module, source_ids: Tensor, **asked: object) -> list[list[int]]:
    """The ids that a search writes; of a beam's hypotheses the best, of samples those of seed 0."""
    if search is sample:
        return search(model, source_ids, generator=0, **asked)
    found = search(model, source_ids, **asked)
    return found if search is greedy_search else [best.token_ids for (best,) in found]


@pytest.mark.parametrize("end_id", [END_ID, 7])
def test_with_and_without_a_cache_the_same_is_written(search, end_id):
    for seed in range(4):
        model, asked = transformer(seed).double(), {"end_id": end_id, "max_length": 15}
        expected = written(search, model, padded(SOURCES), **asked)
        assert written(search, model, padded(SOURCES), cached=False, **asked) == expected


def test_without_a_maximum_each_row_may_have_fifty_tokens_more_than_its_source(search):
    model = Copyist({4: [5], 9: [5], 10: [5]}, end=8)
    model.project = lambda decoded: decoded * 99  # a sample is the likeliest token too
    lengths = [len(row) for row in written(search, model, padded(SOURCES))]
    assert lengths == [len(source) + 50 for source in SOURCES]


def test_all_positions_of_the_model_may_be_used_and_no_more(search):
    model = transformer(0, max_length=5)
    with torch.no_grad():
        model.output_projection.bias[[9, PADDING_ID, START_ID]] = -1e4
    (row,) = written(search, model, padded([[9, 4]]), end_id=9)  # which is never written
    assert len(row) == 5


def test_modes_gradients_random_numbers_and_sources_are_as_before(search):
    model, source_ids = transformer(0), padded(SOURCES)
    model.decoder.layers[1].eval()
    modes = [module.training for module in model.modules()]
    state, before = torch.get_rng_state(), source_ids.clone()
    first = written(search, model, source_ids, max_length=9)
    assert written(search, model, source_ids, max_length=9) == first  # dropout would change it
    search(model, source_ids, max_length=2)
    assert [module.training for module in model.modules()] == modes
    assert torch.get_rng_state().equal(state)
    assert source_ids.equal(before)
    assert torch.is_grad_enabled()
    assert all(parameter.grad is None for parameter in model.parameters())


def test_the_peer_of_torch_nn_is_searched_too(search):
    torch.manual_seed(0)
    sizes = {"d_model": 12, "num_heads": 2, "num_layers": 2, "d_ff": 20}
    peer = PytorchTransformer(TransformerConfig(vocabulary_size=VOCABULARY, **sizes)).double()
    together = written(search, peer, padded(SOURCES), max_length=8)
    assert written(search, peer, padded(SOURCES[:1]), max_length=8) == together[:1]
    assert peer.training


@pytest.mark.parametrize("value", [torch.nan, torch.inf, -torch.inf])
def test_a_model_that_answers_no_numbers_is_stopped_with_the_step_named(search, value):
    class Confused(Copyist):
        def project(self, decoded: Tensor) -> Tensor:
            return torch.full_like(decoded, value) if len(self.lengths) == 3 else decoded * 99

    message = f"logits must have a finite maximum in every row, got {value} at step 3"
    with pytest.raises(ValueError, match=message):
        search(Confused({4: [5] * 9}), padded([[4, 4]]))


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"source_ids": [[4, 5]]}, TypeError, "source_ids must be a tensor of token ids, got list"),
        ({"source_ids": torch.ones(2, 3)}, TypeError, "source_ids must be of type"),
        ({"source_ids": torch.empty(0, 3, dtype=torch.long)}, ValueError, "with no empty axis"),
        (
            {"source_ids": padded([[4, 5], [PADDING_ID]])},
            ValueError,
            "source_ids must hold a real token in every row, got none in row 1",
        ),
        ({"source_ids": padded([[VOCABULARY]])}, ValueError, "from 0 to 10, got 11"),
        ({"max_length": 0}, ValueError, "max_length must be at least 1, got 0"),
        ({"max_length": 2.5}, TypeError, "max_length must be a whole number, got 2.5"),
        ({"max_length": 65}, ValueError, r"at most 64 \(the model's max_length\), got 65"),
        ({"start_id": PADDING_ID}, ValueError, "three different ids, got 0, 2 and 0"),
        ({"start_id": END_ID}, ValueError, "three different ids, got 2, 2 and 0"),
        ({"end_id": PADDING_ID}, ValueError, "three different ids, got 1, 0 and 0"),
        ({"end_id": "2"}, TypeError, "end_id must be a whole number, got '2'"),
        ({"start_id": -1}, ValueError, "start_id must be at least 0, got -1"),
        ({"end_id": VOCABULARY}, ValueError, "end_id must be at most 10, got 11"),
        ({"cached": 1}, TypeError, "cached must be True or False, got 1"),
        ({"model": nn.Linear(2, 2)}, TypeError, "must have the method source_mask, got Linear"),
        ({"model": abs}, TypeError, "model must be a torch.nn.Module"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(search, changes, error, message):
    given = {"model": transformer(0), "source_ids": padded(SOURCES)} | changes
    with pytest.raises(error, match=message):
        search(given.pop("model"), given.pop("source_ids"), **given)


def test_start_and_end_are_the_ones_of_the_models_config(search):
    asked = {"start_id": 5, "end_id": 7, "max_length": 15}
    for seed in range(4):
        model = transformer(seed).double()
        expected = written(search, model, padded(SOURCES), **asked)
        other = transformer(seed, start_id=5, end_id=7).double()
        other.load_state_dict(model.state_dict())
        assert written(search, other, padded(SOURCES), max_length=15) == expected


def test_a_record_that_nothing_can_take_is_refused(search):
    wrong = "unexpected keyword" if search is sample else "after_step must be a function or None"
    with pytest.raises(TypeError, match=wrong):
        search(transformer(0), padded(SOURCES), after_step=3)
