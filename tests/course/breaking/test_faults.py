"""Each fault runs without an error and shows its symptom (its probes: test_examination.py)."""

import pytest
import torch
import torch.nn.functional as F

from transformer_course.breaking.faults import (
    DECODING_FAULTS,
    FAULTS,
    SCORE_FAULTS,
    STEP_FAULTS,
    StandardNormalEmbeddings,
    TargetNotShifted,
    training_step,
)
from transformer_edu.data.batches import Batch, make_batch
from transformer_edu.generation.greedy import greedy_search
from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.training.evaluation import exact_matches
from transformer_edu.training.loss import token_loss

SIZES = {"d_model": 16, "num_heads": 2, "num_layers": 2, "d_ff": 24, "max_length": 16}
CONFIG = TransformerConfig(vocabulary_size=12, dropout=0.0, **SIZES)
PAIRS = [([4, 5, 6, 7], [7, 6, 5, 4]), ([8, 9], [9, 8]), ([4, 4, 11], [11, 4, 4])]


@pytest.fixture
def batch() -> Batch:
    return make_batch(PAIRS)


def build(kind: type[Transformer], config: TransformerConfig = CONFIG) -> Transformer:
    torch.manual_seed(0)
    return kind(config).eval()


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_model_trains_without_an_error_and_its_loss_falls(fault, batch):
    model = build(FAULTS[fault])
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    losses = [training_step(model, batch, optimizer) for _ in range(25)]
    assert losses[-1] < 0.97 * losses[0]


WEIGHTS_APART = ("layers in a plain list", "tied table copied")


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault not in WEIGHTS_APART])
def test_a_faulty_model_has_the_weights_of_the_right_one(fault):
    assert build(FAULTS[fault]).state_dict().keys() == build(Transformer).state_dict().keys()


def counted(model: Transformer) -> int:
    return sum(weight.numel() for weight in model.parameters())


def test_layers_in_a_list_are_not_counted_and_a_copied_table_is_counted_twice():
    right = counted(build(Transformer))
    assert counted(build(FAULTS["layers in a plain list"])) < right / 10
    assert counted(build(FAULTS["tied table copied"])) == right + 12 * 16


@torch.no_grad()
def test_a_target_that_is_not_shifted_is_read_with_its_end_token(batch):
    unshifted = build(TargetNotShifted)(batch.source_ids, batch.decoder_input_ids)
    by_hand = build(Transformer)(batch.source_ids, batch.label_ids)
    real = batch.label_ids != 0
    torch.testing.assert_close(unshifted[real], by_hand[real])


@torch.no_grad()
def test_a_mask_that_only_training_has_is_right_in_training_mode(batch):
    model = build(FAULTS["causal mask only in training"])
    ids = (batch.source_ids, batch.decoder_input_ids)
    torch.testing.assert_close(model.train()(*ids), build(Transformer)(*ids))
    assert not model.eval()(*ids).allclose(build(Transformer)(*ids))


@torch.no_grad()
def test_without_residual_connections_all_positions_become_alike(batch):
    def spread(fault: type[Transformer]) -> float:
        memory = build(fault).encode(batch.source_ids[:1])[0]
        return (memory - memory.mean(dim=0)).norm().item() / memory.norm().item()

    assert spread(FAULTS["no residual"]) < 0.15 < 0.3 < spread(Transformer)


@pytest.mark.parametrize("tied", [True, False])
def test_standard_normal_embeddings_drown_the_positions(tied):
    sizes = {"d_model": 64, "num_heads": 2, "num_layers": 1, "d_ff": 8}
    config = TransformerConfig(vocabulary_size=400, tie_embeddings=tied, **sizes)
    model = build(StandardNormalEmbeddings, config)
    for table in (model.source_embedding.table, model.target_embedding.table):
        assert 0.95 < table.weight.std().item() < 1.05
    assert (model.output_projection.weight is model.target_embedding.table.weight) is tied


def test_a_softmax_taken_twice_has_a_floor_that_perfect_predictions_do_not_pass(batch):
    perfect = F.one_hot(batch.label_ids, 12).float()  # what a softmax in the model can reach
    floor = torch.log(torch.tensor(torch.e + 11)) - 1
    assert token_loss(perfect, batch.label_ids).item() == pytest.approx(floor.item(), abs=1e-5)


@pytest.mark.parametrize("fault", STEP_FAULTS)
def test_a_faulty_step_changes_the_weights_in_its_own_way(fault, batch):
    def weights_after(step):
        model = build(Transformer, TransformerConfig(vocabulary_size=12, dropout=0.2, **SIZES))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for seed in range(2):
            torch.manual_seed(seed)
            step(model, batch, optimizer)
        return torch.cat([weight.detach().flatten() for weight in model.parameters()])

    assert not weights_after(STEP_FAULTS[fault]).allclose(weights_after(training_step))


@pytest.fixture(scope="module")
def learned() -> Transformer:
    """A model that knows PAIRS by heart, with dropout for those who forget to switch it off."""
    torch.manual_seed(0)
    sizes = SIZES | {"d_model": 32, "d_ff": 64}
    model = Transformer(TransformerConfig(vocabulary_size=12, dropout=0.0, **sizes))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(150):
        training_step(model, make_batch(PAIRS), optimizer)
    model.eval()
    assert exact_matches(model, PAIRS) == len(PAIRS)
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.3
    return model


@pytest.mark.parametrize("fault", DECODING_FAULTS)
def test_faulty_decoding_spoils_what_a_model_has_learned(fault, learned):
    source_ids = make_batch(PAIRS * 20).source_ids
    torch.manual_seed(0)
    written = DECODING_FAULTS[fault](learned, source_ids, 8)
    assert greedy_search(learned, source_ids, max_length=8) == [target for _, target in PAIRS] * 20
    assert written != [target for _, target in PAIRS] * 20
    assert not learned.training


@pytest.mark.parametrize("fault", SCORE_FAULTS)
def test_a_faulty_score_is_right_about_a_right_model(fault, learned):
    assert SCORE_FAULTS[fault](learned, PAIRS) == 1


def test_zip_calls_a_beginning_correct_and_teacher_forcing_a_leak(learned):
    longer = [(source, [*target, 5]) for source, target in PAIRS]
    assert exact_matches(learned, longer) == 0
    assert SCORE_FAULTS["zip"](learned, longer) == 1
    leaky = build(FAULTS["target not shifted"])
    optimizer = torch.optim.Adam(leaky.parameters(), lr=3e-3)
    for _ in range(150):
        training_step(leaky, make_batch(PAIRS), optimizer)
    assert SCORE_FAULTS["teacher forcing"](leaky, PAIRS) == 1 > exact_matches(leaky, PAIRS) / 3
