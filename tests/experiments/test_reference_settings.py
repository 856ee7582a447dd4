"""The settings of the stored runs build what they say, the same every time."""

import torch

from experiments.reference_settings import (
    TASKS,
    ReferenceSettings,
    SmallerProjections,
)
from tests.small_model import same, weights
from transformer_edu.model.transformer import Transformer


def test_stopping_early_changes_no_step_before():
    settings = ReferenceSettings(variant="x", steps=100, warmup_steps=10)
    whole, early = settings.training(1), settings.training(1, stop_after=7)
    assert (whole.steps, early.steps) == (100, 7)
    assert [whole.factor(s) for s in range(1, 8)] == [early.factor(s) for s in range(1, 8)]
    assert whole.factor(10) == 1 > whole.factor(60) > whole.factor(100) > 0


def test_the_seed_decides_the_model_and_nothing_else_does():
    settings = ReferenceSettings(
        variant="x", task_sizes={"train_size": 9, "validation_size": 2, "test_size": 2}
    )
    task = settings.build_task()
    before = torch.get_rng_state()
    first = settings.build_model(task, 1)
    assert torch.get_rng_state().equal(before)
    torch.manual_seed(17)
    again, other = settings.build_model(task, 1), settings.build_model(task, 2)
    assert same(weights(first), weights(again))
    assert not same(weights(first), weights(other))


def test_smaller_projections_start_as_torchs_stacked_ones():
    task = TASKS["copy"](train_size=9)
    settings = ReferenceSettings(variant="x", kind=SmallerProjections)
    small, right = (
        settings.build_model(task, 0),
        ReferenceSettings(variant="y").build_model(task, 0),
    )
    assert isinstance(small, Transformer)
    layer, right_layer = (m.encoder.layers[0].self_attention for m in (small, right))
    limit = (6 / (64 + 3 * 64)) ** 0.5  # Xavier's, of one matrix three times as high
    for name in ("query_projection", "key_projection", "value_projection"):
        assert 0.95 * limit < getattr(layer, name).weight.abs().max().item() <= limit
    assert layer.output_projection.weight.abs().max() > 1.2 * limit
    assert right_layer.query_projection.weight.abs().max() > 1.2 * limit
