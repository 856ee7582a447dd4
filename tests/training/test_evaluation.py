"""An evaluation tells what a model can do, alone too, and leaves it as it was."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.small_model import small_transformer
from transformer_edu.model.special_ids import END_ID, PADDING_ID
from transformer_edu.training.evaluation import evaluate, exact_matches

VOCABULARY = 12
PAIRS = [([4, 5, 6], [6, 5, 4]), ([7, 8], [8, 7]), ([9, 10, 11, 4, 5], [5, 4, 11, 10, 9])]


class Backwards(nn.Module):
    """Reads a source backwards, then ends; token 4 comes out as mistake."""

    def __init__(self, mistake: int = 4, ending: int = END_ID) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1))
        self.mistake, self.ending = mistake, ending

    def forward(self, source_ids: Tensor, target_ids: Tensor) -> Tensor:
        return self.decode(target_ids, source_ids, source_mask=None)

    def source_mask(self, source_ids: Tensor) -> Tensor:
        return (source_ids != PADDING_ID)[:, None, None]

    def encode(self, source_ids: Tensor, *, source_mask: Tensor) -> Tensor:
        return source_ids

    def decode(self, target_ids: Tensor, memory: Tensor, *, source_mask: Tensor | None) -> Tensor:
        rows = [[token for token in row if token != PADDING_ID][::-1] for row in memory.tolist()]
        length = target_ids.size(1)
        written = torch.tensor([(row + [self.ending] * length)[:length] for row in rows])
        written[written == 4] = self.mistake
        return 60.0 * F.one_hot(written, VOCABULARY) * (1 + 0 * self.weight)

    def project(self, decoded: Tensor) -> Tensor:
        return decoded


def test_a_perfect_model_is_found_perfect():
    found = evaluate(Backwards(), PAIRS, step=7)
    assert (found.step, found.token_accuracy, found.exact_match) == (7, 1.0, 1.0)
    assert found.loss == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("kind", [tuple, torch.tensor, np.array])
def test_ids_of_any_kind_are_compared_by_their_numbers(kind):
    pairs = [(kind(source), kind(target)) for source, target in PAIRS]
    assert exact_matches(Backwards(), pairs) == len(PAIRS)
    assert exact_matches(Backwards(mistake=3), pairs) == 1


def test_a_wrong_token_costs_its_whole_target_but_only_itself_in_accuracy():
    found = evaluate(Backwards(mistake=3), PAIRS)
    assert found.token_accuracy == pytest.approx(11 / 13)  # ten tokens and three ends, two wrong
    assert found.exact_match == pytest.approx(1 / 3)


def test_a_model_that_does_not_end_is_wrong_however_right_its_tokens():
    assert evaluate(Backwards(ending=11), PAIRS).exact_match == 0
    assert exact_matches(Backwards(ending=11), PAIRS) == 0


def test_the_tokens_are_those_of_the_models_config():
    model = Backwards(ending=11)
    model.config = SimpleNamespace(end_id=11)
    found = evaluate(model, PAIRS[:2])
    assert (found.token_accuracy, found.exact_match) == (1.0, 1.0)
    other = small_transformer(VOCABULARY, padding_id=3)
    one_by_one, together = (evaluate(other, PAIRS, batch_size=size) for size in (1, 3))
    assert together.loss == pytest.approx(one_by_one.loss, rel=1e-5)


def test_the_result_does_not_depend_on_the_size_of_the_batches():
    model = small_transformer(VOCABULARY)
    results = [evaluate(model, PAIRS, batch_size=size) for size in (1, 2, 3, 100)]
    for result in results[1:]:
        assert result.loss == pytest.approx(results[0].loss, rel=1e-5)
        assert result.token_accuracy == pytest.approx(results[0].token_accuracy)


def test_the_model_is_left_as_it_was():
    model = Backwards().train()
    state = torch.get_rng_state()
    evaluate(model, PAIRS)
    assert model.training
    assert model.weight.grad is None
    assert torch.get_rng_state().equal(state)


@pytest.mark.parametrize(
    ("pairs", "settings", "error", "message"),
    [
        ([], {}, ValueError, "pairs must hold at least one pair, got none"),
        (PAIRS, {"batch_size": 0}, ValueError, "batch_size must be at least 1, got 0"),
        (PAIRS, {"batch_size": 1.5}, TypeError, "batch_size must be a whole number, got 1.5"),
    ],
)
def test_what_cannot_be_evaluated_is_refused(pairs, settings, error, message):
    with pytest.raises(error, match=message):
        evaluate(Backwards(), pairs, **settings)


def test_a_model_that_cannot_write_is_refused():
    with pytest.raises(TypeError, match="model must have the method source_mask, got Linear"):
        evaluate(nn.Linear(2, 2), PAIRS)
