"""Each faulty Transformer has its fault, the sizes of the right one, and learns all the same."""

import pytest
import torch

from transformer_edu.model.transformer import Transformer, TransformerConfig
from transformer_edu.teaching.inspect.probes import run_probes
from transformer_edu.training.data.batches import Batch, make_batch
from transformer_edu.training.faults import FAULTS, StandardNormalEmbeddings, TargetNotShifted
from transformer_edu.training.loss import token_loss

CONFIG = TransformerConfig(
    vocabulary_size=12, d_model=16, num_heads=2, num_layers=2, d_ff=24, dropout=0.0, max_length=16
)
# What the probes say of each. None of them sees a missing residual connection.
FAILED_PROBES = {
    "no causal mask": {"the future is hidden", "step by step equals one pass"},
    "target not shifted": {"the future is hidden", "step by step equals one pass"},
    "softmax over queries": {
        "the future is hidden",
        "padding does not matter",
        "attention rows sum to one",
        "step by step equals one pass",
    },
    "no positions": {"word order matters"},
    "positions along the batch": {"word order matters", "rows are independent"},
    "no residual": set(),
}


@pytest.fixture
def batch() -> Batch:
    return make_batch([([4, 5, 6, 7], [7, 6, 5, 4]), ([8, 9], [9, 8]), ([4, 4, 11], [11, 4, 4])])


def build(kind: type[Transformer]) -> Transformer:
    torch.manual_seed(0)
    return kind(CONFIG).eval()


@pytest.mark.parametrize("fault", FAULTS)
def test_the_probes_find_the_fault_that_they_are_for(fault, batch):
    results = run_probes(build(FAULTS[fault]), batch.source_ids, batch.decoder_input_ids)
    failed = {result.name for result in results if result.passed is False}
    assert failed == FAILED_PROBES[fault]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_model_has_the_parameters_of_the_right_one_and_learns(fault, batch):
    model, right = build(FAULTS[fault]), build(Transformer)
    assert model.state_dict().keys() == right.state_dict().keys()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    losses = []
    for _ in range(25):
        loss = token_loss(model(batch.source_ids, batch.decoder_input_ids), batch.label_ids)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.9 * losses[0]


@torch.no_grad()
def test_a_target_that_is_not_shifted_is_read_with_its_end_token(batch):
    unshifted = build(TargetNotShifted)(batch.source_ids, batch.decoder_input_ids)
    by_hand = build(Transformer)(batch.source_ids, batch.label_ids)
    real = batch.label_ids != 0
    torch.testing.assert_close(unshifted[real], by_hand[real])


@torch.no_grad()
def test_without_residual_connections_all_positions_become_alike(batch):
    def spread(fault: type[Transformer]) -> float:
        memory = build(fault).encode(batch.source_ids[:1])[0]
        return (memory - memory.mean(dim=0)).norm().item() / memory.norm().item()

    assert spread(FAULTS["no residual"]) < 0.15 < 0.3 < spread(Transformer)


@pytest.mark.parametrize("tied", [True, False])
def test_standard_normal_embeddings_drown_the_positions(tied, batch):
    torch.manual_seed(0)
    sizes = {"d_model": 64, "num_heads": 2, "num_layers": 1, "d_ff": 8}
    config = TransformerConfig(vocabulary_size=400, tie_embeddings=tied, **sizes)
    model = StandardNormalEmbeddings(config)
    for table in (model.source_embedding.table, model.target_embedding.table):
        assert 0.95 < table.weight.std().item() < 1.05
    assert (model.output_projection.weight is model.target_embedding.table.weight) is tied
