"""Every probe finds the very fault it was made for, and finds nothing in a right model."""

import pytest
import torch
from torch import Tensor, nn

from transformer_course.breaking.faults import FAULTS
from transformer_course.looking.logit_probes import (
    probe_future,
    probe_order,
    probe_padding,
    probe_rows,
    probe_step_by_step,
)
from transformer_course.looking.probe_result import ProbeResult
from transformer_course.looking.probes import PROBES
from transformer_edu.model.transformer import Transformer, TransformerConfig

SOURCE = torch.tensor([[4, 5, 6, 7, 8], [9, 4, 7, 0, 0], [5, 9, 9, 4, 0]])
TARGET = torch.tensor([[1, 6, 5, 4, 8, 9, 7], [1, 9, 4, 0, 0, 0, 0], [1, 9, 8, 7, 5, 0, 0]])


def built(kind: type[Transformer] = Transformer, **changes: object) -> Transformer:
    torch.manual_seed(0)
    sizes = {"d_model": 16, "num_heads": 2, "num_layers": 2, "d_ff": 24, "dropout": 0.2}
    return kind(TransformerConfig(vocabulary_size=11, max_length=20, **sizes | changes))


def probed(model) -> list[ProbeResult]:
    return [probe(model, SOURCE, TARGET) for probe in PROBES]


def failures(model) -> set[str]:
    return {result.name for result in probed(model) if result.passed is False}


class SeesItWhenTrained(FAULTS["no causal mask"]):
    """A mask that training forgets; FAULTS has one that evaluation forgets."""

    def decode(self, target_ids, memory, **given):
        kind = FAULTS["no causal mask"] if self.training else Transformer
        return kind.decode(self, target_ids, memory, **given)


class PositionsFromTheEnd(nn.Module):
    """Right along the sequence, but they change with every token that is added."""

    def __init__(self, table: Tensor) -> None:
        super().__init__()
        self.register_buffer("table", table)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.table[: x.size(1)].flip(0)


class BatchNormalised(Transformer):
    """Statistics taken over the batch, as they are while training."""

    def __init__(self, config):
        super().__init__(config)
        self.batch_norm = nn.BatchNorm1d(config.d_model)

    def encode(self, source_ids, *, source_mask=None):
        memory = super().encode(source_ids, source_mask=source_mask)
        return self.batch_norm(memory.transpose(1, 2)).transpose(1, 2)


@pytest.mark.parametrize(
    "changes",
    [{}, {"norm_first": True, "bias": True}, {"dropout": 0.0}, {"target_vocabulary_size": 12}],
)
@pytest.mark.parametrize("training", [True, False])
def test_a_right_model_passes_all_probes_in_both_modes(changes, training):
    model = built(**changes).train(training)
    results = probed(model)
    assert [result.passed for result in results] == [True] * 8
    assert [result.name for result in results] == list(dict.fromkeys(r.name for r in results))


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_a_right_model_passes_in_other_precisions(dtype):
    assert not failures(built().to(dtype))


def test_without_a_causal_mask_the_future_shows():
    result = probe_future(built(FAULTS["no causal mask"]), SOURCE, TARGET)
    assert result.passed is False
    assert result.measured > 0.01
    assert "causal mask" in result.sentence
    assert failures(built(FAULTS["no causal mask"])) >= {
        "the future is hidden",
        "step by step equals one pass",
    }


@pytest.mark.parametrize(
    ("kind", "mode"),
    [(FAULTS["causal mask only in training"], "evaluation"), (SeesItWhenTrained, "training")],
)
def test_a_mask_that_one_mode_forgets_is_found_in_that_mode(kind, mode):
    for training in (True, False):
        result = probe_future(built(kind).train(training), SOURCE, TARGET)
        assert result.passed is False
        assert f"In {mode} mode" in result.sentence


def test_a_softmax_over_the_queries_lets_the_future_in():
    found = failures(built(FAULTS["softmax over queries"]))
    assert found >= {"the future is hidden", "attention rows sum to one"}


@pytest.mark.parametrize("fault", ["padding hidden as queries", "source padding visible"])
def test_padding_that_is_not_hidden_from_everybody_is_found(fault):
    result = probe_padding(built(FAULTS[fault]), SOURCE, TARGET)
    assert result.passed is False
    assert "when the source was padded" in result.sentence
    assert failures(built(FAULTS[fault])) == {"padding does not matter"}


def test_padding_of_the_target_is_found_where_no_mask_hides_it():
    class Unmasked(Transformer):
        def decode(self, target_ids, memory, **given):
            everything = torch.ones(1, 1, dtype=torch.bool)
            return super().decode(target_ids, memory, **given | {"target_mask": everything})

    result = probe_padding(built(Unmasked), SOURCE, TARGET)
    assert result.passed is False
    assert "when the target was padded" in result.sentence


def test_without_positions_order_does_not_matter():
    model = built(FAULTS["no positions"])
    result = probe_order(model, SOURCE, TARGET)
    assert result.passed is False
    assert "look at the positions" in result.sentence
    assert failures(model) == {"word order matters"}


def test_positions_along_the_batch_are_found_twice():
    assert failures(built(FAULTS["positions along the batch"])) == {
        "word order matters",
        "rows are independent",
    }


@pytest.mark.parametrize("training", [True, False])
def test_statistics_over_the_batch_are_found_though_only_training_takes_them(training):
    model = built(BatchNormalised, dropout=0.0).train(training)
    before = model.batch_norm.running_mean.clone()
    assert probe_rows(model, SOURCE, TARGET).passed is False
    assert model.batch_norm.running_mean.equal(before)


def test_positions_that_depend_on_the_length_are_found_step_by_step_only():
    model = built()
    encoder_positions, table = model.positions, model.positions.table

    class Both(nn.Module):
        def forward(self, x):
            is_source = x.size(1) == SOURCE.size(1)
            return encoder_positions(x) if is_source else PositionsFromTheEnd(table)(x)

    model.positions = Both()
    assert probe_future(model, SOURCE, TARGET).passed
    result = probe_step_by_step(model, SOURCE, TARGET)
    assert result.passed is False
    assert "position" in result.sentence


def test_a_plain_function_is_probed_as_far_as_that_is_possible():
    model = built().eval()
    results = probed(lambda source, target: model(source, target))
    passed = {result.name: result.passed for result in results}
    assert list(passed.values()).count(True) == 5
    assert [name for name, verdict in passed.items() if verdict is None] == [
        "attention rows sum to one",
        "every weight is registered",
        "tied weights are one tensor",
    ]


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.__name__)
def test_a_probe_leaves_model_sample_and_random_numbers_as_they_were(probe):
    model = built()
    model.decoder.layers[1].eval()
    model(SOURCE, TARGET).sum().backward()
    kept = [(p.detach().clone(), p.grad.clone()) for p in model.parameters()]
    modes = [module.training for module in model.modules()]
    source, target, state = SOURCE.clone(), TARGET.clone(), torch.get_rng_state()
    probe(model, source, target)
    assert [module.training for module in model.modules()] == modes
    for parameter, (value, gradient) in zip(model.parameters(), kept, strict=True):
        assert parameter.equal(value)
        assert parameter.grad.equal(gradient)
    assert source.equal(SOURCE)
    assert target.equal(TARGET)
    assert torch.get_rng_state().equal(state)
    assert torch.is_grad_enabled()


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.__name__)
def test_nonsense_is_refused_by_every_probe(probe):
    with pytest.raises(TypeError, match="model must be callable, got int"):
        probe(3, SOURCE, TARGET)
    with pytest.raises(TypeError, match="source_ids must be a tensor of token ids, got list"):
        probe(built(), SOURCE.tolist(), TARGET)
    with pytest.raises(ValueError, match="target_ids must have at least two rows"):
        probe(built(), SOURCE, TARGET[:, :1])


def test_samples_in_which_nothing_can_be_changed_are_refused():
    model = built()
    with pytest.raises(ValueError, match="target_ids must hold two different tokens, got 1"):
        probe_future(model, SOURCE, torch.full_like(TARGET, 5))
    short = TARGET.clone()
    short[:, 3:] = 0
    with pytest.raises(ValueError, match="target_ids must hold tokens in its second half"):
        probe_future(model, SOURCE, short)
    with pytest.raises(ValueError, match="source_ids must hold two different tokens in a row"):
        probe_order(model, torch.full_like(SOURCE, 5), TARGET)


def test_answers_of_nan_pass_no_probe_that_compares():
    def lost(source_ids, target_ids):
        return torch.full((*target_ids.shape, 11), torch.nan)

    results = probed(lost)
    assert not any(result.passed for result in results)
