"""The examination passes what is right, and names what is wrong, in a model or a training step."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from transformer_course.breaking.faults import FAULTS
from transformer_course.diagnosis.examination import Findings, examine, examine_step
from transformer_course.diagnosis.faults import STEP_FAULTS, training_step
from transformer_course.looking.probe_result import ProbeResult
from transformer_course.our_transformer import Transformer as OurTransformer
from transformer_edu.model.transformer import Transformer, TransformerConfig

SIZES = {"d_model": 48, "num_heads": 4, "num_layers": 2, "d_ff": 64, "max_length": 32}
FUTURE = ["the future is hidden", "step by step equals one pass", "generation equals one pass"]
LEAK = [FUTURE[0], "padding does not matter", *FUTURE[1:]]
ROWS = {
    "no causal mask": FUTURE,
    "target not shifted": FUTURE,
    "softmax over queries": [*LEAK[:2], "attention rows sum to one", *LEAK[2:]],
    "no positions": ["word order matters"],
    "positions along the batch": ["word order matters", "rows are independent"],
    "no residual": ["the memory's positions differ"],
    "causal mask only in training": FUTURE,
    "source padding visible": ["padding does not matter"],
    "padding hidden as queries": ["padding does not matter"],
    "softmax in the model": ["the answers are logits"],
    "layers in a plain list": ["evaluation is repeatable", "every weight is registered"],
    "tied table copied": ["tied weights are one tensor"],
    "embeddings start too large": ["words do not drown positions"],
    "heads merged by view": LEAK,
    "norm over the positions": LEAK,
    "dropout in evaluation": ["evaluation is repeatable"],
}
STEP_ROWS = {
    "labels as input": "the decoder reads the shifted target",
    "softmax before the loss": "a perfect prediction costs nothing",
    "gradients never cleared": "old gradients are cleared",
    "padding in the loss": "padding teaches nothing",
    "end token not trained": "the end token is trained",
    "training in evaluation mode": "the model is in training mode",
    "accumulated but not divided": "the gradient is that of the mean",
}


def built(kind=Transformer, *, seed=0, **changes) -> Transformer:
    torch.manual_seed(seed)
    return kind(TransformerConfig(vocabulary_size=20, **SIZES | {"dropout": 0.1} | changes))


@pytest.mark.parametrize("changes", [{}, {"norm_first": True}, {"num_layers": 6}, {"dropout": 0.0}])
def test_a_right_model_passes_every_row(changes):
    findings = examine(built(**changes))
    assert findings.failed == []
    assert len(findings) == 13
    assert all(row.passed for row in findings)


def test_a_readers_model_passes_with_dashes_where_a_row_does_not_apply():
    findings = examine(OurTransformer(20, 48, 4, 2, 64))
    assert findings.failed == []
    assert [row.name for row in findings if row.passed is None] == ["attention rows sum to one"]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_found_by_its_rows_with_every_seed(fault, seed):
    assert examine(built(FAULTS[fault], seed=seed)).failed == ROWS[fault]


def test_the_examination_changes_nothing():
    model = built().train()
    before = [weight.clone() for weight in model.parameters()]
    state = torch.get_rng_state()
    examine(model)
    assert model.training
    assert all(map(torch.equal, model.parameters(), before))
    assert torch.get_rng_state().equal(state)
    assert not any(module._forward_hooks for module in model.modules())


def test_a_model_that_raises_fails_the_row_and_not_the_examination():
    class Broken(Transformer):
        def encode(self, source_ids, *, source_mask=None):
            raise RuntimeError("shapes do not fit")

    findings = examine(built(Broken))
    assert "RuntimeError: shapes do not fit" in str(findings)
    assert "Its answers raise an error." in [row.sentence for row in findings]


@torch.no_grad()
def test_weights_that_are_not_numbers_fail_a_row_and_not_the_examination():
    model = built()
    model.output_projection.bias[5] = torch.nan
    found = {row.name: row for row in examine(model)}
    assert "Some logits are NaN" in found["evaluation is repeatable"].sentence
    assert found["the answers are logits"].passed


def test_a_table_of_positions_that_is_added_outside_gets_a_dash():
    class Learned(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.positions = nn.Embedding(9, 8), nn.Embedding(32, 8)

        def forward(self, source_ids, target_ids):
            return self.words(target_ids) + self.positions(torch.arange(target_ids.size(1)))

    (row,) = (row for row in examine(Learned()) if row.name == "words do not drown positions")
    assert row.passed is None


def test_a_table_says_what_a_failure_means():
    rows = [ProbeResult("a", True, 0.0, "fine"), ProbeResult("b", False, 1.0, "look at b")]
    lines = str(Findings([*rows, ProbeResult("c", None, None, "none")])).splitlines()
    assert lines == ["passed  a", "FAILED  b", "        → look at b", "-       c"]


def test_a_sample_can_be_invented_only_for_a_vocabulary():
    with pytest.raises(ValueError, match="no nn.Embedding"):
        examine(nn.Linear(2, 2))
    with pytest.raises(ValueError, match="at least two words, got a vocabulary of 5"):
        examine(Transformer(TransformerConfig(vocabulary_size=5, **SIZES)))


def test_the_right_step_passes_every_row():
    findings = examine_step(training_step)
    assert findings.failed == []
    assert all(row.passed for row in findings)


@pytest.mark.parametrize("fault", STEP_FAULTS)
def test_every_fault_of_a_step_fails_its_own_row(fault):
    assert examine_step(STEP_FAULTS[fault]).failed == [STEP_ROWS[fault]]


def test_a_step_may_clear_its_gradients_last_clip_them_and_return_a_tensor():
    def step(model, batch, optimizer):
        model.train()
        logits = model(batch.source_ids, batch.decoder_input_ids)
        loss = F.cross_entropy(logits.transpose(1, 2), batch.label_ids, ignore_index=0)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        return loss

    assert examine_step(step).failed == []


@pytest.mark.parametrize(
    "loss_of", [F.nll_loss, lambda *given, **more: -F.cross_entropy(*given, **more)]
)
def test_a_step_that_makes_the_model_worse_fails(loss_of):
    def step(model, batch, optimizer):
        model.train()
        optimizer.zero_grad()
        logits = model(batch.source_ids, batch.decoder_input_ids)
        loss = loss_of(logits.flatten(0, 1), batch.label_ids.flatten(), ignore_index=0)
        loss.backward()
        optimizer.step()
        return abs(loss.item()) if loss_of is not F.nll_loss else loss.item()

    assert examine_step(step).failed


def test_a_step_that_does_nothing_or_cannot_run_is_told_so():
    assert "the weights are changed" in examine_step(lambda m, b, o: 0.0).failed
    assert "ZeroDivisionError" in str(examine_step(lambda m, b, o: 1 / 0))
    with pytest.raises(TypeError, match="step must be a function"):
        examine_step(3)
