"""Each fault runs without an error and shows its symptom (its illness: test_our_faults.py)."""

import pytest
import torch
import torch.nn.functional as F

from transformer_course.breaking.faults import FAULTS, StandardNormalEmbeddings, TargetNotShifted
from transformer_edu.data.batches import Batch, make_batch
from transformer_edu.model.transformer import Transformer, TransformerConfig
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
    optimizer = torch.optim.Adam(model.train().parameters(), lr=3e-3)
    losses = []
    for _ in range(25):
        logits = model(batch.source_ids, batch.decoder_input_ids).transpose(1, 2)
        losses.append(F.cross_entropy(logits, batch.label_ids, ignore_index=0))
        optimizer.zero_grad()
        losses[-1].backward()
        optimizer.step()
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
