"""Each faulty step or score runs without an error and shows its symptom."""

import pytest
import torch

from tests.small_model import small_transformer, weights
from transformer_course.breaking.faults import TargetNotShifted
from transformer_course.diagnosis.faults import SCORE_FAULTS, STEP_FAULTS, training_step
from transformer_edu.data.batches import make_batch
from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.training.evaluation import exact_matches

PAIRS = [([4, 5, 6, 7], [7, 6, 5, 4]), ([8, 9], [9, 8]), ([4, 4, 11], [11, 4, 4])]


def trained(model: Transformer) -> Transformer:
    """The model after as many right steps as it takes to know PAIRS by heart."""
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(150):
        training_step(model, make_batch(PAIRS), optimizer)
    return model


@pytest.mark.parametrize("fault", STEP_FAULTS)
def test_a_faulty_step_changes_the_weights_in_its_own_way(fault):
    def weights_after(step):
        model = small_transformer(num_layers=2, dropout=0.2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for seed in range(2):
            torch.manual_seed(seed)
            step(model, make_batch(PAIRS), optimizer)
        return torch.cat([weight.flatten() for weight in weights(model)])

    assert not weights_after(STEP_FAULTS[fault]).allclose(weights_after(training_step))


@pytest.fixture(scope="module")
def learned() -> Transformer:
    """A model that knows PAIRS, in training mode: dropout spoils what forgets to switch it off."""
    model = trained(small_transformer(num_layers=2, d_model=32, d_ff=64, dropout=0.0))
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.3
    assert exact_matches(model, PAIRS) == len(PAIRS)
    return model


@pytest.mark.parametrize("fault", SCORE_FAULTS)
def test_a_faulty_score_is_right_about_a_right_model(fault, learned):
    assert SCORE_FAULTS[fault](learned, PAIRS) == 1


def test_zip_calls_a_beginning_correct_and_teacher_forcing_a_leak(learned):
    longer = [(source, [*target, 5]) for source, target in PAIRS]
    assert exact_matches(learned, longer) == 0
    assert SCORE_FAULTS["zip"](learned, longer) == 1
    torch.manual_seed(0)
    sizes = {"d_model": 16, "num_heads": 2, "num_layers": 2, "d_ff": 24}
    leaky = trained(TargetNotShifted(TransformerConfig(vocabulary_size=12, dropout=0.0, **sizes)))
    assert SCORE_FAULTS["teacher forcing"](leaky, PAIRS) == 1 > exact_matches(leaky, PAIRS) / 3
